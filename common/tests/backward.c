#include "common/tests/backward.h"

#include "common/check/gradient_check.h"
#include "common/check/plain.h"
#include "common/check/tolerance.h"
#include "common/cpu/memory.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdlib.h>

struct backward_forms backward_forms = { .count = 1, .turn = 1 };

enum { LARGE = 200000 };  // multiply-adds of Q K^T

/* The three gradients, and what is right for each. */
struct expected {
    struct reference_results right;
    struct gradient_terms terms;
    float *plain[GRADIENTS], *got[GRADIENTS];
};

static size_t elements(const struct attention *p, size_t g)
{
    return g == DQ ? attention_query_elements(p) : attention_key_elements(p);
}

static struct expected expected_of(const struct test_problem *t)
{
    struct expected e = { .right = reference_results_of(t),
                          .terms = gradient_terms_of(&t->p, t->Q, t->K, t->V, t->dO) };
    for (size_t g = 0; g < GRADIENTS; g++) {
        e.plain[g] = allocate(elements(&t->p, g), sizeof(float), "a gradient");
        e.got[g] = allocate(elements(&t->p, g), sizeof(float), "a gradient");
    }
    plain_backward(&t->p, t->Q, t->K, t->V, t->dO, e.plain[DQ], e.plain[DK], e.plain[DV]);
    return e;
}

static void expected_free(struct expected *e)
{
    reference_results_free(&e->right);
    for (size_t g = 0; g < GRADIENTS; g++) {
        free(e->plain[g]);
        free(e->got[g]);
    }
}

/* Fails, naming the problem, the form, the array and the place, unless gradient g is right. */
static void assert_right(const struct expected *e, size_t g, const struct test_problem *t)
{
    static const char *const names[] = { "dQ", "dK", "dV" };
    const struct attention *p = &t->p;
    const size_t n = elements(p, g);
    const double *const right = g == DQ ? e->right.dQ : g == DK ? e->right.dK : e->right.dV;
    const struct difference d = difference_between(e->got[g], right, n);
    const struct allowance a = allowance_for_stored(
        allowance_for_rounded_gradient(
            allowance_for_gradient(e->plain[g], right, n, e->terms.size[g], e->terms.lse),
            e->terms.rounded[g], p->dtype),
        right, n, backward_forms.stored);
    const size_t shape[4] = { p->B, g == DQ ? p->H : p->Hkv, g == DQ ? p->Nq : p->Nk, p->d };
    char place[100];
    cr_assert(within(d, a),
              "%s%s: %s [%s] is %.9g, expected %.9g (%zu are no numbers or not written, the others "
              "off by up to %.2g, allowed %.2g, rms %.2g, allowed %.2g)",
              problem_text(t), backward_forms.text, names[g],
              place_of(d.worst, 4, shape, place, sizeof place), d.got, d.expected, d.mismatched,
              d.max_abs, a.max_abs, d.rms, a.rms);
}

/* Runs the form into poisoned memory, and holds what it gives against what is expected. */
static void assert_form(backward *f, struct expected *e, const struct test_problem *t, size_t form)
{
    backward_forms.now = form;
    for (size_t g = 0; g < GRADIENTS; g++)
        poison_fill(e->got[g], elements(&t->p, g));
    f(t, e->got[DQ], e->got[DK], e->got[DV]);
    for (size_t g = 0; g < GRADIENTS; g++)
        assert_right(e, g, t);
}

void assert_backward(backward *f, const struct test_problem *t)
{
    static size_t turns;  // of large problems
    if (problem_is_too_long(&t->p))
        return;
    const bool large = attention_rows(&t->p) * t->p.Nk * t->p.d > LARGE;
    const size_t next = large ? turns++ * backward_forms.turn : 0;
    struct expected e = expected_of(t);
    for (size_t k = 0; k < (large ? backward_forms.turn : backward_forms.count); k++)
        assert_form(f, &e, t, (next + k) % backward_forms.count);
    expected_free(&e);
}

static void at(backward *f, size_t B, size_t H, size_t Nq, size_t Nk, size_t d)
{
    struct test_problem t = problem_of(attention_of(B, H, H, Nq, Nk, d), 0, Nq * 1000 + Nk + d);
    assert_backward(f, &t);
    problem_free(&t);
}

