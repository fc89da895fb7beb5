/*
 * Dropout: exactly the weights that the definition names, whatever the tiles.
 */
#include "05_flash_tiled_cpu/tests/tiles.h"
#include "common/cpu/memory.h"
#include "common/tests/test.h"

#include <math.h>
#include <string.h>

TEST(dropout, agrees_with_the_reference_at_every_size)
{
    assert_forward_at_every_size(in_tiles(named("dropout")));
}

TEST(dropout, agrees_with_the_reference_under_every_option)
{
    assert_forward_with_options(in_tiles(named("dropout")), WITH_EVERYTHING);
}

TEST(dropout, agrees_with_the_reference_in_random_tiles)
{
    assert_random_tiles(named("dropout"));
    assert_forward_at_random(in_tiles(named("dropout")), attention_of(1, 2, 2, 150, 150, 8),
                             WITH_EVERYTHING, 20);
}

TEST(dropout, does_not_read_keys_that_no_query_sees)
{
    assert_forward_ignores_unseen_keys(in_tiles(named("dropout")), WITH_KEY_MASK | WITH_DROPOUT);
    assert_forward_ignores_unseen_keys(in_tiles(named("dropout")), WITH_EVERYTHING);
}

TEST(dropout, keeps_nan_in_a_key_from_the_queries_that_do_not_see_it)
{
    assert_nan_stays_with_those_who_see_it(named("dropout"));
}

TEST(dropout, of_a_query_that_sees_no_key_is_zero_with_lse_minus_infinity)
{
    assert_empty_rows_are_empty(named("dropout"));
}

TEST(dropout, gives_scores_of_minus_infinity_no_weight_wherever_they_come)
{
    assert_minus_infinity_weighs_nothing(named("dropout"));
}

// ---- weight by weight ---------------------------------------------------------------------------

/* The values are unit vectors, so that O is P itself. All 256 keys, which two splits share. */
enum { B = 2, H = 2, NQ = 9, N = 256, ROWS = B * H * NQ };

static struct test_problem problem_of_weights(double P, uint64_t seed)
{
    struct test_problem t = problem_of(attention_of(B, H, 1, NQ, N, N), 0, 3);
    memset(t.V, 0, attention_key_elements(&t.p) * sizeof *t.V);
    for (size_t n = 0; n < B * N; n++)
        t.V[n * N + n % N] = 1.0f;
    attention_set_dropout(&t.p, P, seed);
    return t;
}

/* The definition: the word of key j for query (b, h, i), cut to 24 bits, reaches P 2^24. */
static bool is_kept(double P, uint64_t seed, size_t row, size_t j)
{
    const uint32_t b = (uint32_t)(row / NQ / H), h = (uint32_t)(row / NQ % H);
    const struct philox counter = { { (uint32_t)(j / 4), (uint32_t)(row % NQ), h, b } };
    const uint32_t word = philox4x32(counter, seed).word[j % 4];
    return (double)(word >> 8) >= ceil(P * 16777216.0);
}

/* Weights with and without dropout, of one step in one form. */
static void assert_weights(const struct step *step, size_t form, double P, uint64_t seed)
{
    static float with[ROWS * N], without[ROWS * N], lse[ROWS], lse_without[ROWS];
    struct test_problem t = problem_of_weights(P, seed);
    const struct tile_size size = tiles_of(step, form, &t.p);
    poison_fill(with, ROWS * N);
    step->run(&t.p, size, problem_tensors(&t, with, lse));
    attention_set_dropout(&t.p, 0.0, seed);
    step->run(&t.p, size, problem_tensors(&t, without, lse_without));
    for (size_t n = 0; n < ROWS * N; n++) {
        const bool kept = is_kept(P, seed, n / N, n % N);
        const double right = kept ? (double)without[n] / (1.0 - P) : 0.0;
        cr_assert(
            kept == (with[n] != 0.0f) && fabs((double)with[n] - right) <= 1e-5 * right,
            "%s --br %zu --bc %zu, P = %g, seed %llu: weight %zu of row %zu is %g, expected %g",
            step->name, size.Br, size.Bc, P, (unsigned long long)seed, n % N, n / N,
            (double)with[n], right);
    }
    cr_assert(memcmp(lse, lse_without, sizeof lse) == 0, "%s: dropout changes lse", step->name);
    problem_free(&t);
}

TEST(dropout, drops_the_weights_that_the_definition_names_and_scales_the_others)
{
    const struct step *const steps[] = { named("dropout"), named("split_kv"), named("complete") };
    const double P[] = { 0.1, 0.5, 0.9, 1.0 / 3.0 };
    for (size_t n = 0; n < 3; n++)
        for (size_t form = 0; form < TILE_FORMS; form++)
            assert_weights(steps[n], form, P[form % 4], form * 0x123456789ABCDEF);
}
