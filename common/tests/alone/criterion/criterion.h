/*
 * The part of Criterion that the emulator's tests use, for targets without it (run by qemu). Each
 * test is a process, as there.
 */
#ifndef COMMON_TESTS_ALONE_CRITERION_H
#define COMMON_TESTS_ALONE_CRITERION_H

#include <stdio.h>
#include <stdlib.h>

struct alone_test {
    const char *suite, *name;
    void (*run)(void);
    int exit_code, signal, timeout;
    struct alone_test *next;
};

extern struct alone_test *alone_tests;

#define Test(of_suite, of_name, ...)                                                       \
    static void of_suite##_##of_name##_run(void);                                          \
    __attribute__((constructor)) static void of_suite##_##of_name##_add(void)              \
    {                                                                                      \
        static struct alone_test test = { #of_suite, #of_name, of_suite##_##of_name##_run, \
                                          __VA_ARGS__ };                                   \
        test.next = alone_tests;                                                           \
        alone_tests = &test;                                                               \
    }                                                                                      \
    static void of_suite##_##of_name##_run(void)

#define cr_assert(condition, ...)           \
    do {                                    \
        if (!(condition))                   \
            cr_assert_fail("" __VA_ARGS__); \
    } while (0)

#define cr_assert_fail(...)                             \
    do {                                                \
        fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
        fprintf(stderr, __VA_ARGS__);                   \
        fputc('\n', stderr);                            \
        exit(1);                                        \
    } while (0)

#endif
