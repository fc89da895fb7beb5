/*
 * Masked keys, queries without keys, scores of minus infinity, NaN, dropout: none may affect other
 * gradients.
 */
#include "07_backward/tests/cuda.h"

#include "07_backward/tests/tiles.h"
#include "common/cuda/cpu.h"
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Keys without queries are NaN. */
static void assert_ignores_unseen_keys(const struct step *kernel, unsigned options)
{
    size_t hidden = 0;
    for (uint64_t seed = 8; seed < 8 + all_or_few(16, 4); seed++) {
        struct test_problem t = cuda_problem(kernel, seed, 100, options);
        hidden += problem_poison_unseen_keys(&t);
        assert_backward(on_cuda(kernel), &t);
        assert_backward_gives_zeros(on_cuda(kernel), &t);
        problem_free(&t);
    }
    cr_assert(hidden > 100, "only %zu keys were hidden: this tests nothing", hidden);
}

/*
 * A key without queries in a tile must not affect that tile, even if others in the same fragment
 * have some: the queries before tile 160, or 128 for tiles of 128, must not get the NaN that 165
 * and later ones attend to.
 */
TEST(cuda_tensor_cores, keep_nan_from_the_tiles_that_do_not_see_it)
{
    enum { NQ = 300, NK = 305, KEY = 170, FIRST = 165 };
    for (const struct step *kernel = cuda_named("cuda_mma_split");
         kernel <= cuda_named("cuda_ordered"); kernel++) {
        struct attention p = cuda_shape(kernel, 1, 1, NQ, NK);
        p.causal = true;
        struct test_problem t = problem_of(p, 0, 1);
        for (size_t c = 0; c < p.d; c++)
            t.K[KEY * p.d + c] = NAN;
        struct result r = cuda_gradients(kernel, test_device(), &t);
        for (size_t n = 0; n < (kernel == cuda_named("cuda_mma") ? 160 : 128) * p.d; n++)
            cr_assert(!isnan(r.of[DQ][n]), "%s: dQ[%zu]", kernel->name, n);
        for (size_t n = FIRST * p.d; n < NQ * p.d; n++)
            cr_assert(isnan(r.of[DQ][n]), "%s: dQ[%zu] is %g", kernel->name, n,
                      (double)r.of[DQ][n]);
        result_free(&r);
        problem_free(&t);
    }
}

TEST(cuda_complete, reads_no_key_that_no_query_sees_and_gives_it_zeros)
{
    assert_backward_ignores_unseen_keys(on_cuda(cuda_named("cuda_complete")),
                                        WITH_KEY_MASK | WITH_GROUPED_HEADS);
    assert_backward_ignores_unseen_keys(on_cuda(cuda_named("cuda_complete")), WITH_EVERYTHING);
}

TEST(cuda_complete, reads_no_query_that_sees_nothing)
{
    assert_backward_ignores_queries_that_see_nothing(on_cuda(cuda_named("cuda_complete")),
                                                     WITH_EVERYTHING);
}

TEST(cuda_steps, read_no_key_that_no_query_sees_and_give_it_zeros)
{
    const unsigned options = WITH_UNEQUAL_LENGTHS | WITH_CAUSAL | WITH_TOP_LEFT;
    for (const struct step *kernel = cuda_named("cuda_standard");
         kernel < cuda_named("cuda_complete"); kernel++)
        if (is_tensor(kernel))
            assert_ignores_unseen_keys(kernel, options);
        else
            assert_backward_ignores_unseen_keys(on_cuda(kernel), options);
}

TEST(cuda_kernels, give_zeros_where_no_query_sees_a_key)
{
    for (const struct step *kernel = cuda_named("cuda_standard"); kernel < kernels_end();
         kernel++) {
        struct attention p = cuda_shape(kernel, 2, 2, 170, 20);
        p.causal = true;  // bottom-right: the first 150 queries precede the first key
        struct test_problem t = problem_of(p, 0, 3);
        struct result r = cuda_gradients(kernel, test_device(), &t);
        for (size_t n = 0; n < attention_query_elements(&p); n++)
            cr_assert(n / p.d % p.Nq >= 150 || r.of[DQ][n] == 0.0f, "%s: dQ[%zu] is %g",
                      kernel->name, n, (double)r.of[DQ][n]);
        result_free(&r);
        problem_free(&t);
    }
    struct test_problem t = problem_of(attention_of(2, 2, 1, 70, 90, 24), WITH_KEY_MASK, 3);
    memset(t.key_mask, 0, 2 * 90);
    struct result r = cuda_gradients(cuda_named("cuda_complete"), test_device(), &t);
    assert_zeros(&r, &t.p, "complete");
    result_free(&r);
    problem_free(&t);
}

