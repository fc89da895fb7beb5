/*
 * The complete step: all options together, the real input, and the same bits from any number of
 * threads.
 */
#include "05_flash_tiled_cpu/tests/tiles.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/tests/test.h"

#include <math.h>
#include <string.h>

/* Few queries and many keys, which are cut in splits. */
static const struct attention FEW_QUERIES = {
    .B = 2, .H = 2, .Hkv = 2, .Nq = 12, .Nk = 900, .d = 9
};

TEST(complete, agrees_with_the_reference_at_every_size)
{
    assert_forward_at_every_size(in_tiles(named("complete")));
}

TEST(complete, agrees_with_the_reference_under_every_option)
{
    assert_forward_with_options(in_tiles(named("complete")), WITH_EVERYTHING);
}

TEST(complete, agrees_with_the_reference_under_every_two_options)
{
    for (unsigned one = 1; one < WITH_EVERYTHING; one *= 2)
        for (unsigned two = 2 * one; two < WITH_EVERYTHING; two *= 2)
            for (uint64_t seed = 1; seed <= 4; seed++) {
                struct test_problem t =
                    random_problem(seed, attention_of(2, 4, 4, 60, 60, 16), one | two);
                assert_forward(in_tiles(named("complete")), &t);
                problem_free(&t);
            }
}

TEST(complete, agrees_with_the_reference_in_random_tiles_and_in_parts)
{
    assert_random_tiles(named("complete"));
    for (uint64_t seed = 1; seed <= 40; seed++) {
        const unsigned options = random_options(seed, WITH_EVERYTHING) | WITH_UNEQUAL_LENGTHS;
        struct test_problem t = random_problem(seed, FEW_QUERIES, options);
        assert_forward(in_tiles(named("complete")), &t);
        problem_free(&t);
    }
}

TEST(complete, does_not_read_keys_that_no_query_sees)
{
    assert_forward_ignores_unseen_keys(in_tiles(named("complete")),
                                       WITH_KEY_MASK | WITH_GROUPED_HEADS);
    assert_forward_ignores_unseen_keys(in_tiles(named("complete")), WITH_EVERYTHING);
}

TEST(complete, of_a_query_that_sees_no_key_is_zero_with_lse_minus_infinity)
{
    assert_empty_rows_are_empty(named("complete"));
}

TEST(complete, gives_scores_of_minus_infinity_no_weight_wherever_they_come)
{
    assert_minus_infinity_weighs_nothing(named("complete"));
}

// ---- threads ------------------------------------------------------------------------------------

/* The same bytes for 1, 2, 3 and 5 threads, and for each of them again. */
static void assert_same_bits(const struct test_problem *t, struct tile_size size)
{
    static const size_t threads[] = { 1, 2, 3, 5, 2, 1, 3, 5 };
    const size_t n = attention_query_elements(&t->p), rows = attention_rows(&t->p);
    float *O = allocate(n, sizeof *O, "O"), *lse = allocate(rows, sizeof *lse, "lse");
    float *first = allocate(n, sizeof *O, "O"), *first_lse = allocate(rows, sizeof *lse, "lse");
    for (size_t k = 0; k < sizeof threads / sizeof threads[0]; k++) {
        poison_fill(O, n);
        poison_fill(lse, rows);
        threads_use(threads[k]);
        complete(&t->p, size, problem_tensors(t, k ? O : first, k ? lse : first_lse));
        cr_assert(
            k == 0 || (memcmp(O, first, n * sizeof *O) == 0 &&
                       memcmp(lse, first_lse, rows * sizeof *lse) == 0),
            "%s --br %zu --bc %zu: run %zu, with %zu threads, differs from the first, with one",
            problem_text(t), size.Br, size.Bc, k, threads[k]);
    }
    free(O);
    free(lse);
    free(first);
    free(first_lse);
}

/*
 * Dropout drops the key with all the weight; whether the others' weights vanish depends on the
 * tiles. Both are right.
 */
TEST(complete, may_lose_weights_that_float32_hardly_holds)
{
    struct attention p = attention_of(1, 1, 1, 1, 3, 1);
    p.scale = 1.0f;
    attention_set_dropout(&p, 0.5, 1);
    while (!dropout_keeps(&p, 0, 0, 0, 0) || !dropout_keeps(&p, 0, 0, 0, 1) ||
           dropout_keeps(&p, 0, 0, 0, 2))
        p.dropout_seed++;
    struct test_problem t = problem_of(p, 0, 1);
    t.Q[0] = 1.0f;
    memcpy(t.K, (float[]){ -88.8f, -78.4f, 0.0f }, 3 * sizeof *t.K);
    assert_forward(in_tiles(named("complete")), &t);
    problem_free(&t);
}

TEST(complete, gives_the_same_bits_for_any_number_of_threads)
{
    struct test_problem large = problem_of(attention_of(2, 4, 2, 150, 150, 32), 0, 1);
    struct test_problem few = problem_of(attention_of(1, 2, 1, 40, 3000, 32), 0, 2);
    assert_same_bits(&large, (struct tile_size){ 16, 16 });
    assert_same_bits(&large, (struct tile_size){ 1, 40 });
    assert_same_bits(&few, (struct tile_size){ 16, 16 });
    assert_same_bits(&few, (struct tile_size){ 64, 100 });
    problem_free(&large);
    problem_free(&few);
}

TEST(complete, gives_the_same_bits_for_any_number_of_threads_under_every_option)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        const unsigned options = random_options(seed, WITH_EVERYTHING);
        struct test_problem t =
            seed % 2 ? random_problem(seed, attention_of(2, 4, 4, 60, 60, 16), options)
                     : random_problem(seed, FEW_QUERIES, options | WITH_UNEQUAL_LENGTHS);
        assert_same_bits(&t, tiles_of(named("complete"), TILE_FORMS - 1, &t.p));
        problem_free(&t);
    }
}

/* The first text alone, and in a batch so large that its keys are not split (fast/complete.c). */
TEST(complete, may_give_other_last_bits_in_a_larger_batch)
{
    struct test_problem t = problem_of(attention_of(16, 2, 2, 40, 3000, 32), 0, 2);
    struct attention alone = t.p;
    alone.B = 1;
    cr_assert(split_count(&alone) > 1 && split_count(&t.p) == 1);
    const size_t n = attention_query_elements(&t.p), first = attention_query_elements(&alone);
    const struct tile_size size = { 16, 16 };
    float *O = allocate(n, sizeof *O, "O"), *O_alone = allocate(first, sizeof *O, "O");
    complete(&t.p, size, problem_tensors(&t, O, NULL));
    complete(&alone, size, problem_tensors(&t, O_alone, NULL));
    cr_assert(memcmp(O, O_alone, first * sizeof *O) != 0);
    for (size_t k = 0; k < first; k++)
        cr_assert_float_eq(O[k], O_alone[k], 1e-5);
    free(O);
    free(O_alone);
    problem_free(&t);
}

// ---- the real input -----------------------------------------------------------------------------

TEST(complete, gives_the_output_that_came_with_the_real_input)
{
    assert_forward_of_the_real_input(in_tiles(named("complete")));
}
