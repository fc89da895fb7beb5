/*
 * Merging is a monoid: any way to cut and merge a row gives the whole row.
 */
#include "03_online_softmax/softmax_state.h"

#include "03_online_softmax/online_softmax.h"
#include "common/problem/random.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdbool.h>

enum { SEED = 7 };

/* Equal m, and l equal to `ulps` roundings. */
static bool same(struct softmax_state a, struct softmax_state b, float ulps)
{
    return a.m == b.m && fabsf(a.l - b.l) <= ulps * 0x1p-23f * fmaxf(a.l, b.l);
}

/* The state of 0 to 40 random scores. */
static struct softmax_state random_state(uint64_t k)
{
    float x[40];
    const size_t n = random_between(SEED, 0, k, 0, 40);
    for (size_t j = 0; j < n; j++)
        x[j] = 10.0f * (float)random_normal(SEED, 1, 64 * k + j);
    return online_statistics(x, n);
}

TEST(online_statistics, of_a_block_give_the_worked_numbers)
{
    const struct softmax_state a = online_statistics((const float[]){ 1, 3 }, 2);
    const struct softmax_state b = online_statistics((const float[]){ 3, 2 }, 2);
    cr_assert(a.m == 3.0f && fabsf(a.l - 1.13534f) <= 1e-5f,
              "[1 3]: m %g, l %.6g, expected 3, 1.13534", (double)a.m, (double)a.l);
    cr_assert(b.m == 3.0f && fabsf(b.l - 1.36788f) <= 1e-5f,
              "[3 2]: m %g, l %.6g, expected 3, 1.36788", (double)b.m, (double)b.l);
}

TEST(merge, of_three_blocks_gives_the_worked_numbers)
{
    static const float blocks[3][2] = { { 1, 3 }, { 2, 4 }, { 3, 2 } };
    struct softmax_state row = SOFTMAX_EMPTY;
    for (size_t k = 0; k < 3; k++)
        row = softmax_merge(row, online_statistics(blocks[k], 2));
    // e^-3 + e^-1 + e^-2 + e^0 + e^-1 + e^-2
    cr_assert(row.m == 4.0f && fabsf(row.l - 2.05622f) <= 1e-5f,
              "m %g, l %.6g, expected 4, 2.05622", (double)row.m, (double)row.l);
}

TEST(merge, with_the_empty_block_changes_nothing)
{
    for (uint64_t k = 0; k < 200; k++) {
        const struct softmax_state a = random_state(k);
        const struct softmax_state left = softmax_merge(SOFTMAX_EMPTY, a);
        const struct softmax_state right = softmax_merge(a, SOFTMAX_EMPTY);
        cr_assert(left.m == a.m && left.l == a.l && right.m == a.m && right.l == a.l,
                  "(%g, %g) became (%g, %g) and (%g, %g)", (double)a.m, (double)a.l, (double)left.m,
                  (double)left.l, (double)right.m, (double)right.l);
    }
}

TEST(merge, of_two_empty_blocks_is_empty)
{
    const struct softmax_state none = softmax_merge(SOFTMAX_EMPTY, SOFTMAX_EMPTY);
    cr_assert(none.m == -INFINITY && none.l == 0.0f, "got (%g, %g), expected (-inf, 0)",
              (double)none.m, (double)none.l);
}

TEST(merge, of_masked_scores_is_empty)
{
    const struct softmax_state none = online_statistics((const float[]){ -INFINITY, -INFINITY }, 2);
    cr_assert(none.m == -INFINITY && none.l == 0.0f, "got (%g, %g), expected (-inf, 0)",
              (double)none.m, (double)none.l);
}

TEST(merge, is_commutative)
{
    for (uint64_t k = 0; k < 1000; k++) {
        const struct softmax_state a = random_state(2 * k), b = random_state(2 * k + 1);
        const struct softmax_state ab = softmax_merge(a, b), ba = softmax_merge(b, a);
        cr_assert(same(ab, ba, 0), "a b gives (%g, %.9g), b a gives (%g, %.9g)", (double)ab.m,
                  (double)ab.l, (double)ba.m, (double)ba.l);
    }
}

TEST(merge, is_associative)
{
    for (uint64_t k = 0; k < 1000; k++) {
        const struct softmax_state a = random_state(3 * k), b = random_state(3 * k + 1),
                                   c = random_state(3 * k + 2);
        const struct softmax_state left = softmax_merge(softmax_merge(a, b), c);
        const struct softmax_state right = softmax_merge(a, softmax_merge(b, c));
        cr_assert(same(left, right, 8), "(a b) c gives (%g, %.9g), a (b c) gives (%g, %.9g)",
                  (double)left.m, (double)left.l, (double)right.m, (double)right.l);
    }
}

/* Merges the blocks first … last-1 by a random tree. */
static struct softmax_state tree(const struct softmax_state *blocks, size_t first, size_t last,
                                 uint64_t seed)
{
    if (last - first == 1)
        return blocks[first];
    const size_t middle = random_between(seed, 4, first * 1000 + last, first + 1, last - 1);
    return softmax_merge(tree(blocks, first, middle, seed), tree(blocks, middle, last, seed));
}

