/*
 * The kernels against the reference, at the sizes and with the options that they know.
 */
#include "cuda.h"

#include "cuda/cpu.h"
#include "memory.h"
#include "test.h"
#include "tiles.h"
#include "tolerance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum cuda_kernel_name running;

const struct backward_device *test_device(void)
{
    const char *const where = getenv("CUDA_TESTS");
    const struct options gpu = { .device = "gpu" };
    return where && strcmp(where, "gpu") == 0 ? backward_device_choose(&gpu) : &backward_cpu;
}

unsigned cuda_options(enum cuda_kernel_name name)
{
    return cuda_kernels[name].options  ? WITH_EVERYTHING
           : cuda_kernels[name].hopper ? WITH_ORDER | WITH_GROUPED_HEADS
                                       : WITH_ORDER;
}

/* The device, or the CPU for a kernel that is for GPUs of another kind. */
static const struct backward_device *device_for(enum cuda_kernel_name name,
                                                const struct backward_device *device)
{
    return cuda_kernel_lacks_device(&cuda_kernels[name], device) ? &backward_cpu : device;
}

struct result cuda_gradients(enum cuda_kernel_name name, const struct backward_device *device,
                             const struct test_problem *t)
{
    struct layer layer = layer_with_forward(t);
    struct result r = cuda_run(&cuda_kernels[name], device_for(name, device), &layer);
    kept_free(&layer.kept);
    return r;
}

static void run(const struct test_problem *t, float *dQ, float *dK, float *dV)
{
    if (backward_forms.count > 1) {
        running = (enum cuda_kernel_name)(CUDA_MMA_SPLIT + backward_forms.now);
        snprintf(backward_forms.text, sizeof backward_forms.text, " --kernel %s",
                 cuda_kernels[running].name);
    }
    struct result r = cuda_gradients(running, test_device(), t);
    memcpy(dQ, r.of[DQ], attention_query_elements(&t->p) * sizeof *dQ);
    memcpy(dK, r.of[DK], attention_key_elements(&t->p) * sizeof *dK);
    memcpy(dV, r.of[DV], attention_key_elements(&t->p) * sizeof *dV);
    result_free(&r);
}

backward *on_cuda(enum cuda_kernel_name name)
{
    running = name;
    backward_forms.count = backward_forms.turn = 1;
    snprintf(backward_forms.text, sizeof backward_forms.text, " --kernel %s",
             cuda_kernels[name].name);
    return run;
}

backward *on_cuda_in_16_bits(void)
{
    on_cuda(CUDA_MMA);
    backward_forms.count = backward_forms.turn = CUDA_COMPLETE - CUDA_MMA_SPLIT + 1;
    return run;
}

struct test_problem cuda_problem(enum cuda_kernel_name name, uint64_t seed, size_t most,
                                 unsigned options)
{
    static const size_t dims[] = { 1, 3, 16, 32, 40, 59, 64, 80, 96, 111, 128 };
    struct test_problem t = random_problem(seed, attention_of(2, 4, 4, most, most, 16), options);
    struct attention p = t.p;
    p.d = dims[seed % (sizeof dims / sizeof dims[0])];
    if (cuda_kernels[name].tensor) {
        p.d = seed % 4 < 3 ? 64 : 128;
        p.dtype = seed % 2 ? DTYPE_BF16 : DTYPE_F16;
    }
    problem_free(&t);
    return problem_of(p, options, seed);
}

struct attention cuda_shape(enum cuda_kernel_name name, size_t H, size_t Hkv, size_t Nq, size_t Nk)
{
    struct attention p = attention_of(1, H, Hkv, Nq, Nk, cuda_kernels[name].tensor ? 64 : 24);
    p.dtype = cuda_kernels[name].tensor ? DTYPE_BF16 : DTYPE_F32;
    return p;
}

// ---- the reference ------------------------------------------------------------------------------

/* Random problems of every d, with each option alone and then with some together. */
static void assert_options(enum cuda_kernel_name name, uint64_t most)
{
    const unsigned options = cuda_options(name);
    for (uint64_t seed = 1; seed <= all_or_few(most, 12); seed++) {
        const unsigned some = seed <= 18 ? options & 1U << seed % 9 : random_options(seed, options);
        struct test_problem t = cuda_problem(name, seed, 150, some);
        assert_backward(on_cuda(name), &t);
        problem_free(&t);
    }
}