/* A key with a score of -inf has no weight: dK and dV are 0 there. So also where all keys are such. */
TEST(cuda_kernels, give_scores_of_minus_infinity_no_weight)
{
    enum { N = 100 };
    for (size_t k = 0; k < 2 * cuda_table.count; k++) {
        const struct step *kernel = cuda_table.steps + k / 2;
        const size_t few = k % 2 ? N : 70;
        struct test_problem t = problem_of(cuda_shape(kernel, 1, 1, N, N), 0, 1);
        const size_t D = t.p.d;
        for (size_t i = 0; i < N; i++) {
            t.Q[i * D] = 1.0f;
            t.K[i * D] = i < few ? -INFINITY : t.K[i * D];
        }
        struct result r = cuda_gradients(kernel, test_device(), &t);
        for (size_t n = 0; n < N * D; n++)
            cr_assert((r.of[DK][n] == 0.0f && r.of[DV][n] == 0.0f) == (n / D < few),
                      "%s: dK[%zu] is %g, dV %g", kernel->name, n, (double)r.of[DK][n],
                      (double)r.of[DV][n]);
        result_free(&r);
        problem_free(&t);
    }
}

/* With dO of ones, dV of a key is the sum of its weights that dropout keeps: with one query, an element of Z. */
static void assert_drops_what_the_cpu_drops(enum dtype type, size_t N, size_t d, uint64_t seed)
{
    struct attention p = attention_of(2, 2, 2, 1, N, d);
    p.dtype = type;
    attention_set_dropout(&p, 0.4, seed);
    struct test_problem t = problem_of(p, 0, 3);
    for (size_t n = 0; n < attention_query_elements(&p); n++)
        t.dO[n] = 1.0f;
    struct result r = cuda_gradients(cuda_named("cuda_complete"), test_device(), &t);
    for (size_t n = 0; n < attention_key_elements(&p); n++) {
        const size_t b = n / d / N / 2, h = n / d / N % 2, j = n / d % N;
        cr_assert((r.of[DV][n] != 0.0f) == dropout_keeps(&p, b, h, 0, j),
                  "%s, b %zu, h %zu, j %zu: dV is %g", dtype_name(type), b, h, j,
                  (double)r.of[DV][n]);
    }
    result_free(&r);
    problem_free(&t);
}

TEST(cuda_complete, drops_the_weights_that_the_cpu_drops)
{
    for (uint64_t seed = 11; seed < 41; seed++)
        assert_drops_what_the_cpu_drops(DTYPE_F32, 100, 8, seed);
}

TEST(cuda_complete, drops_in_16_bits_the_weights_that_the_cpu_drops)
{
    for (uint64_t seed = 11; seed < 23; seed++)
        assert_drops_what_the_cpu_drops(seed % 2 ? DTYPE_F16 : DTYPE_BF16, 300, 32, seed);
}

static void launch(void *loaded)
{
    cuda_launch(loaded);
}

/*
 * A launcher aborts for a d or type for which it is not compiled. Arrays were loaded for one that
 * it is, and are longer than this d needs: D is computed first.
 */
static void assert_not_compiled(const struct step *kernel, enum dtype loaded, size_t d,
                                enum dtype type, const char *part)
{
    struct attention p = attention_of(1, 1, 1, 5, 5, loaded == DTYPE_F32 ? 128 : 64);
    p.dtype = loaded;
    struct test_problem t = problem_of(p, 0, 1);
    struct lab layer = layer_with_forward(&t);
    struct on_device l = cuda_load(kernel, &device_cpu, &layer.input.p, layer.x);
    l.p.d = d;
    l.p.dtype = type;
    child_aborts(launch, &l, part);
    cuda_unload(&l);
    forward_free(&layer.x);
    problem_free(&t);
}

