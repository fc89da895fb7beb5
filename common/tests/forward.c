#include "common/tests/forward.h"

#include "common/check/attention_check.h"
#include "common/cpu/memory.h"
#include "common/files/npy.h"
#include "common/tests/test.h"

#include <math.h>

#include <stdlib.h>

struct forward_forms forward_forms = { .count = 1 };

enum { LARGE = 4000000 };  // multiply-adds of Q K^T

/* Fails, naming problem, form, array and element, unless the comparison is right. */
static void assert_right(const struct comparison *c, const char *array,
                         const struct test_problem *t)
{
    const struct difference *d = &c->difference;
    const size_t at = d->mismatched ? d->worst : d->farthest;
    const size_t row = c->axes.rows[at / c->axes.row_length];
    char place[100];
    cr_assert(
        is_explained(*d),
        "%s%s: %s [%s] is %.9g, expected %.9g (%zu are no numbers or not written; the error is "
        "%.3g of what rounding explains)",
        problem_text(t), forward_forms.text, array,
        coordinates_of(row * c->axes.row_length + at % c->axes.row_length, c->axes.dims,
                       c->axes.shape, place, sizeof place),
        (double)c->got[at], c->expected[at].value, d->mismatched, d->explained);
}

static struct attention_check check_of(const struct test_problem *t)
{
    const struct attention_input input = { .p = t->p, .Q = t->Q, .K = t->K, .V = t->V };
    return attention_check_begin(&input, true);
}

static void assert_form(forward *f, const struct test_problem *t,
                        const struct attention_check *check, float *O, float *lse)
{
    const size_t n = attention_query_elements(&t->p), rows = attention_rows(&t->p);
    poison_fill(O, n);
    if (lse)
        poison_fill(lse, rows);
    f(&t->p, t->Q, t->K, t->V, O, lse);
    struct attention_verdict v = attention_verdict_of(
        check, O, forward_forms.without_lse ? NULL : lse, "the stage before", NULL);
    assert_right(&v.reference, lse ? "O" : "O without lse", t);
    if (v.lse.with)
        assert_right(&v.lse, "lse", t);
    attention_verdict_end(v);
}

void assert_forward(forward *f, const struct test_problem *t)
{
    static size_t turns[2] = {
        0, 3
    };  // of small problems, and of large ones: the first tiles are tiny
    const struct attention *p = &t->p;
    const bool large = attention_rows(p) * p->Nk * p->d > LARGE;
    if ((forward_forms.can && !forward_forms.can(p)) || problem_is_too_long(p))
        return;
    forward_forms.done++;
    float *O = allocate(attention_query_elements(p), sizeof *O, "O");
    float *lse = allocate(attention_rows(p), sizeof *lse, "lse");
    struct attention_check check = check_of(t);
    const size_t next = turns[large]++ % forward_forms.count;
    for (size_t k = 0; k < (large ? 1 : forward_forms.count); k++) {
        forward_forms.now = large ? next : k;
        assert_form(f, t, &check, O, lse);
    }
    if (!large) {
        forward_forms.now = next;
        assert_form(f, t, &check, O, NULL);  // lse is optional
    }
    attention_check_end(&check);
    free(O);
    free(lse);
}

static const size_t lengths[] = { 1, 2, 7, 63, 64, 65, 100, 127, 129, 200, 511, 513 };
static const size_t pairs[][2] = { { 113, 203 },   { 108, 256 }, { 256, 512 },
                                   { 512, 256 },   { 1, 239 },   { 799, 3 },
                                   { 1023, 1024 }, { 3, 799 },   { 1, 1 } };
static const size_t at_lengths[] = { 129, 65, 200 };

/* The problem p with these sizes. SHORT=yes skips the largest. */
static void at(forward *f, struct attention p, size_t H, size_t Nq, size_t Nk, size_t d)
{
    if (Nq * Nk > all_or_few(SIZE_MAX, 20000))
        return;
    struct attention this = attention_of(1, H, H, Nq, Nk, d);
    this.dtype = p.dtype;
    struct test_problem t = problem_of(this, 0, Nq * 1000 + Nk + d);
    assert_forward(f, &t);
    problem_free(&t);
}

