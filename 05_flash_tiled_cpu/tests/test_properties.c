/*
 * What is true of attention whatever the numbers are: for every step that computes it.
 */
#include "05_flash_tiled_cpu/tests/tiles.h"
#include "common/cpu/memory.h"
#include "common/tests/test.h"

#include <math.h>
#include <string.h>

enum { SEEDS = 12 };

/* The step after this one that computes attention. */
static const struct step *next(const struct step *step)
{
    do
        step++;
    while (step < end() && step->is_product);
    return step;
}

static float *output(const struct step *step, const struct test_problem *t, struct tile_size size)
{
    const size_t n = attention_query_elements(&t->p);
    float *O = allocate(n, sizeof *O, "O");
    poison_fill(O, n);
    step->run(&t->p, size, problem_tensors(t, O, NULL));
    return O;
}

/* Fails unless the two outputs are within `most` of each other; both are freed. */
static void assert_same(const char *what, const struct step *step, const struct test_problem *t,
                        struct tile_size size, float *one, float *other, double most)
{
    for (size_t k = 0; k < attention_query_elements(&t->p); k++)
        cr_assert(fabs((double)one[k] - (double)other[k]) <= most,
                  "%s --step %s --br %zu --bc %zu: %s: O[%zu] is %.9g and %.9g", problem_text(t),
                  step->name, size.Br, size.Bc, what, k, (double)one[k], (double)other[k]);
    free(one);
    free(other);
}

/* Problems without masks and dropout, every other one with many keys, which may be cut in splits. */
static struct test_problem problem(uint64_t seed)
{
    return seed % 2 ? random_problem(seed, attention_of(2, 4, 4, 60, 60, 24),
                                     random_options(seed, WITH_SHAPES))
                    : random_problem(seed, attention_of(1, 2, 2, 8, 700, 24), WITH_UNEQUAL_LENGTHS);
}

TEST(every_step, gives_the_same_whatever_the_tiles)
{
    for (const struct step *step = table.steps; step < end(); step = next(step))
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct test_problem t = problem(seed);
            for (size_t form = 1; form < TILE_FORMS; form++) {
                const struct tile_size size = tiles_of(step, form, &t.p);
                assert_same("another with tiles of one by one", step, &t, size,
                            output(step, &t, size), output(step, &t, (struct tile_size){ 1, 1 }),
                            3e-6);
            }
            problem_free(&t);
        }
}

/* Moves row j of every head of x, (B, Hkv, Nk, d), to 997 j + 1 mod Nk: 997 is prime, Nk smaller. */
static void permute(float *x, const struct attention *p)
{
    const size_t n = attention_key_elements(p), d = p->d;
    float *from = allocate(n, sizeof *from, "keys");
    memcpy(from, x, n * sizeof *from);
    for (size_t row = 0; row < n / d; row++) {
        const size_t first = row - row % p->Nk, to = first + (row % p->Nk * 997 + 1) % p->Nk;
        memcpy(x + to * d, from + row * d, d * sizeof *x);
    }
    free(from);
}

TEST(every_step, does_not_care_in_which_order_the_keys_come)
{
    for (const struct step *step = table.steps; step < end(); step = next(step))
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct test_problem t = problem(seed);
            const struct tile_size size = tiles_of(step, TILE_FORMS - 1, &t.p);
            float *before = output(step, &t, size);
            permute(t.K, &t.p);
            permute(t.V, &t.p);
            assert_same("keys and values in another order", step, &t, size, before,
                        output(step, &t, size), 3e-6);
            problem_free(&t);
        }
}

TEST(every_step, gives_averages_whose_weights_sum_to_one)
{
    for (const struct step *step = table.steps; step < end(); step = next(step))
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct test_problem t = problem(seed);
            const struct tile_size size = tiles_of(step, TILE_FORMS - 1, &t.p);
            const float value = seed == 1 ? 1.0f : -0.7f;
            for (size_t k = 0; k < attention_key_elements(&t.p); k++)
                t.V[k] = value;
            float *right = allocate(attention_query_elements(&t.p), sizeof *right, "O");
            for (size_t k = 0; k < attention_query_elements(&t.p); k++)
                right[k] = value;
            assert_same("an average of equal values", step, &t, size, output(step, &t, size), right,
                        2e-6);
            problem_free(&t);
        }
}

/* q (k + c) = q k + q c: all scores of a query grow by the same, which softmax ignores. */
TEST(every_step, does_not_see_a_vector_that_is_added_to_all_keys)
{
    for (const struct step *step = table.steps; step < end(); step = next(step))
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct test_problem t = problem(seed);
            const struct tile_size size = tiles_of(step, TILE_FORMS - 1, &t.p);
            float *before = output(step, &t, size);
            for (size_t k = 0; k < attention_key_elements(&t.p); k++)
                t.K[k] += 0.5f + (float)(k % t.p.d) / 16.0f;
            assert_same("keys moved together", step, &t, size, before, output(step, &t, size),
                        1e-4);
            problem_free(&t);
        }
}

/* Scores up to some thousands: e^score alone would be infinite. They are whole numbers, so exact. */
TEST(every_step, does_not_overflow_where_scores_are_large)
{
    for (const struct step *step = table.steps; step < end(); step = next(step))
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct test_problem t = random_problem(seed, attention_of(1, 1, 1, 40, 40, 8), 0);
            t.p.scale = seed % 2 ? 50.0f : -50.0f;
            for (size_t k = 0; k < attention_query_elements(&t.p); k++) {
                t.Q[k] = roundf(3.0f * t.Q[k]);
                t.K[k] = roundf(3.0f * t.K[k]);
            }
            assert_forward(in_tiles(step), &t);
            problem_free(&t);
        }
}

/* The heads of the story share keys, and each has a slope of its own. */
TEST(bias, as_two_more_columns_is_the_formula)
{
    const double error = story_error_of_bias();
    cr_assert(error <= 5e-6, "O is off by %.2e", error);
}
