/*
 * What every test file includes: Criterion, with its traps closed.
 *
 * Code under test that calls exit(0) counts as a pass in Criterion 2.4. A TEST therefore passes
 * only if its process leaves with a status of its own, which nothing but the end of the test gives.
 * Every test has the same time limit, because Criterion loses unequal ones.
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