static void at_all_lengths(forward *f, struct attention p)
{
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
        at(f, p, 1, lengths[k], lengths[k], p.d);
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++)
        at(f, p, 1, pairs[k][0], pairs[k][1], p.d);
}

void assert_forward_at_lengths(forward *f, struct attention p)
{
    at_all_lengths(f, p);
    for (size_t n = 0; n < sizeof at_lengths / sizeof at_lengths[0]; n++)
        at(f, p, 2, at_lengths[n], at_lengths[n], 2 * p.d);
}

void assert_forward_at_every_size(forward *f)
{
    static const size_t dims[] = { 1, 3, 16, 32, 40, 59, 64, 80, 96, 111, 128, 256 };
    const struct attention p = attention_of(1, 1, 1, 1, 1, 16);
    at_all_lengths(f, p);
    for (size_t k = 0; k < sizeof dims / sizeof dims[0]; k += all_or_few(1, 5))
        for (size_t n = 0; n < sizeof at_lengths / sizeof at_lengths[0] && n < all_or_few(3, 1);
             n++)
            at(f, p, 2, at_lengths[n], at_lengths[n], dims[k]);
}

void assert_forward_with_options(forward *f, unsigned options)
{
    const struct attention most = attention_of(2, 4, 4, 70, 70, 33);
    for (uint64_t seed = 1; seed <= all_or_few(120, 18); seed++) {
        unsigned some = random_options(seed, options);
        if (seed <= all_or_few(54, 9))  // each option alone first, six times
            some = options & 1U << seed % 9;
        struct test_problem t = random_problem(seed, most, some);
        assert_forward(f, &t);
        problem_free(&t);
    }
}

void assert_forward_at_random(forward *f, struct attention most, unsigned options, size_t problems)
{
    for (uint64_t seed = 1; seed <= problems; seed++) {
        struct test_problem t = random_problem(seed, most, random_options(seed, options));
        assert_forward(f, &t);
        problem_free(&t);
    }
}

void assert_forward_ignores_unseen_keys(forward *f, unsigned options)
{
    const struct attention most = attention_of(2, 4, 4, 40, 40, 17);
    size_t hidden = 0;
    for (uint64_t seed = 1; seed <= all_or_few(60, 20); seed++) {
        struct test_problem t = random_problem(seed, most, options);
        hidden += problem_poison_unseen_keys(&t);
        assert_forward(f, &t);
        problem_free(&t);
    }
    cr_assert(hidden > 100, "only %zu keys were hidden: this tests nothing", hidden);
}

static struct npy course_array(const char *path)
{
    struct npy a;
    struct file_error error;
    cr_assert(npy_read(path, &a, &error), "%s: %s", path, error.text);
    return a;
}

void assert_forward_of_the_real_input(forward *f)
{
    struct npy Q = course_array("common/data/q.npy"), K = course_array("common/data/k.npy");
    struct npy V = course_array("common/data/v.npy"), right = course_array("common/data/o.npy");
    struct npy mask = course_array("common/data/key_mask.npy");
    struct attention p = attention_of(2, 4, 4, 164, 164, 32);
    float *O = allocate(right.count, sizeof *O, "O");
    p.key_mask = mask.data;
    for (size_t k = 0; k < forward_forms.count; k++) {
        forward_forms.now = k;
        poison_fill(O, right.count);
        f(&p, Q.data, K.data, V.data, O, NULL);
        for (size_t n = 0; n < right.count; n++)
            cr_assert(fabsf(O[n] - ((float *)right.data)[n]) <= 5e-6f,
                      "the real input%s: element %zu is %.9g, not %.9g", forward_forms.text, n,
                      (double)O[n], (double)((float *)right.data)[n]);
    }
    free(O);
    npy_free(&Q);
    npy_free(&K);
    npy_free(&V);
    npy_free(&right);
    npy_free(&mask);
}
