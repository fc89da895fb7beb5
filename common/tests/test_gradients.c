/*
 * The reference's gradients against central differences of its forward pass, for each option alone
 * and for combinations.
 */
#include "common/check/reference.h"
#include "common/tests/problems.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdlib.h>

static double loss(const struct test_problem *t, double *O)
{
    double sum = 0.0;
    reference_forward(&t->p, t->Q, t->K, t->V, O, NULL);
    for (size_t n = 0; n < attention_query_elements(&t->p); n++)
        sum += (double)t->dO[n] * O[n];
    return sum;
}

/*
 * (f(x + h) - f(x - h)) / 2h = f'(x) + h^2/6 f''', and f''' is of the gradients' size: we measured
 * h^2 times the largest, and allow eight times that. Rounding adds far less: on a grid of 2^-8, x +
 * h and x - h are exact.
 */
static void check_gradient(struct test_problem *t, float *x, const double *gradient, size_t count,
                           const char *what)
{
    const float h = 0x1p-14f;
    double *O = unwritten(attention_query_elements(&t->p)), *differences = unwritten(count),
           largest = 1.0;
    for (size_t n = 0; n < count; n++) {
        const float at = x[n];
        x[n] = at + h;
        const double above = loss(t, O);
        x[n] = at - h;
        const double below = loss(t, O);
        x[n] = at;
        differences[n] = (above - below) / (2.0 * (double)h);
        largest = fmax(largest, fabs(differences[n]));
    }
    size_t worst;
    const double error = largest_difference(gradient, differences, count, &worst);
    cr_assert(error <= 8.0 * (double)h * (double)h * largest,
              "%s: element %zu is %.9g, the differences give %.9g; %s", what, worst,
              gradient[worst], differences[worst], problem_text(t));
    free(differences);
    free(O);
}

static void to_grid(float *x, size_t count)
{
    for (size_t n = 0; n < count; n++)
        x[n] = rintf(x[n] * 256.0f) / 256.0f;
}

static void check_gradients(uint64_t seed, unsigned options)
{
    struct test_problem t = random_problem(seed, attention_of(2, 4, 4, 5, 5, 3), options);
    const size_t queries = attention_query_elements(&t.p), keys = attention_key_elements(&t.p);
    to_grid(t.Q, queries);
    to_grid(t.K, keys);
    to_grid(t.V, keys);
    struct reference_results r = reference_results_of(&t);
    check_gradient(&t, t.Q, r.dQ, queries, "dQ");
    check_gradient(&t, t.K, r.dK, keys, "dK");
    check_gradient(&t, t.V, r.dV, keys, "dV");
    reference_results_free(&r);
    problem_free(&t);
}

TEST(reference_gradients, are_central_differences_under_each_option_alone)
{
    check_gradients(0, 0);
    for (unsigned option = 1; option < WITH_EVERYTHING; option *= 2)
        for (uint64_t seed = 1; seed <= 6; seed++)
            check_gradients(seed, option);
}

TEST(reference_gradients, are_central_differences_under_options_together)
{
    for (uint64_t seed = 1; seed <= 60; seed++)
        check_gradients(seed, random_options(seed, WITH_EVERYTHING));
}

TEST(reference_gradients, of_changed_scores_are_central_differences_too)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        check_gradients(seed, WITH_SOFTCAP);
        check_gradients(seed, WITH_SOFTCAP | random_options(seed, WITH_EVERYTHING));
    }
}
