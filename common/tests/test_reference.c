#include "common/check/reference.h"

#include "common/cpu/memory.h"
#include "common/tests/problems.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void assert_near(const double *got, const double *expected, size_t count, double tolerance,
                        const char *what)
{
    size_t at;
    const double difference = largest_difference(got, expected, count, &at);
    cr_assert(difference <= tolerance, "%s: element %zu is %.17g, expected %.17g", what, at,
              got[at], expected[at]);
}

/* ---- softmax ---------------------------------------------------------------------------------- */

TEST(reference_softmax, is_as_worked_by_hand)
{
    const float x[] = { 1.0f, 2.0f, 3.0f, 4.0f };
    const double expected[] = { 0.0321, 0.0871, 0.2369, 0.6439 };
    double y[4];
    reference_softmax(x, y, 1, 4);
    assert_near(y, expected, 4, 0.00005, "softmax of 1, 2, 3, 4");
}

TEST(reference_softmax, of_scores_beyond_the_range_of_exp_is_right)
{
    const float x[] = {
        1.0f, 2.0f, 300.0f, 10001.0f, 10000.0f, 10000.0f, -2e10f, -INFINITY, -3e10f
    };
    const double e = exp(1.0), third = 1.0 / (e + 2.0);
    const double expected[] = { exp(-299.0), exp(-298.0), 1.0, e * third, third,
                                third,       1.0,         0.0, 0.0 };
    double y[9];
    reference_softmax(x, y, 3, 3);
    assert_near(y, expected, 9, 1e-15, "softmax of large, larger and very negative rows");
    cr_assert(fabs(y[0] / expected[0] - 1.0) < 1e-13, "e^-299 has become %.17g", y[0]);
}

TEST(reference_softmax, gives_minus_infinity_no_weight)
{
    const float x[] = { -INFINITY, 0.0f, 0.0f, 5.0f, -INFINITY, -INFINITY };
    const double expected[] = { 0.0, 0.5, 0.5, 1.0, 0.0, 0.0 };
    double y[6];
    reference_softmax(x, y, 2, 3);
    assert_near(y, expected, 6, 0.0, "softmax of rows with -inf");
}

TEST(reference_softmax, is_nan_where_ieee_says_so_and_in_no_other_row)
{
    const float x[] = {
        -INFINITY, -INFINITY, -INFINITY,  // all -inf
        INFINITY,  1.0f,      2.0f,       // infinity over infinity
        1.0f,      INFINITY,  -INFINITY,  //
        INFINITY,  INFINITY,  INFINITY,   //
        NAN,       1.0f,      2.0f,       // NaN first …
        1.0f,      2.0f,      NAN,        // … and last
        7.0f,      7.0f,      -INFINITY,  // finite
    };
    const double half[] = { 0.5, 0.5, 0.0 };
    double y[21];
    memset(y, 0, sizeof y);
    reference_softmax(x, y, 7, 3);
    size_t numbers = 0;
    for (size_t n = 0; n < 18; n++)
        numbers += isnan(y[n]) ? 0 : 1;
    cr_assert(numbers == 0, "%zu elements of the rows without a softmax are numbers", numbers);
    assert_near(y + 18, half, 3, 0.0, "the row below them");
}

/* ---- attention worked by hand ------------------------------------------------------------------ */

/*
 * The curriculum's scores as keys of one element, with q = 1 and scale 1, and a key mask. With dO =
 * 1, dV is the row of P. `sum` is the sum of the scores' exponentials.
 */
static void check_course_example(const uint8_t *key_mask, double O_expected, double sum,
                                 const double *P_expected)
{
    const float Q[] = { 1.0f }, dO[] = { 1.0f };
    const float K[] = { 0.1f, 0.3f, 0.5f, 0.7f }, V[] = { 7.0f, 8.0f, 9.0f, 10.0f };
    struct attention p = attention_of(1, 1, 1, 1, 4, 1);
    double O[1], lse[1], dQ[1], dK[4], dV[4], lse_expected = log(sum);
    p.key_mask = key_mask;
    reference_forward(&p, Q, K, V, O, lse);
    reference_backward(&p, Q, K, V, dO, dQ, dK, dV);
    assert_near(O, &O_expected, 1, 0.00005, "O");
    assert_near(lse, &lse_expected, 1, 0.00005 / sum, "lse");
    assert_near(dV, P_expected, 4, 0.00005, "P");
}

TEST(reference_attention, is_as_worked_by_hand_for_two_blocks_and_the_whole_row)
{
    const uint8_t left[] = { 1, 1, 0, 0 }, right[] = { 0, 0, 1, 1 };
    const double half[] = { 0.4502, 0.5498, 0.0, 0.0, 0.4502, 0.5498 };
    const double whole[] = { 0.1807, 0.2207, 0.2695, 0.3292 };
    check_course_example(left, 7.5498, 2.4550, half);
    check_course_example(right, 9.5498, 3.6625, half + 2);
    check_course_example(NULL, 8.7472, 2.4550 + 3.6625, whole);
}

