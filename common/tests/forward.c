#include "forward.h"

#include "memory.h"
#include "plain.h"
#include "reference.h"
#include "test.h"
#include "tolerance.h"

/* Fails, naming the problem, the array and the place, unless `got` is right. */
static void assert_right(const float *got, const double *right, const float *plain, size_t n,
                         const char *array, const struct test_problem *t)
{
    const struct difference d = difference_between(got, right, n);
    const struct allowance a = allowance_for(plain, right, n, FORWARD);
    cr_assert(within(d, a), "%s: %s[%zu] is %.9g, expected %.9g (off by up to %.2g, allowed %.2g)",
              problem_text(t), array, d.worst, d.got, d.expected, d.max_abs, a.max_abs);
}

void assert_forward(forward *f, const struct test_problem *t)
{
    const size_t n = attention_query_elements(&t->p), rows = attention_rows(&t->p);
    float *O = allocate(n, sizeof *O, "O"), *lse = allocate(rows, sizeof *lse, "lse");
    float *plain = allocate(n, sizeof *plain, "O"), *plain_lse = allocate(rows, sizeof *lse, "lse");
    double *right = allocate(n, sizeof *right, "O"),
           *right_lse = allocate(rows, sizeof *right, "lse");
    tolerance_poison(O, n);
    tolerance_poison(lse, rows);
    f(&t->p, t->Q, t->K, t->V, O, lse);
    reference_forward(&t->p, t->Q, t->K, t->V, right, right_lse);
    plain_forward(&t->p, t->Q, t->K, t->V, plain, plain_lse);
    assert_right(O, right, plain, n, "O", t);
    assert_right(lse, right_lse, plain_lse, rows, "lse", t);

    tolerance_poison(O, n);  // lse may be left out
    f(&t->p, t->Q, t->K, t->V, O, NULL);
    assert_right(O, right, plain, n, "O without lse", t);
    free(O);
    free(lse);
    free(plain);
    free(plain_lse);
    free(right);
    free(right_lse);
}

static void at(forward *f, size_t B, size_t H, size_t Nq, size_t Nk, size_t d)
{
    struct test_problem t = problem_of(attention_of(B, H, H, Nq, Nk, d), 0, Nq * 1000 + Nk + d);
    assert_forward(f, &t);
    problem_free(&t);
}

void assert_forward_at_every_size(forward *f)
{
    static const size_t lengths[] = { 1,   2,   7,   63,  64,   65,   100,  127,
                                      129, 200, 511, 513, 1000, 1023, 1025, 2047 };
    static const size_t pairs[][2] = { { 113, 203 }, { 108, 256 }, { 256, 512 },   { 512, 256 },
                                       { 1, 239 },   { 799, 3 },   { 1023, 1024 }, { 1024, 1023 },
                                       { 1, 1 },     { 3, 799 } };
    static const size_t dims[] = { 1, 3, 16, 32, 40, 59, 64, 80, 96, 111, 128, 256 };
    static const size_t at_lengths[] = { 65, 129, 200 };
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
        at(f, 1, 1, lengths[k], lengths[k], 16);
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++)
        at(f, 1, 1, pairs[k][0], pairs[k][1], 16);
    for (size_t k = 0; k < sizeof dims / sizeof dims[0]; k++)
        for (size_t n = 0; n < sizeof at_lengths / sizeof at_lengths[0]; n++)
            at(f, 1, 2, at_lengths[n], at_lengths[n], dims[k]);
}

void assert_forward_with_options(forward *f, unsigned options)
{
    const struct attention most = attention_of(2, 4, 4, 70, 70, 33);
    for (uint64_t seed = 1; seed <= 200; seed++) {
        unsigned some = random_options(seed, options);
        if (seed <= 90)  // first each alone, ten times
            some = options & 1U << seed % 9;
        struct test_problem t = random_problem(seed, most, some);
        assert_forward(f, &t);
        problem_free(&t);
    }
}

void assert_forward_ignores_unseen_keys(forward *f, unsigned options)
{
    const struct attention most = attention_of(2, 4, 4, 40, 40, 17);
    size_t hidden = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct test_problem t = random_problem(seed, most, options);
        hidden += problem_poison_unseen_keys(&t);
        assert_forward(f, &t);
        problem_free(&t);
    }
    cr_assert(hidden > 100, "only %zu keys were hidden: this tests nothing", hidden);
}
