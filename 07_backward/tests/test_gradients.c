/*
 * The steps against judges without a derivation: finite differences of the forward pass, and
 * PyTorch.
 */
#include "07_backward/steps/differences.h"
#include "07_backward/tests/tiles.h"
#include "common/cpu/memory.h"
#include "common/tests/golden.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdlib.h>

static size_t elements(const struct attention *p, size_t g)
{
    return g == DQ ? attention_query_elements(p) : attention_key_elements(p);
}

/* Some elements of each gradient against central differences; scales are moderate, so the loss is smooth. */
static void assert_differences(const struct step *step, uint64_t seed, unsigned options,
                               enum precision precision, double most)
{
    static const char *const names[] = { "dQ", "dK", "dV" };
    struct test_problem t = random_problem(seed, attention_of(2, 4, 4, 8, 8, 4), options);
    struct lab layer = layer_with_forward(&t);
    struct result r = backward_run(step, &layer, (struct tile_size){ 3, 5 });
    for (size_t g = 0; g < GRADIENTS; g++)
        for (size_t k = 0; k < 6; k++) {
            const size_t at = random_between(seed, 50 + (uint32_t)g, k, 0, elements(&t.p, g) - 1);
            const double tried =
                difference_at(&layer, g, at, DIFFERENCE_STEP[precision], precision);
            cr_assert(fabs((double)r.of[g][at] - tried) <= most * fmax(1.0, fabs(tried)),
                      "%s --step %s: %s[%zu] is %.9g, the differences give %.9g", problem_text(&t),
                      step->name, names[g], at, (double)r.of[g][at], tried);
        }
    result_free(&r);
    forward_free(&layer.x);
    problem_free(&t);
}

static void assert_differences_of(const struct step *step, enum precision precision, double most)
{
    for (unsigned option = 1; option < WITH_EVERYTHING; option *= 2)
        for (uint64_t seed = 1; seed <= 6; seed++)
            assert_differences(step, seed, option & options_of(step), precision, most);
    for (uint64_t seed = 1; seed <= 40; seed++)
        assert_differences(step, seed, random_options(seed, options_of(step)), precision, most);
}

TEST(every_step, gives_what_differences_in_double_give_under_each_option_and_all)
{
    for (const struct step *step = table.steps; step < end(); step++)
        assert_differences_of(step, IN_DOUBLE, 3e-5);
}

TEST(complete, gives_what_differences_in_float32_give_under_each_option_and_all)
{
    assert_differences_of(named("complete"), IN_FLOAT, 4e-3);
}

/* The step that moves a number is exact where differences are: the forward pass is linear in V. */
TEST(differences, by_v_do_not_depend_on_the_step)
{
    struct test_problem t = random_problem(3, attention_of(1, 2, 2, 9, 9, 5), 0);
    struct lab layer = layer_with_forward(&t);
    for (size_t at = 0; at < attention_key_elements(&t.p); at++) {
        const float V = t.V[at];
        const double small = difference_at(&layer, DV, at, 0x1p-8f, IN_DOUBLE);
        const double large = difference_at(&layer, DV, at, 4.0f, IN_DOUBLE);
        cr_assert(fabs(small - large) <= 1e-11, "V[%zu]: %.15g and %.15g", at, small, large);
        cr_assert(t.V[at] == V, "V[%zu] was not put back", at);
    }
    forward_free(&layer.x);
    problem_free(&t);
}

// ---- PyTorch ------------------------------------------------------------------------------------

static void assert_like_pytorch(const struct step *step, const struct golden *g,
                                const struct result *r, size_t array, const double *right)
{
    double most = 1.0;
    for (size_t k = 0; k < elements(&g->t.p, array); k++)
        most = fmax(most, fabs(right[k]));
    for (size_t k = 0; k < elements(&g->t.p, array); k++) {
        const double off = fabs((double)r->of[array][k] - right[k]);
        cr_assert(off <= 3e-6 * most, "%s, %s: element %zu of array %zu is %.9g, PyTorch has %.9g",
                  g->name, step->name, k, array, (double)r->of[array][k], right[k]);
    }
}

TEST(every_step, gives_the_gradients_of_pytorch)
{
    size_t compared[20] = { 0 };
    for (size_t k = 0; k < golden_count(); k++) {
        struct golden g = golden_open(k);
        for (const struct step *step = table.steps; step < end(); step++) {
            if (step_unsupported(step, &g.t.p))
                continue;
            struct result r = gradients_of(step, &g.t, (struct tile_size){ 4, 3 });
            assert_like_pytorch(step, &g, &r, DQ, g.dQ);
            assert_like_pytorch(step, &g, &r, DK, g.dK);
            assert_like_pytorch(step, &g, &r, DV, g.dV);
            compared[step - table.steps]++;
            result_free(&r);
        }
        golden_free(&g);
    }
    for (const struct step *step = table.steps; step < end(); step++) {
        const size_t right = step == named("complete")                                ? 17
                             : (step->supports & (SUPPORTS_DROPOUT | SUPPORTS_SCORE)) ? 13
                                                                                      : 12;
        cr_assert(compared[step - table.steps] == right, "%s: %zu comparisons, expected %zu",
                  step->name, compared[step - table.steps], right);
    }
}
