/*
 * Parts of the keys: the merge, how many parts there are, and the step.
 */
#include "05_flash_tiled_cpu/steps/split_kv.h"
#include "05_flash_tiled_cpu/tests/tiles.h"
#include "common/check/reference.h"
#include "common/cpu/memory.h"
#include "common/tests/test.h"

#include <math.h>

/* Few queries and many keys, which are cut in parts. */
static const struct attention FEW_QUERIES = {
    .B = 2, .H = 2, .Hkv = 2, .Nq = 12, .Nk = 900, .d = 9
};

TEST(split_kv, agrees_with_the_reference_at_every_size)
{
    assert_forward_at_every_size(in_tiles(SPLIT_KV));
}

TEST(split_kv, agrees_with_the_reference_under_every_option)
{
    assert_forward_with_options(in_tiles(SPLIT_KV), WITH_EVERYTHING);
}

TEST(split_kv, agrees_with_the_reference_in_parts_under_every_option)
{
    assert_random_tiles(SPLIT_KV);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        const unsigned options = random_options(seed, WITH_EVERYTHING) | WITH_UNEQUAL_LENGTHS;
        struct test_problem t = random_problem(seed, FEW_QUERIES, options);
        assert_forward(in_tiles(SPLIT_KV), &t);
        problem_free(&t);
    }
}

TEST(split_kv, does_not_read_keys_that_no_query_sees)
{
    assert_forward_ignores_unseen_keys(in_tiles(SPLIT_KV), WITH_EVERYTHING);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct test_problem t =
            random_problem(seed, FEW_QUERIES, WITH_EVERYTHING & ~WITH_BLOCK_MASK);
        problem_poison_unseen_keys(&t);
        assert_forward(in_tiles(SPLIT_KV), &t);
        problem_free(&t);
    }
}

TEST(split_kv, keeps_nan_in_a_key_from_the_queries_that_do_not_see_it)
{
    assert_nan_stays_with_those_who_see_it(SPLIT_KV);
}

TEST(split_kv, of_a_query_that_sees_no_key_is_zero_with_lse_minus_infinity)
{
    assert_empty_rows_are_empty(SPLIT_KV);
}

TEST(split_kv, gives_scores_of_minus_infinity_no_weight_wherever_they_come)
{
    assert_minus_infinity_weighs_nothing(SPLIT_KV);
}

/* All scores far below 0: a part that began with any maximum but -inf would lose them. */
TEST(split_kv, is_right_where_all_scores_are_far_below_zero)
{
    struct test_problem t = problem_of(attention_of(1, 1, 1, 1, 300, 4), 0, 1);
    for (size_t k = 0; k < 4; k++)
        t.Q[k] = 1.0f;
    for (size_t k = 0; k < (size_t)300 * 4; k++)
        t.K[k] -= 60.0f;
    assert_forward(in_tiles(SPLIT_KV), &t);
    assert_forward(in_tiles(COMPLETE), &t);
    problem_free(&t);
}

// ---- how many -----------------------------------------------------------------------------------

TEST(split_parts, are_as_many_as_give_16_threads_work_and_none_is_short)
{
    const struct {
        size_t B, H, Nq, Nk, parts;
    } cases[] = {
        { 1, 1, 1, 4096, 16 },   { 1, 1, 64, 4096, 16 }, { 1, 1, 65, 4096, 8 },
        { 1, 2, 1, 4096, 8 },    { 3, 1, 1, 4096, 6 },   { 2, 3, 100, 4096, 2 },
        { 2, 8, 1, 4096, 1 },    { 4, 8, 1, 100000, 1 }, { 1, 1, 2048, 2048, 1 },
        { 1, 1, 1024, 1024, 1 }, { 1, 1, 960, 960, 2 },  { 1, 1, 1, 1, 1 },
        { 1, 1, 1, 127, 1 },     { 1, 1, 1, 128, 1 },    { 1, 1, 1, 129, 1 },
        { 1, 1, 1, 255, 1 },     { 1, 1, 1, 256, 2 },    { 1, 1, 1, 700, 5 },
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        const struct attention p =
            attention_of(cases[n].B, cases[n].H, 1, cases[n].Nq, cases[n].Nk, 8);
        cr_assert(split_parts(&p) == cases[n].parts, "case %zu: %zu parts, expected %zu", n,
                  split_parts(&p), cases[n].parts);
    }
}

