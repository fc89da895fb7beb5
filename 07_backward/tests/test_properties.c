/*
 * What is true of the gradients of attention whatever the numbers are: for every step.
 */
#include "07_backward/tests/tiles.h"
#include "common/cpu/memory.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 10 };

static struct test_problem problem(uint64_t seed)
{
    return random_problem(seed, attention_of(2, 4, 4, 60, 60, 24),
                          random_options(seed, WITH_SCALE | WITH_UNEQUAL_LENGTHS));
}

static size_t elements(const struct test_problem *t, size_t g)
{
    return g == DQ ? attention_query_elements(&t->p) : attention_key_elements(&t->p);
}

/* The largest of |x|, at least 1. */
static double largest(const float *x, size_t n)
{
    double most = 1.0;
    for (size_t k = 0; k < n; k++)
        most = fmax(most, fabs((double)x[k]));
    return most;
}

/* Fails unless gradient g of both is the same, but for so much of the largest element. */
static void assert_same(const char *what, const struct step *step, const struct test_problem *t,
                        size_t g, const float *one, const float *other, double most)
{
    static const char *const names[] = { "dQ", "dK", "dV" };
    const double allowed = most * largest(one, elements(t, g));
    for (size_t k = 0; k < elements(t, g); k++)
        cr_assert(fabs((double)one[k] - (double)other[k]) <= allowed,
                  "%s --step %s: %s: %s[%zu] is %.9g and %.9g", problem_text(t), step->name, what,
                  names[g], k, (double)one[k], (double)other[k]);
}

TEST(every_step, gives_the_same_whatever_the_tiles)
{
    for (const struct step *step = table.steps; step < end(); step++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct test_problem t = problem(seed);
            struct result one = gradients_of(step, &t, (struct tile_size){ 1, 1 });
            for (size_t form = 1; form < TILE_FORMS; form++) {
                struct result other = gradients_of(step, &t, tiles_of(step, form, &t.p));
                for (size_t g = 0; g < GRADIENTS; g++)
                    assert_same("tiles", step, &t, g, one.of[g], other.of[g], 3e-6);
                result_free(&other);
            }
            result_free(&one);
            problem_free(&t);
        }
}

/* The gradients of a sum of two dO are the sums of theirs. */
TEST(every_step, is_linear_in_do)
{
    for (const struct step *step = table.steps; step < end(); step++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct test_problem t = problem(seed), other = problem(seed), sum = problem(seed);
            const struct tile_size size = tiles_of(step, TILE_FORMS - 1, &t.p);
            for (size_t k = 0; k < attention_query_elements(&t.p); k++) {
                other.dO[k] = 0.25f - 0.5f * t.dO[(k * 7 + 3) % attention_query_elements(&t.p)];
                sum.dO[k] = t.dO[k] + other.dO[k];
            }
            struct result a = gradients_of(step, &t, size), b = gradients_of(step, &other, size);
            struct result c = gradients_of(step, &sum, size);
            for (size_t g = 0; g < GRADIENTS; g++) {
                for (size_t k = 0; k < elements(&t, g); k++)
                    a.of[g][k] += b.of[g][k];
                assert_same("the sum of two dO", step, &t, g, c.of[g], a.of[g], 4e-6);
            }
            result_free(&a);
            result_free(&b);
            result_free(&c);
            problem_free(&t);
            problem_free(&other);
            problem_free(&sum);
        }
}

/* Row j of every head of x goes to row 997 j + 1 mod Nk: 997 is prime, Nk smaller. */
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

TEST(every_step, permutes_dk_and_dv_when_the_keys_are_permuted)
{
    for (const struct step *step = table.steps; step < end(); step++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct test_problem t = problem(seed);
            const struct tile_size size = tiles_of(step, TILE_FORMS - 1, &t.p);
            struct result before = gradients_of(step, &t, size);
            permute(t.K, &t.p);
            permute(t.V, &t.p);
            permute(before.of[DK], &t.p);
            permute(before.of[DV], &t.p);
            struct result after = gradients_of(step, &t, size);
            for (size_t g = 0; g < GRADIENTS; g++)
                assert_same("keys in another order", step, &t, g, before.of[g], after.of[g], 3e-6);
            result_free(&before);
            result_free(&after);
            problem_free(&t);
        }
}

/* q (k + c) = q k + q c: softmax ignores it, and so does dQ = dS (K + c), as rows of dS sum to 0. */
TEST(every_step, does_not_see_a_vector_that_is_added_to_all_keys)
{
    for (const struct step *step = table.steps; step < end(); step++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct test_problem t = problem(seed);
            const struct tile_size size = tiles_of(step, TILE_FORMS - 1, &t.p);
            struct result before = gradients_of(step, &t, size);
            for (size_t k = 0; k < attention_key_elements(&t.p); k++)
                t.K[k] += 0.5f + (float)(k % t.p.d) / 16.0f;
            struct result after = gradients_of(step, &t, size);
            for (size_t g = 0; g < GRADIENTS; g++)
                assert_same("shifted scores", step, &t, g, before.of[g], after.of[g], 1e-4);
            result_free(&before);
            result_free(&after);
            problem_free(&t);
        }
}

/* Column c of a head's rows, summed. */
static double column_sum(const float *x, size_t head, size_t rows, size_t d, size_t c)
{
    double sum = 0.0;
    for (size_t r = 0; r < rows; r++)
        sum += (double)x[(head * rows + r) * d + c];
    return sum;
}

/* Rows of P sum to 1, so the rows of dV sum to those of dO; rows of dS to 0, so those of dK to nothing. */
TEST(every_step, gives_dk_that_sums_to_zero_and_dv_that_sums_to_do)
{
    for (const struct step *step = table.steps; step < end(); step++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct test_problem t = problem(seed);
            const struct attention *p = &t.p;
            struct result r = gradients_of(step, &t, tiles_of(step, TILE_FORMS - 1, p));
            for (size_t n = 0; n < p->B * p->H * p->d; n++) {
                const size_t head = n / p->d, c = n % p->d;
                const double dK = column_sum(r.of[DK], head, p->Nk, p->d, c);
                const double dV = column_sum(r.of[DV], head, p->Nk, p->d, c);
                const double dO = column_sum(t.dO, head, p->Nq, p->d, c);
                cr_assert(fabs(dK) <= 2e-4 && fabs(dV - dO) <= 2e-4,
                          "%s --step %s: head %zu, column %zu: dK sums to %g, dV to %g, dO to %g",
                          problem_text(&t), step->name, head, c, dK, dV, dO);
            }
            result_free(&r);
            problem_free(&t);
        }
}

/* Scores up to 60 either way: e^score alone would be infinite for some. */
TEST(every_step, does_not_overflow_where_scores_are_large)
{
    for (const struct step *step = table.steps; step < end(); step++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct test_problem t = random_problem(seed, attention_of(1, 1, 1, 40, 40, 8), 0);
            t.p.scale = seed % 2 ? 20.0f : -20.0f;
            assert_backward(in_tiles(step), &t);
            problem_free(&t);
        }
}