TEST(reference_attention, to_one_key_is_its_value)
{
    const float Q[] = { 1, 2 }, K[] = { 3, 4 }, V[] = { 5, -6 }, dO[] = { 7, 8 };
    const double O_expected[] = { 5, -6 }, lse_expected[] = { 5.5 };
    const double dV_expected[] = { 7, 8 }, zeros[] = { 0, 0 };
    struct attention p = attention_of(1, 1, 1, 1, 1, 2);
    double O[2], lse[1], dQ[2], dK[2], dV[2];
    p.scale = 0.5f;
    reference_forward(&p, Q, K, V, O, lse);
    reference_backward(&p, Q, K, V, dO, dQ, dK, dV);
    assert_near(O, O_expected, 2, 0.0, "O");
    assert_near(lse, lse_expected, 1, 0.0, "lse");
    assert_near(dQ, zeros, 2, 0.0, "dQ");
    assert_near(dK, zeros, 2, 0.0, "dK");
    assert_near(dV, dV_expected, 2, 0.0, "dV");
}

/* Both scores are 1, so P = 1/2, 1/2; dP = 3, 9, so D = 6 and dS = -1.5, 1.5. */
TEST(reference_attention, to_two_equal_keys_is_their_mean_and_carries_the_scale_to_dq_and_dk)
{
    const float Q[] = { 2, -1 }, K[] = { 1, 0, 2, 2 }, V[] = { 1, 2, 3, 6 }, dO[] = { 1, 1 };
    const double O_expected[] = { 2, 4 }, lse_expected[] = { 1.0 + log(2.0) };
    const double dQ_expected[] = { 0.75, 1.5 }, dK_expected[] = { -1.5, 0.75, 1.5, -0.75 };
    const double dV_expected[] = { 0.5, 0.5, 0.5, 0.5 };
    struct attention p = attention_of(1, 1, 1, 1, 2, 2);
    double O[2], lse[1], dQ[2], dK[4], dV[4];
    p.scale = 0.5f;
    reference_forward(&p, Q, K, V, O, lse);
    reference_backward(&p, Q, K, V, dO, dQ, dK, dV);
    assert_near(O, O_expected, 2, 0.0, "O");
    assert_near(lse, lse_expected, 1, 1e-15, "lse");
    assert_near(dQ, dQ_expected, 2, 0.0, "dQ");
    assert_near(dK, dK_expected, 4, 0.0, "dK");
    assert_near(dV, dV_expected, 4, 0.0, "dV");
}

/* A finite number instead of minus infinity would outweigh these scores. */
TEST(reference_attention, gives_a_hidden_key_no_weight_even_among_scores_far_below_zero)
{
    const float Q[] = { -1e6f }, K[] = { 3e6f, 3e6f, 3e6f, 5e6f }, V[] = { 1, 3, 100, 100 };
    const float dO[] = { 1 };
    const uint8_t key_mask[] = { 1, 1, 0, 1 };
    const double O_expected[] = { 2 }, lse_expected[] = { -3e12 + log(2.0) };
    const double dV_expected[] = { 0.5, 0.5, 0, 0 };
    struct attention p = attention_of(1, 1, 1, 1, 4, 1);
    double O[1], lse[1], dQ[1], dK[4], dV[4];
    p.key_mask = key_mask;
    reference_forward(&p, Q, K, V, O, lse);
    reference_backward(&p, Q, K, V, dO, dQ, dK, dV);
    assert_near(O, O_expected, 1, 0.0, "O");
    assert_near(lse, lse_expected, 1, 0.0, "lse");
    assert_near(dV, dV_expected, 4, 0.0, "dV");
}

/* A single key has weight 1 before dropout, then 0 or 1/(1 - P) = 4; lse does not change. */
TEST(reference_attention, drops_weights_after_the_softmax)
{
    enum { QUERIES = 50 };
    const float Q[QUERIES] = { 0 }, K[] = { 1 }, V[] = { 3 };
    struct attention p = attention_of(1, 1, 1, QUERIES, 1, 1);
    double O[QUERIES], O_expected[QUERIES], lse[QUERIES], zeros[QUERIES] = { 0 };
    attention_set_dropout(&p, 0.75, 1);
    reference_forward(&p, Q, K, V, O, lse);
    for (size_t i = 0; i < QUERIES; i++)
        O_expected[i] = dropout_keeps(&p, 0, 0, i, 0) ? 12.0 : 0.0;
    assert_near(O, O_expected, QUERIES, 0.0, "O");
    assert_near(lse, zeros, QUERIES, 0.0, "lse");
}

/* ---- masked keys do not matter ------------------------------------------------------------------ */