/* The gradients of the kernel on the CPU, all on one stream. */
static struct result run_on_stream(const struct step *kernel, const struct lab *layer,
                                   cudaStream_t stream)
{
    struct on_device l = cuda_load(kernel, &device_cpu, &layer->input.p, layer->x);
    const size_t here = cuda_cpu_works(stream), default_stream = cuda_cpu_works(NULL);
    l.stream = stream;
    cuda_launch(&l);
    cr_assert(cuda_cpu_works(stream) > here, "%s: nothing on its stream", kernel->name);
    cr_assert(!stream || cuda_cpu_works(NULL) == default_stream, "%s: on the default stream",
              kernel->name);
    const struct tensors x = outputs_new(&layer->input.p, layer->x);
    cuda_download(&l, x);
    cuda_unload(&l);
    return (struct result){ .of = { x.dQ, x.dK, x.dV } };
}

/* Every kernel gives the same bits on a stream of its own, and then on another device. With 16 bits it needs more than 48 kB. */
static void assert_same_everywhere(const struct step *kernel, enum dtype type)
{
    struct attention p = attention_of(1, 2, 2, 70, 90, type == DTYPE_F32 ? 64 : 128);
    p.dtype = type;
    struct test_problem t = problem_of(p, 0, 1);
    struct lab layer = layer_with_forward(&t);
    const size_t n = attention_query_elements(&p), keys = attention_key_elements(&p);
    struct result usual = run_on_stream(kernel, &layer, NULL);
    for (int device = 0; device < 2; device++) {
        cuda_cpu_devices(2, device);
        struct result other = run_on_stream(kernel, &layer, cuda_cpu_stream());
        for (size_t g = 0; g < GRADIENTS; g++)
            cr_assert(memcmp(usual.of[g], other.of[g], (g == DQ ? n : keys) * sizeof(float)) == 0,
                      "%s: gradient %zu on device %d", kernel->name, g, device);
        result_free(&other);
    }
    cuda_cpu_devices(1, 0);
    result_free(&usual);
    forward_free(&layer.x);
    problem_free(&t);
}

TEST(cuda_kernels, start_on_any_stream_and_device)
{
    cuda_cpu_threads(1);  // so that atomic additions have one order
    for (const struct step *kernel = cuda_named("cuda_standard"); kernel < kernels_end(); kernel++)
        assert_same_everywhere(kernel, is_tensor(kernel) ? DTYPE_BF16 : DTYPE_F32);
    assert_same_everywhere(cuda_named("cuda_complete"), DTYPE_F16);
    cuda_cpu_threads(0);
}

TEST(cuda_kernels, are_not_launched_for_what_is_not_compiled)
{
    for (const struct step *kernel = cuda_named("cuda_standard");
         kernel < cuda_named("cuda_complete"); kernel++) {
        char part[100];
        const char *const name = kernel->name + strlen("cuda_");
        snprintf(part, sizeof part, "backward_%s_cpu: not compiled for %s", name,
                 is_tensor(kernel)                       ? "d = 32 with --dtype bf16"
                 : kernel == cuda_named("cuda_standard") ? "--dtype bf16"
                                                         : "d = 32 with --dtype bf16");
        assert_not_compiled(kernel, is_tensor(kernel) ? DTYPE_BF16 : DTYPE_F32, 32, DTYPE_BF16,
                            part);
    }
    assert_not_compiled(cuda_named("cuda_recompute"), DTYPE_F32, 129, DTYPE_F32,
                        "backward_recompute_cpu: not compiled for d = 129 with --dtype f32");
    assert_not_compiled(cuda_named("cuda_deterministic"), DTYPE_F32, 129, DTYPE_F32,
                        "backward_deterministic_cpu: not compiled for d = 129 with --dtype f32");
    assert_not_compiled(cuda_named("cuda_complete"), DTYPE_F32, 129, DTYPE_F32,
                        "backward_complete_cpu: not compiled for d = 129");
    assert_not_compiled(cuda_named("cuda_complete"), DTYPE_BF16, 40, DTYPE_BF16,
                        "backward_complete16: not compiled for d = 40");
}
