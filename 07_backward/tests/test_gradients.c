/*
 * The steps against judges who know nothing of their derivation: finite differences of the forward pass, and
 * PyTorch.
 */
#include "07_backward/program/differences.h"
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
static void assert_differences(enum step_name name, uint64_t seed, unsigned options,
                               enum precision precision, double most)
{
    static const char *const names[] = { "dQ", "dK", "dV" };
    struct test_problem t = random_problem(seed, attention_of(2, 4, 4, 8, 8, 4), options);
    struct layer layer = layer_with_forward(&t);
    struct result r = layer_run(&steps[name], &layer, (struct tile_size){ 3, 5 });
    for (size_t g = 0; g < GRADIENTS; g++)
        for (size_t k = 0; k < 6; k++) {
            const size_t at = random_between(seed, 50 + (uint32_t)g, k, 0, elements(&t.p, g) - 1);
            const double tried =
                difference_at(&layer, g, at, DIFFERENCE_STEP[precision], precision);
            cr_assert(fabs((double)r.of[g][at] - tried) <= most * fmax(1.0, fabs(tried)),
                      "%s --step %s: %s[%zu] is %.9g, the differences give %.9g", problem_text(&t),
                      steps[name].name, names[g], at, (double)r.of[g][at], tried);
        }
    result_free(&r);
    kept_free(&layer.kept);
    problem_free(&t);
}

static void assert_differences_of(enum step_name name, enum precision precision, double most)
{
    for (unsigned option = 1; option < WITH_EVERYTHING; option *= 2)
        for (uint64_t seed = 1; seed <= 6; seed++)
            assert_differences(name, seed, option & options_of(name), precision, most);
    for (uint64_t seed = 1; seed <= 40; seed++)
        assert_differences(name, seed, random_options(seed, options_of(name)), precision, most);
}

TEST(every_step, gives_what_differences_in_double_give_under_each_option_and_all)
{
    for (enum step_name name = STANDARD; name < STEPS; name++)
        assert_differences_of(name, IN_DOUBLE, 3e-5);
}

TEST(complete, gives_what_differences_in_float32_give_under_each_option_and_all)
{
    assert_differences_of(COMPLETE, IN_FLOAT, 4e-3);
}

/* The step that moves a number is exact where differences are: the forward pass is linear in V. */
TEST(differences, by_v_do_not_depend_on_the_step)
{
    struct test_problem t = random_problem(3, attention_of(1, 2, 2, 9, 9, 5), 0);
    struct layer layer = layer_with_forward(&t);
    for (size_t at = 0; at < attention_key_elements(&t.p); at++) {
        const float V = t.V[at];
        const double small = difference_at(&layer, DV, at, 0x1p-8f, IN_DOUBLE);
        const double large = difference_at(&layer, DV, at, 4.0f, IN_DOUBLE);
        cr_assert(fabs(small - large) <= 1e-11, "V[%zu]: %.15g and %.15g", at, small, large);
        cr_assert(t.V[at] == V, "V[%zu] was not put back", at);
    }
    kept_free(&layer.kept);
    problem_free(&t);
}

// ---- PyTorch ------------------------------------------------------------------------------------

static void assert_like_pytorch(enum step_name name, const struct golden *g, const struct result *r,
                                size_t array, const double *right)
{
    double most = 1.0;
    for (size_t k = 0; k < elements(&g->t.p, array); k++)
        most = fmax(most, fabs(right[k]));
    for (size_t k = 0; k < elements(&g->t.p, array); k++) {
        const double off = fabs((double)r->of[array][k] - right[k]);
        cr_assert(off <= 3e-6 * most, "%s, %s: element %zu of array %zu is %.9g, PyTorch has %.9g",
                  g->name, steps[name].name, k, array, (double)r->of[array][k], right[k]);
    }
}

TEST(every_step, gives_the_gradients_of_pytorch)
{
    size_t compared[STEPS] = { 0 };
    for (size_t k = 0; k < golden_count(); k++) {
        struct golden g = golden_open(k);
        for (enum step_name name = STANDARD; name < STEPS; name++) {
            if (step_unsupported(&steps[name], &g.t.p))
                continue;
            struct result r = gradients_of(name, &g.t, (struct tile_size){ 4, 3 });
            assert_like_pytorch(name, &g, &r, DQ, g.dQ);
            assert_like_pytorch(name, &g, &r, DK, g.dK);
            assert_like_pytorch(name, &g, &r, DV, g.dV);
            compared[name]++;
            result_free(&r);
        }
        golden_free(&g);
    }
    for (enum step_name name = STANDARD; name < STEPS; name++) {
        const size_t right = name == COMPLETE                                               ? 17
                             : (steps[name].supports & (SUPPORTS_DROPOUT | SUPPORTS_SCORE)) ? 13
                                                                                            : 12;
        cr_assert(compared[name] == right, "%s: %zu comparisons, expected %zu", steps[name].name,
                  compared[name], right);
    }
}
