#include "common/check/output.h"

#include "common/cpu/memory.h"
#include "common/tests/test.h"

#include <math.h>
#include <string.h>

enum { N = 4 };
static const struct exact right[N] = {
    { 1.0, 0.01, 0.0 }, { -2.0, 0.01, 0.0 }, { 0.5, 0.01, 0.0 }, { 0.0, 0.01, 0.0 }
};

static struct difference with(float x)
{
    const float got[N] = { 1.0f, -2.0f, x, 0.0f };
    return difference_between(got, right, 1, N);
}

static struct difference of_one(float x, double value)
{
    return difference_between(&x, &(struct exact){ value, 1e9, 1e9 }, 1, 1);
}

TEST(tolerance, of_a_right_result_is_zero)
{
    const struct difference d = with(0.5f);
    cr_assert(d.max_abs == 0.0 && d.explained == 0.0 && d.mismatch == MATCHED && d.mismatched == 0,
              "max %g, explained %g, %zu mismatched", d.max_abs, d.explained, d.mismatched);
    cr_assert(is_explained(d), "a perfect result was rejected");
}

TEST(tolerance, measures_errors_and_says_where)
{
    const struct difference d = with(0.75f);
    cr_assert(d.max_abs == 0.25 && d.worst == 2 && d.got == 0.75 && d.expected == 0.5,
              "max %g at %zu: got %g, expected %g", d.max_abs, d.worst, d.got, d.expected);
    cr_assert(d.extent == OF_ELEMENT && d.farthest == 2 && fabs(d.explained - 2.5) < 1e-9,
              "explained %g", d.explained);
}

TEST(tolerance, of_an_element_is_ten_sigma_and_its_bias)
{
    const struct exact element = { 1.0, 0x1p-10, 0x1p-8 };
    const float at_most = 1.0f + 0x1p-8f + 10 * 0x1p-10f;
    cr_assert(is_explained(difference_between(&at_most, &element, 1, 1)), "just allowed");
    cr_assert(!is_explained(difference_between((float[]){ at_most + 0x1p-20f }, &element, 1, 1)),
              "just too much");
    cr_assert(!is_explained(difference_between((float[]){ 1.0f },
                                               &(struct exact){ 2.0, (double)NAN, 0.0 }, 1, 1)),
              "a sigma of NaN let an error pass");
    cr_assert(!is_explained(
                  difference_between((float[]){ 1.0f }, &(struct exact){ 2.0, 0.0, 0.0 }, 1, 1)),
              "no rounding at all let an error pass");
}

/* `rows` rows of `cols`, with error z from `from_row` on, or in one column. */
static struct difference off_by(double z, size_t rows, size_t cols, size_t from_row,
                                size_t from_col)
{
    enum { MOST = 64 * 64 };
    static float got[MOST];
    static struct exact expected[MOST];
    for (size_t k = 0; k < rows * cols; k++) {
        const double value = (double)k / 64.0,
                     error = k / cols >= from_row && k % cols >= from_col ? z * 0x1p-10 : 0.0;
        expected[k] = (struct exact){ value, 0x1p-10, 0.0 };
        got[k] = (float)(value + error);
    }
    return difference_between(got, expected, rows, cols);
}

TEST(tolerance, of_a_row_a_column_and_a_head_is_less_than_of_an_element)
{
    const double most[] = {
        [OF_ROW] = 3.0 + 7.0 / 8.0, [OF_COLUMN] = 4.0 + 6.0 / 8.0, [OF_HEAD] = 2.0 + 8.0 / 64.0
    };
    const size_t from[][2] = {
        [OF_ROW] = { 63, 0 }, [OF_COLUMN] = { 0, 63 }, [OF_HEAD] = { 0, 0 }
    };
    for (enum extent e = OF_ROW; e <= OF_HEAD; e++) {
        const struct difference d = off_by(0.98 * most[e], 64, 64, from[e][0], from[e][1]);
        const struct difference more = off_by(1.02 * most[e], 64, 64, from[e][0], from[e][1]);
        cr_assert(is_explained(d), "%d: explained %g", (int)e, d.explained);
        cr_assert(!is_explained(more) && more.extent == e, "%d: explained %g, of %d", (int)e,
                  more.explained, (int)more.extent);
    }
}

/* Equal queries round alike: many are no more certain than one. */
TEST(tolerance, of_equal_rows_is_that_of_one)
{
    float got[64];
    struct exact expected[64];
    for (size_t k = 0; k < 64; k++) {
        expected[k] = (struct exact){ 1.0, 0x1p-10, 0.0 };
        got[k] = 1.0f + 6 * 0x1p-10f;
    }
    cr_assert(is_explained(difference_between(got, expected, 64, 1)), "64 times the same row");
    for (size_t k = 0; k < 64; k++) {
        expected[k].value += (double)k;
        got[k] += (float)k;
    }
    cr_assert(!is_explained(difference_between(got, expected, 64, 1)), "64 different rows");
}

