/*
 * The kernels for Hopper: against the reference, the order in which they add to dQ, and the GPUs
 * that they accept.
 */
#include "07_backward/tests/cuda.h"

#include "07_backward/tests/tiles.h"
#include "common/cuda/cpu.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KERNELS = 5 };  // for Hopper, from wgmma to ordered

/* Each option alone, and then some together. */
static void assert_right(const struct step *kernel)
{
    const unsigned options = cuda_options(kernel);
    for (uint64_t seed = 1; seed <= all_or_few(24, 12); seed++) {
        const unsigned some = seed <= 9 ? options & 1U << seed % 9 : random_options(seed, options);
        struct test_problem t = cuda_problem(kernel, seed, 150, some);
        assert_backward(on_cuda(kernel), &t);
        problem_free(&t);
    }
}

TEST(cuda_wgmma, agrees_with_the_reference)
{
    assert_right(cuda_named("cuda_wgmma"));
}

TEST(cuda_bulk, agrees_with_the_reference)
{
    assert_right(cuda_named("cuda_bulk"));
}

TEST(cuda_roles, agrees_with_the_reference)
{
    assert_right(cuda_named("cuda_roles"));
}

TEST(cuda_store, agrees_with_the_reference)
{
    assert_right(cuda_named("cuda_store"));
}

TEST(cuda_ordered, agrees_with_the_reference)
{
    assert_right(cuda_named("cuda_ordered"));
}

/* Lengths around those of their tiles, 128 keys by 128 queries or 64, with heads that share keys. */
TEST(cuda_hopper, agrees_with_the_reference_at_lengths_around_its_tiles)
{
    static const size_t lengths[][2] = { { 1, 129 },   { 63, 128 },  { 64, 127 },  { 65, 256 },
                                         { 127, 130 }, { 128, 128 }, { 129, 64 },  { 192, 257 },
                                         { 257, 140 }, { 300, 120 }, { 260, 260 }, { 385, 129 } };
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        struct attention p = attention_of(1, 2, 1, lengths[k][0], lengths[k][1], k % 2 ? 64 : 128);
        p.dtype = k % 3 ? DTYPE_BF16 : DTYPE_F16;
        p.causal = k % 4 != 0;
        struct test_problem t = problem_of(p, 0, k);
        for (size_t n = k + k / 4; n <= k + k / 4 + 2; n += 2)  // two of the kernels
            assert_backward(on_cuda(cuda_named("cuda_wgmma") + n % KERNELS), &t);
        problem_free(&t);
    }
}

/*
 * Keys 133 and 170 are in the block of 128 to 255, to whose first keys queries before 128 attend,
 * but only up to 132. The NaN of later keys must not reach their tile, in any head of the group.
 */
TEST(cuda_hopper, keeps_nan_from_the_tiles_that_do_not_see_it)
{
    enum { NQ = 200, NK = 205, TILE = 128, H = 2 };
    static const size_t keys[] = { TILE + NK - NQ, 170 };
    for (size_t k = 0; k < 4 * KERNELS; k++) {
        const struct step *kernel = cuda_named("cuda_wgmma") + k % KERNELS;
        const size_t key = keys[k / KERNELS / 2],
                     first = key - (NK - NQ);  // the first query that attends to it
        struct attention p = cuda_shape(kernel, H, 1, NQ, NK);
        p.d = k / KERNELS % 2 ? 128 : 64;
        p.causal = true;
        struct test_problem t = problem_of(p, 0, 1);
        for (size_t c = 0; c < p.d; c++)
            t.K[key * p.d + c] = NAN;
        struct result r = cuda_gradients(kernel, test_device(), &t);
        for (size_t n = 0; n < attention_query_elements(&p); n++) {
            const size_t i = n / p.d % NQ;
            cr_assert(isnan(r.of[DQ][n]) ? i >= TILE : i < first,
                      "%s, d = %zu, key %zu: dQ[%zu] is %g", kernel->name, p.d, key, n,
                      (double)r.of[DQ][n]);
        }
        result_free(&r);
        problem_free(&t);
    }
}

// ---- turns --------------------------------------------------------------------------------------

/*
 * dQ of the kernel on `threads` threads of the operating system, blocks in the order of
 * `schedule`.
 */
static struct result on_threads(const struct step *kernel, const struct lab *layer, size_t threads,
                                enum cuda_schedule schedule)
{
    cuda_cpu_threads(threads);
    cuda_cpu_schedule(schedule, 1);
    struct result r = cuda_run(kernel, &device_cpu, layer);
    cuda_cpu_schedule(CUDA_ASCENDING, 0);
    cuda_cpu_threads(0);
    return r;
}

/*
 * One thread that runs the blocks by their numbers adds in the order of the keys. Others must give the same sums: one block at
 * a time that begins last or anywhere, two blocks, and eight.
 */
static void assert_adds_in_order(struct attention p, size_t runs)
{
    static const enum cuda_schedule orders[] = { CUDA_ASCENDING, CUDA_DESCENDING, CUDA_RANDOM };
    static const size_t threads[] = { 1, 2, 8, 8 };
    const size_t bytes = attention_query_elements(&p) * sizeof(float);
    struct test_problem t = problem_of(p, 0, 7);
    struct lab layer = layer_with_forward(&t);
    struct result right = on_threads(cuda_named("cuda_roles"), &layer, 1, CUDA_ASCENDING);
    for (size_t k = 0; k < runs; k++) {
        struct result r =
            on_threads(cuda_named("cuda_ordered"), &layer, threads[k / 3], orders[k % 3]);
        cr_assert(memcmp(r.of[DQ], right.of[DQ], bytes) == 0, "%zu heads, run %zu: other bits", p.H,
                  k);
        result_free(&r);
    }
    struct result other = on_threads(cuda_named("cuda_roles"), &layer, 1, CUDA_DESCENDING);
    cr_assert(memcmp(other.of[DQ], right.of[DQ], bytes) != 0,
              "%zu heads: the order makes no difference: this tests nothing", p.H);
    result_free(&other);
    result_free(&right);
    forward_free(&layer.x);
    problem_free(&t);
}

