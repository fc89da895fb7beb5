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

// ---- the same bits in any batch -----------------------------------------------------------------

/* O of queries `row`, … of text b alone: those of p. free() it. */
static float *run_alone(const char *name, const struct test_problem *t, struct attention p,
                        size_t b, size_t row, size_t threads)
{
    const struct step *step = named(name);
    const size_t keys = b * t->p.Hkv * t->p.Nk * t->p.d;
    float *O = allocate(attention_query_elements(&p), sizeof *O, "O");
    threads_use(threads);
    step->run(&p, step->usual.Br ? step->usual : step->size(USUAL_M, p.d),
              (struct tensors){ .Q = t->Q + (b * t->p.H * t->p.Nq + row) * t->p.d,
                                .K = t->K + keys,
                                .V = t->V + keys,
                                .O = O });
    return O;
}

static void assert_bits_in_any_batch(const char *name, size_t Nq)
{
    struct test_problem t = problem_of(attention_of(8, 2, 1, Nq, 4096, 16), 0, Nq);
    t.p.scale *= 6.0f;  // the maxima move
    struct attention alone = t.p;
    alone.B = 1;
    const size_t n = attention_query_elements(&alone);
    float *first = run_alone(name, &t, t.p, 0, 0, 1);
    for (size_t threads = 1; threads <= 3; threads++) {
        float *batch = run_alone(name, &t, t.p, 0, 0, threads);
        cr_assert(memcmp(batch, first, 8 * n * sizeof *batch) == 0, "%s: Nq %zu, %zu threads", name,
                  Nq, threads);
        for (size_t b = 0; b < 8; b++) {
            float *O = run_alone(name, &t, alone, b, 0, threads);
            cr_assert(memcmp(O, first + b * n, n * sizeof *O) == 0,
                      "%s: Nq %zu, text %zu alone, %zu threads", name, Nq, b, threads);
            free(O);
        }
        free(batch);
    }
    free(first);
    problem_free(&t);
}

TEST(complete, gives_a_text_the_same_bits_in_any_batch)
{
    assert_bits_in_any_batch("complete", 1);
    assert_bits_in_any_batch("complete", 64);
    assert_bits_in_any_batch("split_kv", 1);
    assert_bits_in_any_batch("split_kv", 64);
}

/* Row i of a causal text, and query i alone with its keys. */
static void assert_bits_of_prefill_in_decode(const char *name, float scale)
{
    enum { N = 700 };
    struct test_problem t = problem_of(attention_of(1, 1, 1, N, N, 20), 0, 1);
    t.p.scale *= scale;
    t.p.causal = true;
    struct attention one = t.p;
    one.Nq = 1;
    float *prefill = run_alone(name, &t, t.p, 0, 0, 2);
    for (size_t i = 0; i < N; i++) {
        one.Nk = i + 1;
        float *decode = run_alone(name, &t, one, 0, i, 2);
        cr_assert(memcmp(decode, prefill + i * one.d, one.d * sizeof *decode) == 0,
                  "%s, scale %g times the usual: row %zu", name, (double)scale, i);
        free(decode);
    }
    free(prefill);
    problem_free(&t);
}

TEST(complete, gives_the_same_bits_in_prefill_and_in_decode)
{
    const float scales[] = { 1.0f, 8.0f, 64.0f };
    for (int k = 0; k < 3; k++) {
        assert_bits_of_prefill_in_decode("complete", scales[k]);
        assert_bits_of_prefill_in_decode("split_kv", scales[k]);
    }
}

// ---- the real input -----------------------------------------------------------------------------

TEST(complete, gives_the_output_that_came_with_the_real_input)
{
    assert_forward_of_the_real_input(in_tiles(named("complete")));
}
