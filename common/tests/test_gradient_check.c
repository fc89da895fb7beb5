#include "common/check/gradient_check.h"
#include "common/check/plain.h"
#include "common/check/reference.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/tests/problems.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct attention_input input_of(const struct test_problem *t)
{
    return (struct attention_input){ .p = t->p, .Q = t->Q, .K = t->K, .V = t->V };
}

/* The textbook's gradients; free() them. */
struct three {
    float *of[GRADIENTS];
};

static struct three plain_of(const struct test_problem *t)
{
    const size_t queries = attention_query_elements(&t->p), keys = attention_key_elements(&t->p);
    struct three g = { { allocate(queries, sizeof(float), "dQ"),
                         allocate(keys, sizeof(float), "dK"),
                         allocate(keys, sizeof(float), "dV") } };
    plain_backward(&t->p, t->Q, t->K, t->V, t->dO, g.of[DQ], g.of[DK], g.of[DV]);
    return g;
}

static void three_free(struct three *g)
{
    for (size_t n = 0; n < GRADIENTS; n++)
        free(g->of[n]);
}

TEST(gradient_check, lets_the_textbook_pass_under_every_option)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct test_problem t = random_problem(seed, attention_of(2, 4, 4, 20, 20, 9),
                                               random_options(seed, WITH_EVERYTHING));
        const struct attention_input input = input_of(&t);
        struct gradient_check check = gradient_check_begin(&input, t.dO, false);
        struct three g = plain_of(&t);
        const struct attention_errors e = gradient_check_errors(&check, g.of, NULL);
        cr_assert(e.right && !e.has_previous && e.reference < 1e-3, "%s: right %d, off by %g",
                  problem_text(&t), e.right, e.reference);
        three_free(&g);
        gradient_check_end(&check);
        problem_free(&t);
    }
}

/*
 * Each weight after a key with nearly all of it is less than half an ulp of l, and is lost: so all
 * weights are 2e-4 too large, and all of dV with them.
 */
TEST(gradient_check, lets_a_sum_lose_weights_that_are_too_small_for_it)
{
    const struct attention p = attention_of(1, 1, 1, 4, 16384, 16);
    struct test_problem t = problem_of(p, 0, 1);
    for (size_t k = 0; k < attention_query_elements(&p); k++)
        t.Q[k] = 1.0f + 0.01f * t.Q[k];
    for (size_t k = 0; k < attention_key_elements(&p); k++)
        t.K[k] *= 0.01f;
    for (size_t c = 0; c < p.d; c++)
        t.K[8192 * p.d + c] = 17.5f / 4.0f;
    const struct attention_input input = input_of(&t);
    struct gradient_check check = gradient_check_begin(&input, t.dO, true);
    struct three g = plain_of(&t);
    cr_assert(gradient_check_errors(&check, g.of, NULL).right);
    for (size_t k = 0; k < attention_key_elements(&p); k += 20)
        g.of[DV][k] *= 1.01f;
    cr_assert(!gradient_check_errors(&check, g.of, NULL).right);
    three_free(&g);
    gradient_check_end(&check);
    problem_free(&t);
}

/*
 * float16 ends at 65504; larger gradients are stored as infinite. An infinity where the number
 * fits, or of the wrong sign, is wrong.
 */
TEST(gradient_check, takes_an_infinite_float16_for_right_only_where_the_number_does_not_fit)
{
    struct attention p = attention_of(1, 1, 1, 20, 1, 16);  // with a single key dV is the sum of dO
    p.dtype = DTYPE_F16;
    struct test_problem t = problem_of(p, 0, 1);
    for (size_t k = 0; k < attention_query_elements(&p); k++)
        t.dO[k] *= 2e4f;
    const struct attention_input input = input_of(&t);
    struct gradient_check check = gradient_check_begin(&input, t.dO, true);
    check.stored = DTYPE_F16;
    struct three g = plain_of(&t);
    size_t large = 0, little = 0;
    for (size_t k = 0; k < p.d; k++)
        if (fabsf(g.of[DV][k]) < 60000.0f)
            little = k;
        else if (fabsf(g.of[DV][k]) >= 65520.0f) {
            large = k;
            g.of[DV][k] = copysignf(INFINITY, g.of[DV][k]);
        }
    cr_assert(isinf(g.of[DV][large]) && isfinite(g.of[DV][little]));
    cr_assert(gradient_check_errors(&check, g.of, NULL).right);
    g.of[DV][large] = -g.of[DV][large];
    cr_assert(!gradient_check_errors(&check, g.of, NULL).right);
    g.of[DV][large] = -g.of[DV][large];
    g.of[DV][little] = copysignf(INFINITY, g.of[DV][little]);
    cr_assert(!gradient_check_errors(&check, g.of, NULL).right);
    three_free(&g);
    gradient_check_end(&check);
    problem_free(&t);
}

