/*
 * Splits of the keys: how they combine, and the step.
 */
#include "05_flash_tiled_cpu/steps/split_kv.h"
#include "05_flash_tiled_cpu/tests/tiles.h"
#include "common/check/reference.h"
#include "common/cpu/memory.h"
#include "common/tests/test.h"

#include <math.h>

/* Few queries and many keys, which are cut in splits. */
static const struct attention FEW_QUERIES = {
    .B = 2, .H = 2, .Hkv = 2, .Nq = 12, .Nk = 900, .d = 9
};

TEST(split_kv, agrees_with_the_reference_at_every_size)
{
    assert_forward_at_every_size(in_tiles(named("split_kv")));
}

TEST(split_kv, agrees_with_the_reference_under_every_option)
{
    assert_forward_with_options(in_tiles(named("split_kv")), WITH_EVERYTHING);
}

TEST(split_kv, agrees_with_the_reference_in_parts_under_every_option)
{
    assert_random_tiles(named("split_kv"));
    for (uint64_t seed = 1; seed <= 60; seed++) {
        const unsigned options = random_options(seed, WITH_EVERYTHING) | WITH_UNEQUAL_LENGTHS;
        struct test_problem t = random_problem(seed, FEW_QUERIES, options);
        assert_forward(in_tiles(named("split_kv")), &t);
        problem_free(&t);
    }
}

TEST(split_kv, does_not_read_keys_that_no_query_sees)
{
    assert_forward_ignores_unseen_keys(in_tiles(named("split_kv")), WITH_EVERYTHING);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct test_problem t =
            random_problem(seed, FEW_QUERIES, WITH_EVERYTHING & ~WITH_BLOCK_MASK);
        problem_poison_unseen_keys(&t);
        assert_forward(in_tiles(named("split_kv")), &t);
        problem_free(&t);
    }
}

TEST(split_kv, keeps_nan_in_a_key_from_the_queries_that_do_not_see_it)
{
    assert_nan_stays_with_those_who_see_it(named("split_kv"));
}

TEST(split_kv, of_a_query_that_sees_no_key_is_zero_with_lse_minus_infinity)
{
    assert_empty_rows_are_empty(named("split_kv"));
}

TEST(split_kv, gives_scores_of_minus_infinity_no_weight_wherever_they_come)
{
    assert_minus_infinity_weighs_nothing(named("split_kv"));
}

/* All scores far below 0: a part that began with any maximum but -inf would lose them. */
TEST(split_kv, is_right_where_all_scores_are_far_below_zero)
{
    struct test_problem t = problem_of(attention_of(1, 1, 1, 1, 600, 4), 0, 1);
    for (size_t k = 0; k < 4; k++)
        t.Q[k] = 1.0f;
    for (size_t k = 0; k < (size_t)600 * 4; k++)
        t.K[k] -= 60.0f;
    assert_forward(in_tiles(named("split_kv")), &t);
    assert_forward(in_tiles(named("complete")), &t);
    problem_free(&t);
}

// ---- the merge ----------------------------------------------------------------------------------

enum { LEAVES = 24, D = 5 };

/* A part of one key each: what a query has from it alone. */
static void make_leaves(struct split *leaf, const struct test_problem *t)
{
    for (size_t j = 0; j < LEAVES; j++) {
        float x = 0.0f;
        for (size_t k = 0; k < D; k++)
            x += t->Q[k] * t->K[j * D + k];
        leaf[j] = (struct split){ .m = t->p.scale * x, .l = 1.0f };
        for (size_t k = 0; k < D; k++)
            leaf[j].o[k] = t->V[j * D + k];
    }
}

/* Combines two splits drawn at random, until one is left. */
static struct split combine_at_random(const struct split *leaf, uint64_t seed)
{
    struct split rest[LEAVES];
    for (size_t j = 0; j < LEAVES; j++)
        rest[j] = leaf[j];
    for (size_t n = LEAVES; n > 1; n--) {
        const size_t a = random_between(seed, 0, n, 0, n - 1);
        const size_t b = (a + random_between(seed, 1, n, 1, n - 1)) % n;
        split_combine(&rest[a], &rest[b], D);
        rest[b] = rest[n - 1];
    }
    return rest[0];
}

static void assert_whole(const struct split *split, const double *O, double lse, const char *what,
                         uint64_t seed)
{
    const double l = (double)split->l, got = (double)split->m + log(l);
    cr_assert(fabs(got - lse) <= 2e-6, "%s, seed %zu: lse is %.9g, expected %.9g", what,
              (size_t)seed, got, lse);
    for (size_t k = 0; k < D; k++)
        cr_assert(fabs((double)split->o[k] / l - O[k]) <= 2e-6,
                  "%s, seed %zu: o[%zu] is %.9g, expected %.9g", what, (size_t)seed, k,
                  (double)split->o[k] / l, O[k]);
}

TEST(split_combine, gives_the_whole_row_in_any_order_and_any_tree)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct test_problem t = problem_of(attention_of(1, 1, 1, 1, LEAVES, D), 0, seed);
        t.p.scale *= 3.0f;
        struct split leaf[LEAVES], whole = { .m = -INFINITY };
        double O[D], lse;
        reference_forward(&t.p, t.Q, t.K, t.V, O, &lse);
        make_leaves(leaf, &t);
        for (size_t j = 0; j < LEAVES; j++)
            split_combine(&whole, &leaf[j], D);
        assert_whole(&whole, O, lse, "in order", seed);
        whole = combine_at_random(leaf, seed);
        assert_whole(&whole, O, lse, "at random", seed);
        problem_free(&t);
    }
}

TEST(split_combine, with_an_empty_part_changes_nothing)
{
    const struct split split = { .m = -2.5f, .l = 3.0f, .o = { 1, -2, 3, -4, 5 } };
    const struct split empty = { .m = -INFINITY };
    struct split left = empty, right = split, both = empty;
    split_combine(&left, &split, D);
    split_combine(&right, &empty, D);
    split_combine(&both, &empty, D);
    cr_assert(left.m == split.m && left.l == split.l && right.m == split.m && right.l == split.l,
              "m %g and %g, l %g and %g", (double)left.m, (double)right.m, (double)left.l,
              (double)right.l);
    cr_assert(both.m == -INFINITY && both.l == 0.0f, "nothing and nothing: m %g, l %g",
              (double)both.m, (double)both.l);
    for (size_t k = 0; k < D; k++)
        cr_assert(left.o[k] == split.o[k] && right.o[k] == split.o[k] && both.o[k] == 0.0f,
                  "o[%zu] is %g, %g and %g", k, (double)left.o[k], (double)right.o[k],
                  (double)both.o[k]);
}
