/*
 * sigma and bias fit the textbook's errors; regressions of accepted wrong and refused right
 * results.
 */
#include "common/check/gradient_check.h"
#include "common/check/plain.h"
#include "common/check/tolerance.h"
#include "common/cpu/memory.h"
#include "common/problem/random.h"
#include "common/tests/problems.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdlib.h>

static double usual(const float *got, const struct exact *exact, size_t n)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++) {
        const double z = ((double)got[k] - exact[k].value) / exact[k].sigma;
        sum += z * z;
    }
    return sqrt(sum / (double)n);
}

/*
 * A sigma twice too large would accept twice the error; one too small would refuse right
 * results.
 */
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

static bool is_right(const float K[2], const float V[2], float O)
{
    const struct attention p = attention_of(1, 1, 1, 1, 2, 1);
    struct exact exact;
    rounding_forward_row(&p, (const float[]){ 1.0f }, K, V, 0, 0, 0, &exact, NULL);
    return is_explained(difference_between(&O, &exact, 1, 1));
}

/* A float32 sum may lose a small term, but not a small weight times a large value. */
TEST(rounding, of_a_key_of_little_weight_and_a_large_value)
{
    const float K[2] = { 20, 0 }, V[2] = { 0, 1e8f }, right = (float)(1e8 / (1.0 + exp(20.0)));
    cr_assert(is_right(K, V, right) && !is_right(K, V, 0.0f), "%g", (double)right);
    const float one[2] = { 1, 1 };
    cr_assert(is_right(K, one, 1.0f) && !is_right(K, one, 0.999f));
    const float no_weight[2] = { 0, -250 }, largest[2] = { 1, 3e38f };
    cr_assert(is_right(no_weight, largest, 1.0f) && !is_right(no_weight, largest, 0.0f));
}

enum { KEYS = 1000 };

/* Flash attention's result for one query and these keys is right, and wrong if off by `wrong`. */
static void assert_right(float K[][2], float V[][2], enum dtype type, float wrong)
{
    struct attention p = attention_of(1, 1, 1, 1, KEYS, 2);
    p.dtype = type;
    p.scale = 1.0f;
    struct exact exact[2];
    rounding_forward_row(&p, (const float[]){ 1, 1 }, K[0], V[0], 0, 0, 0, exact, NULL);
    float l = 0.0f, O[2] = { 0, 0 };
    for (size_t j = 0; j < KEYS; j++) {
        const float e = expf(K[j][0] + K[j][1]), old = l;
        l += e;
        for (size_t c = 0; c < 2; c++)
            O[c] = O[c] * (old / l) + dtype_round(type, e) * V[j][c] / l;
    }
    for (size_t c = 0; c < 2; c++)
        O[c] = dtype_round(type, O[c]);
    cr_assert(is_explained(difference_between(O, exact, 1, 2)), "%s: %g, expected %g, sigma %g",
              dtype_name(type), (double)O[0], exact[0].value, exact[0].sigma);
    for (size_t c = 0; c < 2; c++)
        O[c] += wrong;
    cr_assert(!is_explained(difference_between(O, exact, 1, 2)), "%s: %g passes, expected %g",
              dtype_name(type), (double)O[0], exact[0].value);
}

/* Values from -1 to 1: partial sums grow to a quarter of them and cancel. */
TEST(rounding, of_partial_sums_that_are_larger_than_the_sum)
{
    float K[KEYS][2], V[KEYS][2];
    for (size_t j = 0; j < KEYS; j++) {
        K[j][0] = 1e-3f * sinf((float)j);
        K[j][1] = 0.0f;
        V[j][0] = V[j][1] = -1.0f + 2.0f * (float)j / (float)(KEYS - 1);
    }
    assert_right(K, V, DTYPE_F32, 1e-5f);
}

/* Half the weights are about 1, half about 0.3: each half rounds alike. */
TEST(rounding, of_weights_that_are_nearly_equal)
{
    for (enum dtype type = DTYPE_BF16; type <= DTYPE_F16; type++) {
        float K[KEYS][2], V[KEYS][2];
        const float near = type == DTYPE_BF16 ? 1e-6f : 1e-7f;
        for (size_t j = 0; j < KEYS; j++) {
            K[j][0] = dtype_round(type, j % 2 ? logf(0.3f) : 0.0f);
            K[j][1] = dtype_round(type, -near * (float)j);
            V[j][0] = V[j][1] = j % 2 ? -1.0f : 0.3125f;
        }
        assert_right(K, V, type, type == DTYPE_BF16 ? 0.02f : 0.002f);
    }
}