/* With 16 bits the textbook is off by the cost of rounding, in float16 an eighth of bfloat16's. */
TEST(gradient_check, knows_what_16_bits_cost)
{
    double off[DTYPES];
    for (enum dtype type = DTYPE_BF16; type <= DTYPE_F16; type++) {
        struct attention p = attention_of(1, 1, 1, 60, 70, 16);
        attention_set_dropout(&p, 0.2, 1);
        p.dtype = type;
        struct test_problem t = problem_of(p, 0, 1);
        const struct attention_input input = input_of(&t);
        struct gradient_check check = gradient_check_begin(&input, t.dO, true);
        struct three g = plain_of(&t);
        off[type] = gradient_check_errors(&check, g.of, NULL).reference;
        cr_assert(gradient_check_errors(&check, g.of, NULL).right);
        g.of[DK][5] += 16.0f * (float)off[type];
        cr_assert(!gradient_check_errors(&check, g.of, NULL).right,
                  "%s: an error of 16 times the textbook's is allowed", dtype_name(type));
        three_free(&g);
        gradient_check_end(&check);
        problem_free(&t);
    }
    cr_assert(off[DTYPE_BF16] > 5e-4 && off[DTYPE_BF16] < 2e-2 &&
                  off[DTYPE_BF16] > 4.0 * off[DTYPE_F16] && off[DTYPE_BF16] < 16.0 * off[DTYPE_F16],
              "bfloat16 is off by %g, float16 by %g", off[DTYPE_BF16], off[DTYPE_F16]);
}

TEST(gradient_check, finds_one_wrong_element_in_any_gradient_and_nan)
{
    struct test_problem t = problem_of(attention_of(2, 4, 2, 20, 15, 9), 0, 1);
    const struct attention_input input = input_of(&t);
    struct gradient_check check = gradient_check_begin(&input, t.dO, false);
    struct three good = plain_of(&t);
    for (size_t g = 0; g < GRADIENTS; g++)
        for (int nan = 0; nan < 2; nan++) {
            struct three bad = plain_of(&t);
            bad.of[g][77] = nan ? NAN : bad.of[g][77] + 1e-3f;
            const struct attention_errors e = gradient_check_errors(&check, bad.of, good.of);
            cr_assert(!e.right && e.has_previous, "array %zu: a wrong element goes unseen", g);
            cr_assert(nan ? isnan(e.reference) : fabs(e.reference - 1e-3) < 1e-5,
                      "array %zu: off by %g", g, e.reference);
            three_free(&bad);
        }
    const struct attention_errors e = gradient_check_errors(&check, good.of, good.of);
    cr_assert(e.right && e.previous == 0.0, "the same twice differs by %g", e.previous);
    three_free(&good);
    gradient_check_end(&check);
    problem_free(&t);
}

/* Only rounding is allowed: 0.1 % too much is found. */
TEST(gradient_check, finds_a_wrong_factor)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct test_problem t =
            random_problem(seed, attention_of(1, 2, 2, 60, 60, 16), WITH_UNEQUAL_LENGTHS);
        if (t.p.Nk < 3) {
            problem_free(&t);
            continue;
        }
        const struct attention_input input = input_of(&t);
        struct gradient_check check = gradient_check_begin(&input, t.dO, false);
        for (size_t g = 0; g < GRADIENTS; g++) {
            struct three bad = plain_of(&t);
            for (size_t n = 0;
                 n < (g == DQ ? attention_query_elements(&t.p) : attention_key_elements(&t.p)); n++)
                bad.of[g][n] *= 1.001f;
            cr_assert(!gradient_check_errors(&check, bad.of, NULL).right,
                      "%s: array %zu, 0.1 %% too large, passes", problem_text(&t), g);
            three_free(&bad);
        }
        gradient_check_end(&check);
        problem_free(&t);
    }
}

