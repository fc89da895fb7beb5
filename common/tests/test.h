/*
 * Criterion for all tests, with two fixes. In Criterion 2.4 code that calls exit(0) passes, so a
 * TEST passes only with an exit status of its own, set at its end. And all tests have the same time
 * limit, because Criterion loses unequal ones.
 *
 *     TEST(merge, two_empty_blocks_are_empty)
 *     {
 *         cr_assert(…);
 *     }
 */
#ifndef COMMON_TESTS_TEST_H
#define COMMON_TESTS_TEST_H

#include <criterion/criterion.h>
#include <stdlib.h>

enum { TEST_CAME_TO_ITS_END = 113, TEST_SECONDS = 120 };

#define TEST(suite, name)                                                         \
    static void suite##_##name(void);                                             \
    Test(suite, name, .exit_code = TEST_CAME_TO_ITS_END, .timeout = TEST_SECONDS) \
    {                                                                             \
        suite##_##name();                                                         \
        exit(TEST_CAME_TO_ITS_END);                                               \
    }                                                                             \
    static void suite##_##name(void)

#endif
