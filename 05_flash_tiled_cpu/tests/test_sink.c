/*
 * A sink is a key without a value whose score is the same for every query. One more column makes
 * such a key: 1 in Q, 0 in K, and sink / scale in the key. So the reference covers it, forward and
 * backward.
 */
#include "05_flash_tiled_cpu/steps/sink.h"

#include "05_flash_tiled_cpu/tests/tiles.h"
#include "common/check/reference.h"
#include "common/cpu/memory.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HEADS = 4 };

/* The sinks of the query heads: below, among and above the scores. */
static const float sinks[MOST_HEADS] = { -3.0f, 0.5f, 2.0f, 9.0f };

/* The problem with a head of K and V for each query head, a key more, which comes first, and a column more. */
static struct test_problem with_sink_as_key(const struct test_problem *t)
{
    const struct attention *p = &t->p;
    const size_t d = p->d, keys = p->Nk + 1;
    struct attention q = attention_of(p->B, p->H, p->H, p->Nq, keys, d + 1);
    q.scale = p->scale;
    q.causal = p->causal;
    struct test_problem more = problem_of(q, p->key_mask ? WITH_KEY_MASK : 0, t->seed);
    memset(more.K, 0, attention_key_elements(&q) * sizeof(float));
    memset(more.V, 0, attention_key_elements(&q) * sizeof(float));
    for (size_t row = 0; row < attention_rows(p); row++) {
        memcpy(more.Q + row * (d + 1), t->Q + row * d, d * sizeof(float));
        memcpy(more.dO + row * (d + 1), t->dO + row * d, d * sizeof(float));
        more.Q[row * (d + 1) + d] = 1.0f;
    }
    for (size_t n = 0; n < p->B * p->H; n++) {
        const size_t b = n / p->H, h = n % p->H;
        const size_t to = n * keys * (d + 1), from = (b * p->Hkv + kv_head(p, h)) * p->Nk * d;
        more.K[to + d] = sinks[h] / p->scale;
        for (size_t j = 0; j < p->Nk; j++) {
            memcpy(more.K + to + (j + 1) * (d + 1), t->K + from + j * d, d * sizeof(float));
            memcpy(more.V + to + (j + 1) * (d + 1), t->V + from + j * d, d * sizeof(float));
        }
    }
    for (size_t b = 0; p->key_mask && b < p->B; b++) {
        more.key_mask[b * keys] = 1;
        memcpy(more.key_mask + b * keys + 1, t->key_mask + b * p->Nk, p->Nk);
    }
    return more;
}

/* d is a power of 4, so that sink / scale is a float; Nk >= Nq, so that in causal order all queries attend to the sink. */
static struct test_problem problem_with(uint64_t seed)
{
    const size_t Nq = 1 + seed * 7 % 40;
    struct attention p = attention_of(2, 4, seed % 2 ? 2 : 4, Nq, Nq + seed % 9, seed % 3 ? 16 : 4);
    p.causal = seed % 4 > 1;
    return problem_of(p, seed % 5 ? WITH_KEY_MASK : 0, seed);
}

/* Runs into poisoned arrays. */
static void run(const struct test_problem *t, struct tile_size size, float *O, float *lse)
{
    poison_fill(O, attention_query_elements(&t->p));
    poison_fill(lse, attention_rows(&t->p));
    sink_attention(&t->p, size, sinks, problem_tensors(t, O, lse));
}

TEST(sink, is_a_key_without_a_value)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct test_problem t = problem_with(seed), more = with_sink_as_key(&t);
        const size_t d = t.p.d, rows = attention_rows(&t.p);
        float *O = allocate(rows * d, sizeof *O, "O"), *lse = allocate(rows, sizeof *lse, "lse");
        double *right = allocate(rows * (d + 1), sizeof *right, "O"),
               *right_lse = allocate(rows, sizeof *right_lse, "lse");
        run(&t, (struct tile_size){ 1 + seed % 6, 1 + seed % 11 }, O, lse);
        reference_forward(&more.p, more.Q, more.K, more.V, right, right_lse);
        for (size_t n = 0; n < rows * d; n++)
            cr_assert(fabs((double)O[n] - right[n / d * (d + 1) + n % d]) <= 2e-6,
                      "%s: O[%zu] is %.9g, expected %.9g", problem_text(&t), n, (double)O[n],
                      right[n / d * (d + 1) + n % d]);
        for (size_t row = 0; row < rows; row++)
            cr_assert(fabs((double)lse[row] - right_lse[row]) <= 4e-6,
                      "%s: lse[%zu] is %.9g, expected %.9g", problem_text(&t), row,
                      (double)lse[row], right_lse[row]);
        free(right_lse);
        free(right);
        free(lse);
        free(O);
        problem_free(&more);
        problem_free(&t);
    }
}

TEST(sink, has_the_gradient_of_that_key)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct test_problem t = problem_with(seed), more = with_sink_as_key(&t);
        const size_t d = t.p.d, rows = attention_rows(&t.p), Nq = t.p.Nq;
        float *O = allocate(rows * d, sizeof *O, "O"), *lse = allocate(rows, sizeof *lse, "lse"),
              *D = allocate(rows, sizeof *D, "D");
        struct reference_results r = reference_results_of(&more);
        run(&t, (struct tile_size){ 8, 8 }, O, lse);
        for (size_t row = 0; row < rows; row++) {
            D[row] = 0.0f;
            for (size_t k = 0; k < d; k++)
                D[row] += t.dO[row * d + k] * O[row * d + k];
        }
        for (size_t n = 0; n < t.p.B * t.p.H; n++) {
            const float got = sink_gradient(sinks[n % t.p.H], lse + n * Nq, D + n * Nq, Nq);
            const double right = r.dK[n * (t.p.Nk + 1) * (d + 1) + d] / (double)t.p.scale;
            cr_assert(fabs((double)got - right) <= 2e-5,
                      "%s, head %zu: dsink is %.9g, expected %.9g", problem_text(&t), n,
                      (double)got, right);
        }
        reference_results_free(&r);
        free(D);
        free(lse);
        free(O);
        problem_free(&more);
        problem_free(&t);
    }
}