static void assert_same(const struct test_problem *t, const struct reference_results *got,
                        const struct reference_results *expected)
{
    const size_t queries = attention_query_elements(&t->p), keys = attention_key_elements(&t->p);
    assert_near(got->O, expected->O, queries, 0.0, "O");
    assert_near(got->lse, expected->lse, attention_rows(&t->p), 0.0, "lse");
    assert_near(got->dQ, expected->dQ, queries, 0.0, "dQ");
    assert_near(got->dK, expected->dK, keys, 0.0, "dK");
    assert_near(got->dV, expected->dV, keys, 0.0, "dV");
}

TEST(reference_attention, is_not_reached_by_nan_in_keys_that_no_query_sees)
{
    size_t poisoned = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct test_problem t = random_problem(seed, attention_of(3, 4, 4, 9, 9, 4),
                                               random_options(seed, WITH_EVERYTHING));
        struct reference_results clean = reference_results_of(&t);
        poisoned += problem_poison_unseen_keys(&t);
        struct reference_results got = reference_results_of(&t);
        assert_same(&t, &got, &clean);
        reference_results_free(&got);
        reference_results_free(&clean);
        problem_free(&t);
    }
    cr_assert(poisoned > 1000, "only %zu rows were poisoned", poisoned);
}

/* Key j of entry b, key/value head 0 is NaN: queries that do not attend to it do not change. */
static size_t check_rows_that_do_not_see(struct test_problem *t, size_t b, size_t j)
{
    const struct attention *p = &t->p;
    struct reference_results clean = reference_results_of(t);
    for (size_t c = 0; c < p->d; c++) {
        t->K[(b * p->Hkv * p->Nk + j) * p->d + c] = NAN;
        t->V[(b * p->Hkv * p->Nk + j) * p->d + c] = NAN;
    }
    struct reference_results got = reference_results_of(t);
    size_t unseeing = 0;
    for (size_t row = 0; row < attention_rows(p); row++) {
        const size_t i = row % p->Nq, h = row / p->Nq % p->H, at = row / p->Nq / p->H;
        if (at == b && kv_head(p, h) == 0 && visible(p, b, h, i, j))
            continue;
        unseeing++;
        assert_near(got.O + row * p->d, clean.O + row * p->d, p->d, 0.0, "a row of O");
        assert_near(got.lse + row, clean.lse + row, 1, 0.0, "lse");
        assert_near(got.dQ + row * p->d, clean.dQ + row * p->d, p->d, 0.0, "a row of dQ");
    }
    reference_results_free(&got);
    reference_results_free(&clean);
    return unseeing;
}

TEST(reference_attention, lets_nan_in_a_key_reach_only_the_queries_that_see_it)
{
    size_t unseeing = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct test_problem t = random_problem(seed, attention_of(2, 4, 4, 9, 9, 4),
                                               random_options(seed, WITH_EVERYTHING));
        unseeing += check_rows_that_do_not_see(&t, seed % t.p.B, seed % t.p.Nk);
        problem_free(&t);
    }
    cr_assert(unseeing > 1000, "only %zu rows did not see the key", unseeing);
}

/* Causal, five queries and three keys: the first two have no key. */
TEST(reference_attention, of_a_query_that_sees_no_key_is_zero_whatever_its_q_and_do)
{
    struct attention p = attention_of(1, 1, 1, 5, 3, 2);
    p.causal = true;
    struct test_problem t = problem_of(p, 0, 1);
    struct reference_results clean = reference_results_of(&t);
    const double zeros[4] = { 0 }, nothing[2] = { (double)-INFINITY, (double)-INFINITY };
    for (size_t n = 0; n < 4; n++)
        t.Q[n] = t.dO[n] = NAN;
    struct reference_results got = reference_results_of(&t);
    assert_near(got.O, zeros, 4, 0.0, "O");
    assert_near(got.lse, nothing, 2, 0.0, "lse");
    assert_near(got.dQ, zeros, 4, 0.0, "dQ");
    assert_same(&t, &got, &clean);
    reference_results_free(&got);
    reference_results_free(&clean);
    problem_free(&t);
}

TEST(reference_attention, of_one_row_is_that_row_of_the_whole)
{
    struct test_problem t = random_problem(5, attention_of(3, 6, 6, 9, 9, 4), WITH_EVERYTHING);
    const struct attention *p = &t.p;
    struct reference_results whole = reference_results_of(&t);
    for (size_t row = 0; row < attention_rows(p); row++) {
        const size_t i = row % p->Nq, h = row / p->Nq % p->H, b = row / p->Nq / p->H;
        double *O = unwritten(p->d), *O_alone = unwritten(p->d), lse;
        reference_forward_row(p, t.Q, t.K, t.V, b, h, i, O, &lse);
        reference_forward_row(p, t.Q, t.K, t.V, b, h, i, O_alone, NULL);
        assert_near(O, whole.O + row * p->d, p->d, 0.0, "O");
        assert_near(O_alone, O, p->d, 0.0, "O without lse");
        assert_near(&lse, whole.lse + row, 1, 0.0, "lse");
        free(O);
        free(O_alone);
    }
    reference_results_free(&whole);
    problem_free(&t);
}