TEST(merge, by_any_cuts_and_any_tree_gives_the_whole_row)
{
    enum { N = 1000, BLOCKS = 50 };
    static float x[N];
    random_normals(x, N, SEED, 2);
    for (size_t j = 0; j < N; j++)
        x[j] = j % 9 == 4 ? -INFINITY : 20.0f * x[j];
    double m = (double)-INFINITY, l = 0.0;
    for (size_t j = 0; j < N; j++)
        m = fmax(m, (double)x[j]);
    for (size_t j = 0; j < N; j++)
        l += exp((double)x[j] - m);

    for (uint64_t seed = 0; seed < 300; seed++) {
        struct softmax_state blocks[BLOCKS + 1];
        size_t count = 0;
        for (size_t from = 0; from < N && count <= BLOCKS; count++) {
            const size_t to = count == BLOCKS ? N : from + random_between(seed, 3, from, 0, 60);
            blocks[count] = online_statistics(x + from, (to < N ? to : N) - from);
            from = to;
        }
        const struct softmax_state row = tree(blocks, 0, count, seed);
        cr_assert((double)row.m == m && fabs((double)row.l - l) <= 1e-5 * l,
                  "seed %llu, %zu blocks: got (%.9g, %.9g), expected (%.9g, %.9g)",
                  (unsigned long long)seed, count, (double)row.m, (double)row.l, m, l);
    }
}

TEST(merge, keeps_nan_and_infinity_visible)
{
    const float bad[] = { NAN, INFINITY };
    for (size_t k = 0; k < 2; k++) {
        const struct softmax_state row = softmax_merge(
            online_statistics(&bad[k], 1), online_statistics((const float[]){ 1, 2 }, 2));
        cr_assert(isnan(row.l), "with %g in a block, l became %g, expected NaN", (double)bad[k],
                  (double)row.l);
    }
}

TEST(share, makes_of_1_2_and_3_4_the_softmax_of_1_2_3_4)
{
    const float x[4] = { 1, 2, 3, 4 };
    const struct softmax_state left = online_statistics(x, 2), right = online_statistics(x + 2, 2);
    const struct softmax_state row = softmax_merge(left, right);
    float whole[4], blocks[4];
    online_softmax(x, whole, 4);
    online_softmax(x, blocks, 2);
    online_softmax(x + 2, blocks + 2, 2);
    for (size_t j = 0; j < 4; j++) {
        const float merged = blocks[j] * softmax_share(j < 2 ? left : right, row);
        cr_assert(fabsf(merged - whole[j]) <= 1e-7f, "column %zu: %.8g from blocks, %.8g whole", j,
                  (double)merged, (double)whole[j]);
    }
}

TEST(share, carries_values_along)
{
    const float s[4] = { 0.1f, 0.3f, 0.5f, 0.7f };
    const struct softmax_state a = online_statistics(s, 2), b = online_statistics(s + 2, 2);
    const struct softmax_state row = softmax_merge(a, b);
    const float merged = 7.5498f * softmax_share(a, row) + 9.5498f * softmax_share(b, row);
    cr_assert(fabsf(a.l - 1.8187f) <= 1e-4f && fabsf(b.l - 1.8187f) <= 1e-4f,
              "l of the blocks: %g and %g, expected 1.8187 both", (double)a.l, (double)b.l);
    cr_assert(fabsf(merged - 8.7472f) <= 1e-4f, "got %.6g, expected 8.7472", (double)merged);
}

TEST(share, of_nan_or_infinity_is_nan)
{
    const struct softmax_state row = { 1.0f, 2.0f }, nan = { 1.0f, NAN };
    const struct softmax_state infinite = online_statistics((const float[]){ INFINITY }, 1);
    cr_assert(isnan(softmax_share(nan, row)) && isnan(softmax_share(row, nan)) &&
                  isnan(softmax_share(infinite, infinite)),
              "got %g, %g and %g", (double)softmax_share(nan, row), (double)softmax_share(row, nan),
              (double)softmax_share(infinite, infinite));
}

TEST(share, of_nothing_in_nothing_is_zero)
{
    const float share = softmax_share(SOFTMAX_EMPTY, SOFTMAX_EMPTY);
    cr_assert(share == 0.0f, "got %g, expected 0", (double)share);
}

TEST(share, of_parts_adds_up_to_one_and_of_nothing_is_zero)
{
    for (uint64_t k = 0; k < 200; k++) {
        const struct softmax_state a = random_state(2 * k), b = random_state(2 * k + 1);
        const struct softmax_state row = softmax_merge(a, b);
        const float sum = softmax_share(a, row) + softmax_share(b, row);
        const float right = row.l == 0.0f ? 0.0f : 1.0f;
        cr_assert(fabsf(sum - right) <= 4e-7f, "shares of (%g, %g) and (%g, %g) add up to %.9g",
                  (double)a.m, (double)a.l, (double)b.m, (double)b.l, (double)sum);
    }
}
