/*
 * sigma and bias: neither loose nor tight for the textbook's results, and what once passed that is wrong, or was refused
 * though it is right.
 */
#include "common/check/gradient_check.h"
#include "common/check/plain.h"
#include "common/check/tolerance.h"
#include "common/cpu/memory.h"
#include "common/tests/problems.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdlib.h>

/* The root mean square of error / sigma. */
static double usual(const float *got, const struct exact *exact, size_t n)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++) {
        const double z = ((double)got[k] - exact[k].value) / exact[k].sigma;
        sum += z * z;
    }
    return sqrt(sum / (double)n);
}

/* A sigma that is twice too large would let twice the error pass; one that is too small would refuse what is right. */
TEST(rounding, sigma_is_what_the_textbook_is_usually_off_by)
{
    enum { N = 300, D = 64 };
    for (enum dtype type = DTYPE_F32; type <= DTYPE_F16; type++)
        for (int causal = 0; causal < 2; causal++) {
            struct attention p = attention_of(1, 1, 1, N, N, D);
            p.dtype = type;
            p.causal = causal;
            struct test_problem t = problem_of(p, 0, 3);
            const struct attention_input input = { .p = t.p, .Q = t.Q, .K = t.K, .V = t.V };
            struct attention_check check = attention_check_begin(&input, true);
            struct gradient_check gradients = gradient_check_begin(&input, t.dO, true);
            float *O = allocate(N * D, sizeof *O, "O"), *lse = allocate(N, sizeof *lse, "lse");
            float *got[GRADIENTS];
            for (size_t g = 0; g < GRADIENTS; g++)
                got[g] = allocate(N * D, sizeof *got[g], "a gradient");
            plain_forward(&t.p, t.Q, t.K, t.V, O, lse);
            plain_backward(&t.p, t.Q, t.K, t.V, t.dO, got[DQ], got[DK], got[DV]);
            double z[4] = { usual(O, check.O, N * D) };
            for (size_t g = 0; g < GRADIENTS; g++)
                z[1 + g] = usual(got[g], gradients.right[g], N * D);
            for (size_t k = 0; k < 4; k++)
                cr_assert(z[k] > 0.3 && z[k] < 1.4, "%s, array %zu: %.2f sigma", problem_text(&t),
                          k, z[k]);
            for (size_t g = 0; g < GRADIENTS; g++)
                free(got[g]);
            free(O);
            free(lse);
            gradient_check_end(&gradients);
            attention_check_end(&check);
            problem_free(&t);
        }
}

TEST(rounding, of_softmax_does_not_grow_with_the_scores)
{
    const float x[][4] = { { -1e9f, -1e9f, -1e9f, -1e9f },
                           { 8e6f, 0, 0, 0 },
                           { 1e30f, 0, -1e30f, 0 } };
    const float zeros[4] = { 0 };
    for (size_t k = 0; k < sizeof x / sizeof x[0]; k++) {
        struct exact y[4];
        rounding_softmax(x[k], y, 1, 4);
        cr_assert(!is_explained(difference_between(zeros, y, 1, 4)), "row %zu: zeros pass", k);
    }
}

/* One query and two keys of one element. Is this output right? */
static bool is_right(const float K[2], const float V[2], float O)
{
    const struct attention p = attention_of(1, 1, 1, 1, 2, 1);
    struct exact exact;
    rounding_forward_row(&p, (const float[]){ 1.0f }, K, V, 0, 0, 0, &exact, NULL);
    return is_explained(difference_between(&O, &exact, 1, 1));
}

/* A float32 sum may lose a small term, but not one that is small in its weight alone. */
TEST(rounding, of_a_key_of_little_weight_and_a_large_value)
{
    const float K[2] = { 20, 0 }, V[2] = { 0, 1e8f }, right = (float)(1e8 / (1.0 + exp(20.0)));
    cr_assert(is_right(K, V, right) && !is_right(K, V, 0.0f), "%g", (double)right);
    const float one[2] = { 1, 1 };
    cr_assert(is_right(K, one, 1.0f) && !is_right(K, one, 0.999f));
}

/* q.k is 0, of two terms of 9e8 that float32 rounds to one or another number: an lse of 22 is no fault. */
TEST(rounding, of_a_score_whose_terms_cancel_out)
{
    const struct attention p = attention_of(1, 1, 1, 1, 1, 2);
    const float f = 30001.3f, lse = 22.0f;
    struct exact O[2], exact;
    rounding_forward_row(&p, (const float[]){ f, f }, (const float[]){ f, -f },
                         (const float[]){ 1, 1 }, 0, 0, 0, O, &exact);
    cr_assert(is_explained(difference_between(&lse, &exact, 1, 1)), "sigma %g", exact.sigma);
    cr_assert(!is_explained(difference_between((const float[]){ 1, 1.001f }, O, 1, 2)));
}
