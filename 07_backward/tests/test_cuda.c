/*
 * The kernels against the reference, at all supported sizes and options, and against finite
 * differences.
 */
#include "07_backward/tests/cuda.h"

#include "common/check/reference.h"
#include "common/cuda/cpu.h"
#include "common/tests/test.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Random problems of every d, with each option alone and then with some together. */
static void assert_options(const struct step *kernel, uint64_t most)
{
    const unsigned options = cuda_options(kernel);
    for (uint64_t seed = 1; seed <= all_or_few(most, 12); seed++) {
        const unsigned some = seed <= 18 ? options & 1U << seed % 9 : random_options(seed, options);
        struct test_problem t = cuda_problem(kernel, seed, 150, some);
        assert_backward(on_cuda(kernel), &t);
        problem_free(&t);
    }
}

TEST(cuda_standard, agrees_with_the_reference)
{
    assert_options(cuda_named("cuda_standard"), 44);
    assert_backward_at_unequal_lengths(on_cuda(cuda_named("cuda_standard")));
}

TEST(cuda_recompute, agrees_with_the_reference)
{
    assert_options(cuda_named("cuda_recompute"), 44);
    assert_backward_at_every_length(on_cuda(cuda_named("cuda_recompute")));
    assert_backward_at_unequal_lengths(on_cuda(cuda_named("cuda_recompute")));
}

TEST(cuda_deterministic, agrees_with_the_reference)
{
    assert_options(cuda_named("cuda_deterministic"), 44);
    assert_backward_at_every_length(on_cuda(cuda_named("cuda_deterministic")));
    assert_backward_at_unequal_lengths(on_cuda(cuda_named("cuda_deterministic")));
}

TEST(cuda_mma_split, agrees_with_the_reference)
{
    assert_options(cuda_named("cuda_mma_split"), 24);
}

TEST(cuda_mma, agrees_with_the_reference)
{
    assert_options(cuda_named("cuda_mma"), 24);
}

/* Then its tiles are smaller with d = 128. */
TEST(cuda_mma, agrees_with_the_reference_where_a_block_has_99_kb)
{
    cuda_cpu_shared(99 * 1024);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct attention p = attention_of(1, 2, 2, 30 + 47 * seed, 300 - 61 * seed, 128);
        p.dtype = seed % 2 ? DTYPE_BF16 : DTYPE_F16;
        p.causal = seed > 2;
        struct test_problem t = problem_of(p, 0, seed);
        assert_backward(on_cuda(cuda_named("cuda_mma")), &t);
        problem_free(&t);
    }
}

static void assert_in_16_bits(size_t Nq, size_t Nk, enum dtype type)
{
    struct attention p = attention_of(1, 1, 1, Nq, Nk, 64);
    p.dtype = type;
    p.causal = Nq != Nk;  // then the first query of a key is anywhere in its tile
    struct test_problem t = problem_of(p, 0, Nq + Nk);
    assert_backward(on_cuda_in_16_bits(), &t);
    problem_free(&t);
}

TEST(cuda_tensor_cores, agree_with_the_reference_at_every_length)
{
    static const size_t lengths[][2] = { { 1, 1 },       { 2, 2 },      { 7, 7 },     { 63, 63 },
                                         { 64, 64 },     { 65, 65 },    { 100, 100 }, { 127, 127 },
                                         { 129, 129 },   { 200, 200 },  { 511, 511 }, { 513, 513 },
                                         { 113, 203 },   { 108, 256 },  { 256, 512 }, { 512, 256 },
                                         { 1, 239 },     { 799, 3 },    { 3, 799 },   { 1025, 130 },
                                         { 1025, 1025 }, { 2047, 2048 } };
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
        assert_in_16_bits(lengths[k][0], lengths[k][1], k % 2 ? DTYPE_BF16 : DTYPE_F16);
}

TEST(cuda_complete, agrees_with_the_reference)
{
    assert_options(cuda_named("cuda_complete"), 88);
    assert_backward_at_every_length(on_cuda(cuda_named("cuda_complete")));
    assert_backward_at_unequal_lengths(on_cuda(cuda_named("cuda_complete")));
}