TEST(cuda_standard, agrees_with_the_reference)
{
    assert_backward_at_unequal_lengths(on_cuda(CUDA_STANDARD));
    assert_options(CUDA_STANDARD, 44);
}

TEST(cuda_recompute, agrees_with_the_reference)
{
    assert_backward_at_every_length(on_cuda(CUDA_RECOMPUTE));
    assert_backward_at_unequal_lengths(on_cuda(CUDA_RECOMPUTE));
    assert_options(CUDA_RECOMPUTE, 44);
}

TEST(cuda_deterministic, agrees_with_the_reference)
{
    assert_backward_at_every_length(on_cuda(CUDA_DETERMINISTIC));
    assert_backward_at_unequal_lengths(on_cuda(CUDA_DETERMINISTIC));
    assert_options(CUDA_DETERMINISTIC, 44);
}

TEST(cuda_mma_split, agrees_with_the_reference)
{
    assert_options(CUDA_MMA_SPLIT, 24);
}

TEST(cuda_mma, agrees_with_the_reference)
{
    assert_options(CUDA_MMA, 24);
}

static void assert_in_16_bits(size_t Nq, size_t Nk, enum dtype type)
{
    struct attention p = attention_of(1, 1, 1, Nq, Nk, 64);
    p.dtype = type;
    p.causal = Nq != Nk;  // then the first query that sees a key is anywhere in its tile
    struct test_problem t = problem_of(p, 0, Nq + Nk);
    assert_backward(on_cuda_in_16_bits(), &t);
    problem_free(&t);
}

TEST(cuda_tensor_cores, agree_with_the_reference_at_every_length)
{
    static const size_t lengths[][2] = { { 1, 1 },     { 2, 2 },     { 7, 7 },     { 63, 63 },
                                         { 64, 64 },   { 65, 65 },   { 100, 100 }, { 127, 127 },
                                         { 129, 129 }, { 200, 200 }, { 511, 511 }, { 513, 513 },
                                         { 113, 203 }, { 108, 256 }, { 256, 512 }, { 512, 256 },
                                         { 1, 239 },   { 799, 3 },   { 3, 799 },   { 1025, 130 } };
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
        assert_in_16_bits(lengths[k][0], lengths[k][1], k % 2 ? DTYPE_BF16 : DTYPE_F16);
}

/* Of the course's lengths above 513 a few: computing what is right for them is most of the work. */
TEST(cuda_tensor_cores, agree_with_the_reference_at_1025)
{
    assert_in_16_bits(1025, 1025, DTYPE_F16);
}

TEST(cuda_tensor_cores, agree_with_the_reference_at_2047)
{
    assert_in_16_bits(2047, 2048, DTYPE_BF16);
}

/* Keys that nobody sees hold NaN. */
static void assert_ignores_unseen_keys(enum cuda_kernel_name name, unsigned options)
{
    size_t hidden = 0;
    for (uint64_t seed = 1; seed <= 16; seed++) {
        struct test_problem t = cuda_problem(name, seed, 100, options);
        hidden += problem_poison_unseen_keys(&t);
        assert_backward(on_cuda(name), &t);
        assert_backward_gives_zeros(on_cuda(name), &t);
        problem_free(&t);
    }
    cr_assert(hidden > 100, "only %zu keys were hidden: this tests nothing", hidden);
}

/*
 * A key that no query of a tile sees is nothing to that tile, also where others in the same fragment are seen: of the
 * queries before tile 160, or 128 where tiles have 128, none may meet the NaN that 165 and those behind it see.
 */