/* Eight heads get blocks in turns: with one head, and with nine. */
TEST(cuda_ordered, adds_in_the_order_of_the_keys)
{
    assert_adds_in_order(cuda_shape(cuda_named("cuda_ordered"), 1, 1, 130, 1000), 12);
    assert_adds_in_order(cuda_shape(cuda_named("cuda_ordered"), 9, 9, 70, 300), 6);
}

// ---- gradients in 16 bits ------------------------------------------------------------------------

/*
 * One thread adds in one order, and so each gradient is that of roles, rounded once. Blocks run from the last to the first:
 * what one of them stores past its last key is not overwritten by the next head.
 */
TEST(cuda_store, rounds_the_gradients_of_roles)
{
    for (size_t k = 0; k < 4; k++) {
        struct attention p = cuda_shape(cuda_named("cuda_store"), 4, 2, 150, 300 - 60 * k);
        p.d = k % 2 ? 64 : 128;
        p.dtype = k < 2 ? DTYPE_BF16 : DTYPE_F16;
        p.causal = k == 1;
        struct test_problem t = problem_of(p, 0, k);
        struct lab layer = layer_with_forward(&t);
        struct result wide = on_threads(cuda_named("cuda_roles"), &layer, 1, CUDA_DESCENDING);
        struct result narrow = on_threads(cuda_named("cuda_store"), &layer, 1, CUDA_DESCENDING);
        cr_assert(wide.type == DTYPE_F32 && narrow.type == p.dtype, "%s: the type",
                  problem_text(&t));
        for (size_t g = 0; g < GRADIENTS; g++)
            for (size_t n = 0;
                 n < (g == DQ ? attention_query_elements(&p) : attention_key_elements(&p)); n++)
                cr_assert(narrow.of[g][n] == dtype_round(p.dtype, wide.of[g][n]),
                          "%s: gradient %zu, element %zu: %g of %g", problem_text(&t), g, n,
                          (double)narrow.of[g][n], (double)wide.of[g][n]);
        result_free(&narrow);
        result_free(&wide);
        forward_free(&layer.x);
        problem_free(&t);
    }
}

// ---- other GPUs ---------------------------------------------------------------------------------

static void facts_of_an_A100(struct device_facts *f)
{
    *f = (struct device_facts){ .name = "A100", .major = 8 };
}

static void facts_of_an_H100(struct device_facts *f)
{
    *f = (struct device_facts){ .name = "H100", .major = 9 };
}

/* The exit status of a program that requests a device for the kernel, 0 if it gets one. */
static int asked(const struct step *kernel, const char *where, const struct device *gpu)
{
    int status;
    const struct options o = { .device = where, .dtype = DTYPE_BF16 };
    const pid_t child = fork();
    if (child == 0) {
        freopen("/dev/null", "w", stderr);
        _exit(device_for(kernel, gpu, &o) == gpu ? 0 : 1);
    }
    cr_assert(waitpid(child, &status, 0) == child && WIFEXITED(status), "no child");
    return WEXITSTATUS(status);
}

TEST(cuda_hopper, is_not_asked_of_another_gpu)
{
    struct device gpu = device_cpu;
    gpu.build = BUILD_GPU;
    gpu.facts = facts_of_an_A100;
    for (const struct step *kernel = cuda_named("cuda_wgmma"); kernel <= cuda_named("cuda_ordered");
         kernel++) {
        gpu.facts = facts_of_an_A100;
        cr_assert(asked(kernel, "gpu", &gpu) == EXIT_SKIPPED, "%s on an A100", kernel->name);
        cr_assert(asked(kernel, NULL, &gpu) == 1, "%s, and no GPU was asked for", kernel->name);
        const char *const unsupported = step_wrong_device(kernel, &gpu);
        cr_assert(unsupported &&
                      strstr(unsupported, "A100, of compute capability 8.0 (it is for 9.0)"),
                  "%s", unsupported ? unsupported : "nothing");
        gpu.facts = facts_of_an_H100;
        cr_assert(asked(kernel, "gpu", &gpu) == 0, "%s on an H100", kernel->name);
    }
    gpu.facts = facts_of_an_A100;
    cr_assert(asked(cuda_named("cuda_mma"), "gpu", &gpu) == 0, "mma on an A100");
}

/* The kernel that another is compared with runs on the same GPU. */
TEST(cuda_hopper, is_not_compared_with_on_another_gpu)
{
    const struct attention p = cuda_shape(cuda_named("cuda_mma"), 1, 1, 5, 5);
    struct device gpu = device_cpu;
    gpu.build = BUILD_GPU;
    gpu.facts = facts_of_an_A100;
    const struct lab lab = { .chapter = &cuda_chapter, .input = { .p = p } };
    device_use(&gpu, NULL);
    const struct step *before = lab_step_before(&lab, cuda_named("cuda_complete"));
    cr_assert(before == cuda_named("cuda_mma"), "%s on an A100", before ? before->name : "none");
    gpu.facts = facts_of_an_H100;
    before = lab_step_before(&lab, cuda_named("cuda_complete"));
    device_use(NULL, NULL);
    cr_assert(before == cuda_named("cuda_ordered"), "%s on an H100",
              before ? before->name : "none");
}