TEST(cuda_complete, agrees_with_the_reference_under_every_two_options)
{
    for (unsigned one = 1; one < WITH_DROPOUT; one *= 2)
        for (unsigned two = 2 * one; two <= all_or_few(WITH_DROPOUT, 2 * one); two *= 2) {
            struct test_problem t =
                cuda_problem(cuda_named("cuda_complete"), one + two, 150, one | two);
            assert_backward(on_cuda(cuda_named("cuda_complete")), &t);
            problem_free(&t);
        }
}

// ---- finite differences -------------------------------------------------------------------------

/* Moves every number of x by h, up or down by chance, and returns what the direction has in common with `gradient`. */
static double move(float *x, const float *gradient, size_t n, float h, uint32_t direction)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++) {
        const float sign = random_between(7, direction, k, 0, 1) ? 1.0f : -1.0f;
        x[k] += sign * h;
        sum += (double)sign * (double)gradient[k];
    }
    return sum;
}

static double loss_of(const struct test_problem *t, double *O)
{
    double sum = 0.0;
    reference_forward(&t->p, t->Q, t->K, t->V, O, NULL);
    for (size_t k = 0; k < attention_query_elements(&t->p); k++)
        sum += (double)t->dO[k] * O[k];
    return sum;
}

/*
 * All numbers of Q, K or V move by h at once, so one difference judges all of a gradient. Errors of rounding have signs by
 * chance, as the direction has, so together they are about an ulp of the gradient's length. We allow two of the inputs' type,
 * and 16 of float32 for long sums and for lse. Inputs have at most 11 digits, so with this h both x + h and x - h are floats.
 */
static void assert_differences(const struct step *kernel, struct attention p)
{
    static const char *const names[] = { "dQ", "dK", "dV" };
    const float h = 0x1p-14f;
    struct test_problem t = problem_of(p, 0, (uint64_t)kernel);
    float *const x[] = { t.Q, t.K, t.V };
    double *const O = unwritten(attention_query_elements(&p));
    for (size_t g = 0; g < GRADIENTS; g++)
        dtype_round_all(p.dtype == DTYPE_F32 ? DTYPE_F16 : p.dtype, x[g],
                        g == DQ ? attention_query_elements(&p) : attention_key_elements(&p));
    struct result r = cuda_gradients(kernel, test_device(), &t);
    for (uint32_t n = 0; n < 3 * GRADIENTS; n++) {
        const size_t g = n % GRADIENTS;
        const size_t count = g == DQ ? attention_query_elements(&p) : attention_key_elements(&p);
        double length = 0.0;
        for (size_t k = 0; k < count; k++)
            length += (double)r.of[g][k] * (double)r.of[g][k];
        const double slope = move(x[g], r.of[g], count, h, n);
        const double above = loss_of(&t, O);
        move(x[g], r.of[g], count, -2.0f * h, n);
        const double tried = (above - loss_of(&t, O)) / (2.0 * (double)h);
        move(x[g], r.of[g], count, h, n);
        const double allowed =
            sqrt(length) * (ldexp(2.0, 1 - dtype_digits(p.dtype)) + 16.0 * (double)FLT_EPSILON);
        cr_assert(fabs(slope - tried) <= allowed,
                  "%s --step %s: along direction %u %s has a slope of %.9g, the difference is %.9g",
                  problem_text(&t), kernel->name, n, names[g], slope, tried);
    }
    result_free(&r);
    free(O);
    problem_free(&t);
}

/* Two tiles of queries and two of keys, at least, and keys that only some queries attend to. */
TEST(every_kernel, gives_what_differences_in_double_give)
{
    for (const struct step *kernel = cuda_named("cuda_standard"); kernel < kernels_end(); kernel++)
        for (enum dtype type = DTYPE_F32; type <= DTYPE_F16; type++) {
            const unsigned supports = kernel->supports;
            struct attention p = attention_of(1, 2, supports & SUPPORTS_GROUPED_HEADS ? 1 : 2, 150,
                                              140, type == DTYPE_F32 ? 24 : 64);
            p.dtype = type;
            p.causal = true;
            if (supports & SUPPORTS_DROPOUT)
                attention_set_dropout(&p, 0.25, 5);
            if (step_takes_type(kernel, type) && kernel_is_in_question(kernel->name))
                assert_differences(kernel, p);
        }
}