TEST(cuda_tensor_cores, keep_nan_from_the_tiles_that_do_not_see_it)
{
    enum { NQ = 300, NK = 305, KEY = 170, FIRST = 165 };
    for (enum cuda_kernel_name name = CUDA_MMA_SPLIT; name <= CUDA_ORDERED; name++) {
        struct attention p = cuda_shape(name, 1, 1, NQ, NK);
        p.causal = true;
        struct test_problem t = problem_of(p, 0, 1);
        for (size_t c = 0; c < p.d; c++)
            t.K[KEY * p.d + c] = NAN;
        struct result r = cuda_gradients(name, test_device(), &t);
        for (size_t n = 0; n < (name == CUDA_MMA ? 160 : 128) * p.d; n++)
            cr_assert(!isnan(r.of[DQ][n]), "%s: dQ[%zu]", cuda_kernels[name].name, n);
        for (size_t n = FIRST * p.d; n < NQ * p.d; n++)
            cr_assert(isnan(r.of[DQ][n]), "%s: dQ[%zu] is %g", cuda_kernels[name].name, n,
                      (double)r.of[DQ][n]);
        result_free(&r);
        problem_free(&t);
    }
}

TEST(cuda_complete, agrees_with_the_reference)
{
    assert_backward_at_every_length(on_cuda(CUDA_COMPLETE));
    assert_backward_at_unequal_lengths(on_cuda(CUDA_COMPLETE));
    assert_options(CUDA_COMPLETE, 88);
}

TEST(cuda_complete, agrees_with_the_reference_under_every_two_options)
{
    for (unsigned one = 1; one < WITH_EVERYTHING; one *= 2)
        for (unsigned two = 2 * one; two < WITH_EVERYTHING; two *= 2) {
            struct test_problem t = cuda_problem(CUDA_COMPLETE, one + two, 150, one | two);
            assert_backward(on_cuda(CUDA_COMPLETE), &t);
            problem_free(&t);
        }
}

TEST(cuda_complete, reads_no_key_that_no_query_sees_and_gives_it_zeros)
{
    assert_backward_ignores_unseen_keys(on_cuda(CUDA_COMPLETE), WITH_KEY_MASK | WITH_GROUPED_HEADS);
    assert_backward_ignores_unseen_keys(on_cuda(CUDA_COMPLETE), WITH_EVERYTHING);
}

TEST(cuda_complete, reads_no_query_that_sees_nothing)
{
    assert_backward_ignores_queries_that_see_nothing(on_cuda(CUDA_COMPLETE), WITH_EVERYTHING);
}

TEST(cuda_rungs, read_no_key_that_no_query_sees_and_give_it_zeros)
{
    const unsigned options = WITH_UNEQUAL_LENGTHS | WITH_CAUSAL | WITH_TOP_LEFT;
    for (enum cuda_kernel_name name = CUDA_STANDARD; name < CUDA_COMPLETE; name++)
        if (cuda_kernels[name].tensor)
            assert_ignores_unseen_keys(name, options);
        else
            assert_backward_ignores_unseen_keys(on_cuda(name), options);
}

TEST(cuda_kernels, give_zeros_where_no_query_sees_a_key)
{
    for (enum cuda_kernel_name name = CUDA_STANDARD; name < CUDA_KERNELS; name++) {
        struct attention p = cuda_shape(name, 2, 2, 170, 20);
        p.causal = true;  // bottom-right: the first 150 queries stand before the first key
        struct test_problem t = problem_of(p, 0, 3);
        struct result r = cuda_gradients(name, test_device(), &t);
        for (size_t n = 0; n < attention_query_elements(&p); n++)
            cr_assert(n / p.d % p.Nq >= 150 || r.of[DQ][n] == 0.0f, "%s: dQ[%zu] is %g",
                      cuda_kernels[name].name, n, (double)r.of[DQ][n]);
        result_free(&r);
        problem_free(&t);
    }
    struct test_problem t = problem_of(attention_of(2, 2, 1, 70, 90, 24), WITH_KEY_MASK, 3);
    memset(t.key_mask, 0, 2 * 90);
    struct result r = cuda_gradients(CUDA_COMPLETE, test_device(), &t);
    assert_zeros(&r, &t.p, "complete");
    result_free(&r);
    problem_free(&t);
}