TEST(tolerance, rejects_nan_however_generous)
{
    const struct difference d = with(NAN);
    cr_assert(!is_explained(d) && d.mismatch == NOT_A_NUMBER && d.worst == 2, "NaN passed");
    cr_assert(!is_explained(of_one(NAN, 1.0)), "NaN passed");
}

TEST(tolerance, rejects_infinities_that_do_not_match)
{
    const double infinite = (double)INFINITY;
    cr_assert(!is_explained(of_one(INFINITY, 1.0)), "+inf passed");
    cr_assert(with(-INFINITY).mismatch == INFINITE && !is_explained(with(-INFINITY)),
              "-inf passed");
    cr_assert(is_explained(of_one(INFINITY, infinite)),
              "the infinity that was expected was rejected");
    cr_assert(!is_explained(of_one(-INFINITY, infinite)), "the wrong infinity passed");
    cr_assert(!is_explained(of_one(3e38f, infinite)),
              "a number passed where an infinity was expected");
}

TEST(tolerance, takes_nan_where_nan_is_right)
{
    cr_assert(is_explained(of_one(NAN, (double)NAN)), "NaN was rejected");
    cr_assert(!is_explained(of_one(1.0f, (double)NAN)), "a number passed where NaN was expected");
}

TEST(tolerance, rejects_elements_never_written_even_where_nan_is_right)
{
    float got[1];
    poison_fill(got, 1);
    const struct difference d = of_one(got[0], (double)NAN);
    cr_assert(!is_explained(d) && d.mismatch == NEVER_WRITTEN, "the poison passed for NaN");
    cr_assert(isnan(got[0] + 1.0f), "the poison is not NaN: %g", (double)got[0]);
}

TEST(tolerance, says_where_the_first_mismatch_is_and_how_many_there_are)
{
    const float got[N] = { 9.0f, NAN, INFINITY, 0.0f };
    const struct difference d = difference_between(got, right, 1, N);
    cr_assert(d.worst == 1 && d.mismatch == NOT_A_NUMBER && d.mismatched == 2, "at %zu, %zu in all",
              d.worst, d.mismatched);
    cr_assert(d.max_abs == 8.0, "the largest error among the rest is %g, expected 8", d.max_abs);
}

TEST(tolerance, finds_the_worst_at_either_end)
{
    float got[N] = { 1.5f, -2.0f, 0.5f, 0.0f };
    cr_assert(difference_between(got, right, 1, N).worst == 0, "not found at the beginning");
    got[0] = 1.0f;
    got[N - 1] = 0.5f;
    cr_assert(difference_between(got, right, 1, N).worst == N - 1, "not found at the end");
}

/* The largest error need not be the largest relative to its sigma. */
TEST(tolerance, judges_each_element_by_what_rounding_does_to_it)
{
    const struct exact two[2] = { { 1e6, 0.1, 0.0 }, { 1.0, 1e-7, 0.0 } };
    const struct difference d = difference_between((float[]){ 1e6f + 0.25f, 1.00001f }, two, 1, 2);
    cr_assert(d.worst == 0 && d.farthest == 1 && !is_explained(d), "worst %zu, farthest %zu",
              d.worst, d.farthest);
}

TEST(tolerance, of_several_heads_is_that_of_the_worst)
{
    float got[3 * N];
    struct exact expected[3 * N];
    for (size_t k = 0; k < (size_t)3 * N; k++) {
        expected[k] = right[k % N];
        got[k] = (float)right[k % N].value;
    }
    got[1] += 0.05f;
    got[2 * N + 2] += 0.02f;
    struct difference d = difference_between_heads(got, expected, 3, 1, N);
    cr_assert(is_explained(d) && d.worst == 1, "worst at %zu", d.worst);
    got[2 * N + 2] = NAN;
    d = difference_between_heads(got, expected, 3, 1, N);
    cr_assert(!is_explained(d) && d.worst == 2 * N + 2, "NaN in the last head: at %zu", d.worst);
}

TEST(place, is_the_coordinates_of_an_element)
{
    const size_t shape[4] = { 2, 3, 5, 7 };
    char text[40];
    cr_assert(
        strcmp(coordinates_of(2 * 35 + 4 * 7 + 6, 4, shape, text, sizeof text), "0, 2, 4, 6") == 0,
        "got %s", text);
    cr_assert(strcmp(coordinates_of(105, 4, shape, text, sizeof text), "1, 0, 0, 0") == 0, "got %s",
              text);
    cr_assert(strcmp(coordinates_of(5, 2, shape, text, sizeof text), "1, 2") == 0, "got %s", text);
    cr_assert(strlen(coordinates_of(209, 4, shape, text, 4)) < 4, "wrote beyond the room it has");
}