TEST(split_parts, follow_one_another_from_the_first_key_to_the_last_and_none_is_shorter_than_128)
{
    for (size_t Nk = 1; Nk <= 3000; Nk++) {
        const struct attention p = attention_of(1, 1, 1, 1, Nk, 1);
        const struct parts parts = { .count = split_parts(&p) };
        cr_assert(parts_begin(&parts, &p, 0) == 0 && parts_begin(&parts, &p, parts.count) == Nk,
                  "%zu keys: the parts are not all of them", Nk);
        for (size_t s = 0; s < parts.count; s++) {
            const size_t begin = parts_begin(&parts, &p, s), end = parts_begin(&parts, &p, s + 1);
            cr_assert(begin < end && (end - begin >= 128 || parts.count == 1),
                      "%zu keys: part %zu is from %zu to %zu", Nk, s, begin, end);
        }
    }
}

/* Masks and dropout are not the shape. */
TEST(split_parts, depend_on_the_shape_alone)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct test_problem t = random_problem(seed, FEW_QUERIES, WITH_EVERYTHING);
        const struct attention plain = attention_of(t.p.B, t.p.H, 1, t.p.Nq, t.p.Nk, t.p.d);
        cr_assert(split_parts(&t.p) == split_parts(&plain), "%s: %zu parts, without options %zu",
                  problem_text(&t), split_parts(&t.p), split_parts(&plain));
        problem_free(&t);
    }
}

// ---- the merge ----------------------------------------------------------------------------------

enum { LEAVES = 24, D = 5 };

/* A part of one key each: what a query has from it alone. */
static void make_leaves(struct part *leaf, const struct test_problem *t)
{
    for (size_t j = 0; j < LEAVES; j++) {
        float x = 0.0f;
        for (size_t k = 0; k < D; k++)
            x += t->Q[k] * t->K[j * D + k];
        leaf[j] = (struct part){ .m = t->p.scale * x, .l = 1.0f };
        for (size_t k = 0; k < D; k++)
            leaf[j].o[k] = t->V[j * D + k];
    }
}

/* Joins two parts drawn at random, until one is left. */
static struct part join_at_random(const struct part *leaf, uint64_t seed)
{
    struct part rest[LEAVES];
    for (size_t j = 0; j < LEAVES; j++)
        rest[j] = leaf[j];
    for (size_t n = LEAVES; n > 1; n--) {
        const size_t a = random_between(seed, 0, n, 0, n - 1);
        const size_t b = (a + random_between(seed, 1, n, 1, n - 1)) % n;
        part_join(&rest[a], &rest[b], D);
        rest[b] = rest[n - 1];
    }
    return rest[0];
}

static void assert_whole(const struct part *part, const double *O, double lse, const char *what,
                         uint64_t seed)
{
    const double l = (double)part->l, got = (double)part->m + log(l);
    cr_assert(fabs(got - lse) <= 2e-6, "%s, seed %zu: lse is %.9g, expected %.9g", what,
              (size_t)seed, got, lse);
    for (size_t k = 0; k < D; k++)
        cr_assert(fabs((double)part->o[k] / l - O[k]) <= 2e-6,
                  "%s, seed %zu: o[%zu] is %.9g, expected %.9g", what, (size_t)seed, k,
                  (double)part->o[k] / l, O[k]);
}

TEST(part_join, gives_the_whole_row_in_any_order_and_any_tree)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct test_problem t = problem_of(attention_of(1, 1, 1, 1, LEAVES, D), 0, seed);
        t.p.scale *= 3.0f;
        struct part leaf[LEAVES], whole = { .m = -INFINITY };
        double O[D], lse;
        reference_forward(&t.p, t.Q, t.K, t.V, O, &lse);
        make_leaves(leaf, &t);
        for (size_t j = 0; j < LEAVES; j++)
            part_join(&whole, &leaf[j], D);
        assert_whole(&whole, O, lse, "in order", seed);
        whole = join_at_random(leaf, seed);
        assert_whole(&whole, O, lse, "at random", seed);
        problem_free(&t);
    }
}

TEST(part_join, with_an_empty_part_changes_nothing)
{
    const struct part part = { .m = -2.5f, .l = 3.0f, .o = { 1, -2, 3, -4, 5 } };
    const struct part empty = { .m = -INFINITY };
    struct part left = empty, right = part, both = empty;
    part_join(&left, &part, D);
    part_join(&right, &empty, D);
    part_join(&both, &empty, D);
    cr_assert(left.m == part.m && left.l == part.l && right.m == part.m && right.l == part.l,
              "m %g and %g, l %g and %g", (double)left.m, (double)right.m, (double)left.l,
              (double)right.l);
    cr_assert(both.m == -INFINITY && both.l == 0.0f, "nothing and nothing: m %g, l %g",
              (double)both.m, (double)both.l);
    for (size_t k = 0; k < D; k++)
        cr_assert(left.o[k] == part.o[k] && right.o[k] == part.o[k] && both.o[k] == 0.0f,
                  "o[%zu] is %g, %g and %g", k, (double)left.o[k], (double)right.o[k],
                  (double)both.o[k]);
}