/* A key with a score of -inf has no weight: dK and dV are 0 there. So also where all keys are such. */
TEST(cuda_kernels, give_scores_of_minus_infinity_no_weight)
{
    enum { N = 100 };
    for (size_t k = 0; k < 2 * CUDA_KERNELS; k++) {
        const enum cuda_kernel_name name = (enum cuda_kernel_name)(k / 2);
        const size_t few = k % 2 ? N : 70;
        struct test_problem t = problem_of(cuda_shape(name, 1, 1, N, N), 0, 1);
        const size_t D = t.p.d;
        for (size_t i = 0; i < N; i++) {
            t.Q[i * D] = 1.0f;
            t.K[i * D] = i < few ? -INFINITY : t.K[i * D];
        }
        struct result r = cuda_gradients(name, test_device(), &t);
        for (size_t n = 0; n < N * D; n++)
            cr_assert((r.of[DK][n] == 0.0f && r.of[DV][n] == 0.0f) == (n / D < few),
                      "%s: dK[%zu] is %g, dV %g", cuda_kernels[name].name, n, (double)r.of[DK][n],
                      (double)r.of[DV][n]);
        result_free(&r);
        problem_free(&t);
    }
}

/*
 * With V the unit matrix dP is dO, and with dO of ones dV_jc is the sum of the weights of key j that dropout keeps:
 * an element of Z is seen where a single query looks.
 */
TEST(cuda_complete, drops_the_weights_that_the_cpu_drops)
{
    enum { N = 100, D = 8 };
    for (size_t i = 0; i < 30; i++) {
        struct attention p = attention_of(2, 2, 2, 1, N, D);
        attention_set_dropout(&p, 0.4, 11 + i);
        struct test_problem t = problem_of(p, 0, 3);
        for (size_t n = 0; n < attention_query_elements(&p); n++)
            t.dO[n] = 1.0f;
        struct result r = cuda_gradients(CUDA_COMPLETE, test_device(), &t);
        for (size_t n = 0; n < attention_key_elements(&p); n++) {
            const size_t b = n / D / N / 2, h = n / D / N % 2, j = n / D % N;
            cr_assert((r.of[DV][n] != 0.0f) == dropout_keeps(&p, b, h, 0, j),
                      "b %zu, h %zu, j %zu: dV is %g", b, h, j, (double)r.of[DV][n]);
        }
        result_free(&r);
        problem_free(&t);
    }
}

// ---- again and again ----------------------------------------------------------------------------

static struct cuda_spread spread_of(enum cuda_kernel_name name, struct attention p)
{
    const struct backward_device *const device = device_for(name, test_device());
    const size_t runs = device == &backward_cpu ? 4 : 500;
    struct test_problem t = problem_of(p, 0, 5);
    struct layer layer = layer_with_forward(&t);
    const struct cuda_spread s = cuda_run_again(&cuda_kernels[name], device, &layer, runs);
    kept_free(&layer.kept);
    problem_free(&t);
    return s;
}

/* Atomic additions come in any order, and so dQ is rounded in any. All else has one thread an element. */
TEST(cuda_kernels, give_the_same_bits_again_but_for_atomic_additions)
{
    for (enum cuda_kernel_name name = CUDA_STANDARD; name < CUDA_KERNELS; name++) {
        struct attention p = cuda_shape(name, 2, cuda_kernels[name].options ? 1 : 2, 200, 330);
        const struct cuda_spread s = spread_of(name, p);
        cr_assert(s.elements[DK] == 0 && s.elements[DV] == 0, "%s: %zu elements of dK, %zu of dV",
                  cuda_kernels[name].name, s.elements[DK], s.elements[DV]);
        cr_assert((s.elements[DQ] > 0) == cuda_kernels[name].atomics, "%s: %zu elements of dQ",
                  cuda_kernels[name].name, s.elements[DQ]);
        // six terms, one from each block of keys, rounded in another order: some ulps of the partial sums
        cr_assert(s.most[DQ] <= 2e-6, "%s: dQ is off by %g", cuda_kernels[name].name, s.most[DQ]);
    }
}

/* Of one block of keys there is one term, and of two the order does not matter: 0 + a + b = 0 + b + a. */
TEST(cuda_recompute, gives_the_same_bits_again_where_two_blocks_add)
{
    for (size_t Nk = 60; Nk <= 120; Nk += 60) {
        const struct cuda_spread s = spread_of(CUDA_RECOMPUTE, attention_of(1, 2, 2, 100, Nk, 40));
        cr_assert(s.elements[DQ] == 0, "Nk %zu: %zu elements of dQ", Nk, s.elements[DQ]);
    }
}
