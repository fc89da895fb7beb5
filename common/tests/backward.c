#include "common/tests/backward.h"

#include "common/check/gradient_check.h"
#include "common/cpu/memory.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdlib.h>

struct backward_forms backward_forms = { .count = 1, .turn = 1 };

enum { LARGE = 200000 };  // multiply-adds of Q K^T

static size_t elements(const struct attention *p, size_t g)
{
    return g == DQ ? attention_query_elements(p) : attention_key_elements(p);
}

static void gradients_new(const struct attention *p, float *got[GRADIENTS])
{
    for (size_t g = 0; g < GRADIENTS; g++)
        got[g] = allocate(elements(p, g), sizeof *got[g], "a gradient");
}

static void gradients_free(float *got[GRADIENTS])
{
    for (size_t g = 0; g < GRADIENTS; g++)
        free(got[g]);
}

static struct gradient_check check_of(const struct test_problem *t)
{
    const struct attention_input input = { .p = t->p, .Q = t->Q, .K = t->K, .V = t->V };
    return gradient_check_begin(&input, t->dO, true);
}

/* Fails, naming problem, form, array and element, unless a gradient is right. */
static void assert_right(const struct comparison *c, const struct test_problem *t)
{
    const struct difference *d = &c->difference;
    const size_t at = d->mismatched ? d->worst : d->farthest;
    const size_t row = c->axes.rows[at / c->axes.row_length];
    char place[100];
    cr_assert(
        is_explained(*d),
        "%s%s: %s [%s] is %.9g, expected %.9g (%zu are no numbers or not written; the error is "
        "%.3g of what rounding explains)",
        problem_text(t), backward_forms.text, c->of,
        coordinates_of(row * c->axes.row_length + at % c->axes.row_length, c->axes.dims,
                       c->axes.shape, place, sizeof place),
        (double)c->got[at], c->expected[at].value, d->mismatched, d->explained);
}

static void assert_form(backward *f, const struct gradient_check *check,
                        float *const got[GRADIENTS], const struct test_problem *t, size_t form)
{
    backward_forms.now = form;
    for (size_t g = 0; g < GRADIENTS; g++)
        poison_fill(got[g], elements(&t->p, g));
    f(t, got[DQ], got[DK], got[DV]);
    struct gradient_check of_form = *check;
    of_form.stored = backward_forms.stored;
    struct gradient_verdict v = gradient_verdict_of(&of_form, got, "the stage before", NULL);
    for (size_t g = 0; g < GRADIENTS; g++)
        assert_right(&v.pairs[g].reference, t);
    gradient_verdict_end(&v);
}

void assert_backward(backward *f, const struct test_problem *t)
{
    static size_t turns = 3;  // of large problems: the first tiles are tiny
    const size_t pairs = attention_rows(&t->p) * t->p.Nk;
    if (problem_is_too_long(&t->p) || (backward_forms.most && pairs > backward_forms.most))
        return;
    const bool large = pairs * t->p.d > LARGE;
    const size_t next = large ? turns++ * backward_forms.turn : 0;
    struct gradient_check check = check_of(t);
    float *got[GRADIENTS];
    gradients_new(&t->p, got);
    for (size_t k = 0; k < (large ? backward_forms.turn : backward_forms.count); k++)
        assert_form(f, &check, got, t, (next + k) % backward_forms.count);
    gradients_free(got);
    gradient_check_end(&check);
}

static void at(backward *f, size_t B, size_t H, size_t Nq, size_t Nk, size_t d)
{
    struct test_problem t = problem_of(attention_of(B, H, H, Nq, Nk, d), 0, Nq * 1000 + Nk + d);
    assert_backward(f, &t);
    problem_free(&t);
}

void assert_backward_at_every_length(backward *f)
{
    static const size_t lengths[] = { 1, 2, 7, 63, 64, 65, 100, 127, 129, 200, 511, 513 };
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
        at(f, 1, 1, lengths[k], lengths[k], 8);
}

void assert_backward_at_unequal_lengths(backward *f)
{
    static const size_t pairs[][2] = { { 113, 203 },   { 108, 256 }, { 256, 512 },
                                       { 512, 256 },   { 1, 239 },   { 799, 3 },
                                       { 1023, 1024 }, { 3, 799 },   { 1, 1 } };
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++)
        at(f, 1, 1, pairs[k][0], pairs[k][1], 8);
}

void assert_backward_at_every_d(backward *f)
{
    static const size_t dims[] = { 1, 3, 16, 32, 40, 59, 64, 80, 96, 111, 128, 256 };
    static const size_t lengths[] = { 129, 65, 200 };
    for (size_t k = 0; k < sizeof dims / sizeof dims[0]; k += all_or_few(1, 5))
        for (size_t n = 0; n < sizeof lengths / sizeof lengths[0] && n < all_or_few(3, 1); n++)
            at(f, 1, 2, lengths[n], lengths[n], dims[k]);
}

void assert_backward_with_options(backward *f, unsigned options)
{
    const struct attention most = attention_of(2, 4, 4, 70, 70, 33);
    for (uint64_t seed = 1; seed <= all_or_few(120, 45); seed++) {
        unsigned some = random_options(seed, options);
        if (seed <= all_or_few(54, 27))  // each option alone first, six times
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
        struct gradient_check check = check_of(&t);  // before the poisoning
        float *got[GRADIENTS];
        gradients_new(&t.p, got);
        poisoned += problem_poison_queries_that_see_nothing(&t);
        for (size_t form = 0; form < backward_forms.count; form++)
            assert_form(f, &check, got, &t, form);
        gradients_free(got);
        gradient_check_end(&check);
        problem_free(&t);
    }
    cr_assert(poisoned > 100, "only %zu queries saw nothing: this tests nothing", poisoned);
}