void assert_backward_at_every_length(backward *f)
{
    static const size_t lengths[] = { 1,   2,   7,   63,  64,   65,   100,  127,
                                      129, 200, 511, 513, 1000, 1023, 1025, 2047 };
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
        at(f, 1, 1, lengths[k], lengths[k], 8);
}

void assert_backward_at_unequal_lengths(backward *f)
{
    static const size_t pairs[][2] = { { 113, 203 }, { 108, 256 }, { 256, 512 },   { 512, 256 },
                                       { 1, 239 },   { 799, 3 },   { 1023, 1024 }, { 1024, 1023 },
                                       { 1, 1 },     { 3, 799 } };
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++)
        at(f, 1, 1, pairs[k][0], pairs[k][1], 8);
}

void assert_backward_at_every_d(backward *f)
{
    static const size_t dims[] = { 1, 3, 16, 32, 40, 59, 64, 80, 96, 111, 128, 256 };
    static const size_t lengths[] = { 129, 65, 200 };
    for (size_t k = 0; k < sizeof dims / sizeof dims[0]; k++)
        for (size_t n = 0; n < sizeof lengths / sizeof lengths[0] && n < all_or_few(3, 1); n++)
            at(f, 1, 2, lengths[n], lengths[n], dims[k]);
}

void assert_backward_with_options(backward *f, unsigned options)
{
    const struct attention most = attention_of(2, 4, 4, 70, 70, 33);
    for (uint64_t seed = 1; seed <= all_or_few(200, 45); seed++) {
        unsigned some = random_options(seed, options);
        if (seed <= all_or_few(90, 27))  // first each alone, ten times
            some = options & 1U << seed % 9;
        struct test_problem t = random_problem(seed, most, some);
        assert_backward(f, &t);
        problem_free(&t);
    }
}

void assert_backward_at_random(backward *f, struct attention most, unsigned options,
                               size_t problems)
{
    for (uint64_t seed = 1; seed <= problems; seed++) {
        struct test_problem t = random_problem(seed, most, random_options(seed, options));
        assert_backward(f, &t);
        problem_free(&t);
    }
}

void assert_backward_gives_zeros(backward *f, const struct test_problem *t)
{
    const size_t queries = attention_query_elements(&t->p), keys = attention_key_elements(&t->p);
    float *dQ = allocate(queries, sizeof *dQ, "dQ"), *dK = allocate(keys, sizeof *dK, "dK");
    float *dV = allocate(keys, sizeof *dV, "dV");
    for (backward_forms.now = 0; backward_forms.now < backward_forms.count; backward_forms.now++) {
        poison_fill(dK, keys);
        poison_fill(dV, keys);
        f(t, dQ, dK, dV);
        for (size_t n = 0; n < keys; n++)
            cr_assert(!isnan(t->K[n]) || (dK[n] == 0.0f && dV[n] == 0.0f),
                      "%s%s: element %zu of a key that no query attends to: dK %g, dV %g",
                      problem_text(t), backward_forms.text, n, (double)dK[n], (double)dV[n]);
    }
    free(dQ);
    free(dK);
    free(dV);
}

void assert_backward_ignores_unseen_keys(backward *f, unsigned options)
{
    const struct attention most = attention_of(2, 4, 4, 40, 40, 17);
    size_t hidden = 0;
    for (uint64_t seed = 1; seed <= all_or_few(40, 15); seed++) {
        struct test_problem t = random_problem(seed, most, options);
        hidden += problem_poison_unseen_keys(&t);
        assert_backward(f, &t);
        assert_backward_gives_zeros(f, &t);
        problem_free(&t);
    }
    cr_assert(hidden > 100, "only %zu keys were hidden: this tests nothing", hidden);
}

void assert_backward_ignores_queries_that_see_nothing(backward *f, unsigned options)
{
    const struct attention most = attention_of(2, 4, 4, 70, 40, 17);
    size_t poisoned = 0;
    for (uint64_t seed = 1; seed <= all_or_few(40, 15); seed++) {
        struct test_problem t = random_problem(seed, most, options);
        struct expected e = expected_of(&t);  // of what it is before NaN is there
        poisoned += problem_poison_queries_that_see_nothing(&t);
        for (size_t form = 0; form < backward_forms.count; form++)
            assert_form(f, &e, &t, form);
        expected_free(&e);
        problem_free(&t);
    }
    cr_assert(poisoned > 100, "only %zu queries saw nothing: this tests nothing", poisoned);
}