/*
 * With few queries and many keys, weights and their roundings are small: one ulp of an element of V
 * would be a tenth of dK.
 */
TEST(gradient_check, finds_a_wrong_factor_in_16_bits_where_few_queries_see_many_keys)
{
    const size_t sizes[][2] = { { 1, 239 }, { 1, 1000 }, { 3, 799 } };
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct attention p = attention_of(1, 1, 1, sizes[seed % 3][0], sizes[seed % 3][1], 64);
        p.dtype = seed % 2 ? DTYPE_BF16 : DTYPE_F16;
        struct test_problem t = problem_of(p, 0, seed);
        const struct attention_input input = input_of(&t);
        struct gradient_check check = gradient_check_begin(&input, t.dO, true);
        struct three g = plain_of(&t);
        cr_assert(gradient_check_errors(&check, g.of, NULL).right, "%s: the textbook is wrong",
                  problem_text(&t));
        for (size_t k = 0; k < GRADIENTS; k++) {
            const size_t n =
                k == DQ ? attention_query_elements(&t.p) : attention_key_elements(&t.p);
            for (size_t e = 0; e < n; e++)
                g.of[k][e] *= 0.9f;
            cr_assert(!gradient_check_errors(&check, g.of, NULL).right,
                      "%s: array %zu, a tenth too small, passes", problem_text(&t), k);
            for (size_t e = 0; e < n; e++)
                g.of[k][e] /= 0.9f;
        }
        three_free(&g);
        gradient_check_end(&check);
        problem_free(&t);
    }
}

static struct some_rows all_rows(size_t count, size_t *room)
{
    for (size_t k = 0; k < count; k++)
        room[k] = k;
    return (struct some_rows){ room, count };
}

/* What a row is expected to be depends neither on which others are wanted nor on threads. */
TEST(gradient_check, has_the_same_samples_with_any_number_of_threads)
{
    enum { D = 9, QUERIES = 600, KEYS = 120 };
    static struct exact all[3][QUERIES * D];
    static size_t room[2][QUERIES];
    const size_t usual = threads_in_use(), i[] = { 0, 7, 7, 150, 420, 599 }, j[] = { 60, 60, 119 };
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct attention p = attention_of(1, 4, 2, QUERIES / 4, KEYS / 2, D);
        p.dtype = seed % 2 ? DTYPE_BF16 : DTYPE_F32;
        p.causal = seed >= 2;
        struct test_problem t = problem_of(p, seed >= 4 ? WITH_KEY_MASK : 0, seed);
        struct reference_results r = reference_results_of(&t);
        rounding_backward(&t.p, t.Q, t.K, t.V, t.dO, all_rows(QUERIES, room[0]),
                          all_rows(KEYS, room[1]), all[DQ], all[DK], all[DV]);
        for (size_t n = 0; n < QUERIES * D; n++)
            cr_assert(all[DQ][n].value == r.dQ[n], "%s: element %zu of dQ", problem_text(&t), n);
        for (size_t n = 0; n < KEYS * D; n++)
            cr_assert(all[DK][n].value == r.dK[n] && all[DV][n].value == r.dV[n],
                      "%s: element %zu of dK or dV", problem_text(&t), n);
        for (size_t threads = 1; threads < 8; threads++) {
            struct exact dQ[6 * D], dK[3 * D], dV[3 * D];
            threads_use(threads);
            rounding_backward(&t.p, t.Q, t.K, t.V, t.dO, (struct some_rows){ i, 6 },
                              (struct some_rows){ j, 3 }, dQ, dK, dV);
            for (size_t k = 0; k < 6; k++)
                cr_assert(memcmp(dQ + k * D, all[DQ] + i[k] * D, D * sizeof *dQ) == 0,
                          "%s: %zu threads, row %zu of dQ", problem_text(&t), threads, i[k]);
            for (size_t k = 0; k < 3; k++)
                cr_assert(memcmp(dK + k * D, all[DK] + j[k] * D, D * sizeof *dK) == 0 &&
                              memcmp(dV + k * D, all[DV] + j[k] * D, D * sizeof *dV) == 0,
                          "%s: %zu threads, row %zu of dK and dV", problem_text(&t), threads, j[k]);
        }
        threads_use(usual);
        reference_results_free(&r);
        problem_free(&t);
    }
}