/*
 * Gradient g of the textbook is right, and wrong if a tenth of its rows is `factor` times
 * larger.
 */
static void assert_gradient(const struct test_problem *t, size_t g, float factor)
{
    const size_t n = attention_query_elements(&t->p), d = t->p.d;
    const struct attention_input input = { .p = t->p, .Q = t->Q, .K = t->K, .V = t->V };
    struct gradient_check check = gradient_check_begin(&input, t->dO, true);
    float *got[GRADIENTS];
    for (size_t k = 0; k < GRADIENTS; k++)
        got[k] = allocate(n, sizeof *got[k], "a gradient");
    plain_backward(&t->p, t->Q, t->K, t->V, t->dO, got[DQ], got[DK], got[DV]);
    const double right = difference_between(got[g], check.right[g], n / d, d).explained;
    for (size_t k = 0; k < n; k++)
        got[g][k] *= k / d % 10 ? 1.0f : factor;
    const double wrong = difference_between(got[g], check.right[g], n / d, d).explained;
    cr_assert(right < 1.0 && wrong > 1.0, "%s, gradient %zu: right %.2f, wrong %.2f",
              problem_text(t), g, right, wrong);
    for (size_t k = 0; k < GRADIENTS; k++)
        free(got[k]);
    gradient_check_end(&check);
}

/* D is large and the gradients are small, but D's error averages out over its elements. */
TEST(rounding, of_D_where_all_values_are_large)
{
    for (enum dtype type = DTYPE_F32; type <= DTYPE_F16; type++) {
        static const float mean[DTYPES] = {
            [DTYPE_F32] = 1e4f, [DTYPE_BF16] = 4.0f, [DTYPE_F16] = 30.0f
        };
        struct attention p = attention_of(1, 1, 1, 200, 200, 32);
        p.dtype = type;
        struct test_problem t = problem_of(p, 0, 5);
        for (size_t k = 0; k < attention_key_elements(&p); k++)
            t.V[k] = dtype_round(type, t.V[k] + mean[type]);
        for (size_t k = 0; k < attention_query_elements(&p); k++)
            t.dO[k] = 1.0f;
        assert_gradient(&t, DK, 1.2f);
        problem_free(&t);
    }
}

/* With equal queries only the scores' shared errors do not average out. */
TEST(rounding, of_queries_that_are_equal)
{
    for (enum dtype type = DTYPE_F32; type <= DTYPE_F16; type++) {
        struct attention p = attention_of(1, 1, 1, 200, 200, 32);
        p.dtype = type;
        struct test_problem t = problem_of(p, 0, 6);
        for (size_t k = p.d; k < attention_query_elements(&p); k++)
            t.Q[k] = t.Q[k % p.d];
        assert_gradient(&t, DV, 1.03f);
        problem_free(&t);
    }
}

/* q.k is 0, from two terms of 9e8 that float32 rounds either way: an lse of 22 is right. */
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

/* Is the softmax of this row, with one key left out of l or none, within the limit? */
static bool accepts_row(const float *x, size_t n, size_t left_out)
{
    struct exact *const exact = allocate(n, sizeof *exact, "the limits");
    float *const y = allocate(n, sizeof *y, "a row"), m = 0.0f, l = 0.0f;
    for (size_t j = 0; j < n; j++)
        m = fmaxf(m, x[j]);
    for (size_t j = 0; j < n; j++)
        l += j == left_out ? 0.0f : expf(x[j] - m);
    for (size_t j = 0; j < n; j++)
        y[j] = expf(x[j] - m) / l;
    rounding_softmax(x, exact, 1, n);
    const bool accepted = is_explained(difference_between(y, exact, 1, n));
    free(exact);
    free(y);
    return accepted;
}

TEST(rounding, of_a_long_sum_is_large_only_where_terms_are_alike)
{
    enum { N = 16384 };
    float *const x = allocate(N, sizeof *x, "a row");
    random_normals(x, N, 1, 0);
    cr_assert(accepts_row(x, N, N), "random scores: the right result was rejected");
    cr_assert(!accepts_row(x, N, 777), "random scores: a key is missing, and it was accepted");
    for (size_t j = 0; j < N; j++)
        x[j] = j == 0 ? 1.0f : 0.7f;  // each sum rounds the same way
    cr_assert(accepts_row(x, N, N), "equal scores: the right result was rejected");
    free(x);
}
