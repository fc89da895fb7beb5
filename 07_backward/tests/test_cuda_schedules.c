/*
 * Nondeterminism, on the CPU alone: four orders of threads and blocks, data races, banks of shared
 * memory. And accesses to global memory, counted, against the formulas.
 */
#include "07_backward/tests/cuda.h"
#include "07_backward/tests/tiles.h"
#include "common/cuda/cpu.h"
#include "common/tests/test.h"

static bool is_in_question(enum cuda_kernel_name name)
{
    return kernel_is_in_question(cuda_kernels[name].name);
}

/* Runs the kernel once; frees the problem. */
static void run_once(const struct device *device, enum cuda_kernel_name name, struct test_problem t)
{
    struct result r = cuda_gradients(name, device, &t);
    result_free(&r);
    problem_free(&t);
}

/*
 * Two problems of several tiles each way, ragged; the causal one skips tiles. Hopper's tiles have
 * 128 keys by 128 queries, or 64 with d = 128.
 */
static void run_tiles(const struct device *device, enum cuda_kernel_name name)
{
    static const size_t lengths[][2] = { { 130, 200 }, { 140, 140 } };
    static const size_t for_hopper[][2] = { { 300, 140 }, { 150, 140 } };
    const bool groups = cuda_options(name) & WITH_GROUPED_HEADS;
    for (size_t k = 0; k < 2; k++) {
        const size_t *n = cuda_kernels[name].compute_capability == 90 ? for_hopper[k] : lengths[k];
        struct attention p = cuda_shape(name, k + 1, groups ? 1 : k + 1, n[0], n[1]);
        p.d = is_tensor(name) ? (k ? 128 : 64) : (k ? 40 : 80);
        p.causal = k == 1;
        run_once(device, name, problem_of(p, 0, k));
    }
}

/* complete with several options, also in 16 bits, where d = 256 has its own tiles. */
static void run_options(const struct device *device)
{
    static const size_t dims[] = { 40, 64, 256 };
    for (size_t k = 0; k < 3; k++) {
        struct attention p = attention_of(1, 2, 1, 70, 150, dims[k]);
        p.dtype = k ? DTYPE_BF16 : DTYPE_F32;
        p.window_left = 60;
        attention_set_dropout(&p, 0.2, 1);
        run_once(device, CUDA_COMPLETE, problem_of(p, WITH_KEY_MASK, k));
    }
}

static void run_all(const struct device *device)
{
    for (enum cuda_kernel_name name = CUDA_STANDARD; name < CUDA_KERNELS; name++)
        if (is_in_question(name))
            run_tiles(device, name);
    if (is_in_question(CUDA_COMPLETE))
        run_options(device);
}

TEST(cuda_schedules, do_not_change_the_answer)
{
    cuda_cpu_all_schedules(true);  // a launch that depends on its schedule now ends the test
    run_all(&device_cpu);
    cuda_cpu_all_schedules(false);
}

TEST(cuda_schedules, leave_no_race)
{
    cuda_cpu_watch(CUDA_WATCH_RACES);  // so does a race
    run_all(&device_instrumented);
    cuda_cpu_watch(0);
}

/* Without bank conflicts. */
static void assert_no_waiting(enum cuda_kernel_name name, struct attention p)
{
    struct test_problem t = problem_of(p, 0, 1);
    const struct cuda_line *lines;
    size_t seen = 0;
    cuda_cpu_watch(CUDA_WATCH_PROFILE);
    struct result r = cuda_gradients(name, &device_instrumented, &t);
    cuda_cpu_watch(0);
    const size_t n = cuda_cpu_profile(&lines);
    for (size_t k = 0; k < n; k++) {
        seen += lines[k].shared;
        cr_assert(!lines[k].shared || lines[k].cost == lines[k].least,
                  "%s, d = %zu: %s:%d: %zu cycles for %zu requests that need %zu",
                  cuda_kernels[name].name, p.d, lines[k].file, lines[k].line, lines[k].cost,
                  lines[k].requests, lines[k].least);
    }
    cr_assert(seen > 5, "%s: only %zu lines that use shared memory", cuda_kernels[name].name, seen);
    result_free(&r);
    problem_free(&t);
}

TEST(cuda_banks, are_not_waited_for)
{
    for (enum cuda_kernel_name name = CUDA_RECOMPUTE; name < CUDA_KERNELS; name++) {
        if (!is_in_question(name))
            continue;
        struct attention p = cuda_shape(name, 1, 1, 130, 130);
        p.d = 64;
        assert_no_waiting(name, p);
        p.d = 128;
        if (cuda_kernels[name].compute_capability == 90)
            assert_no_waiting(name, p);
    }
}

TEST(cuda_banks, are_not_waited_for_by_complete_in_16_bits)
{
    static const size_t dims[] = { 32, 64, 96, 128, 256 };
    for (size_t k = 0; k < sizeof dims / sizeof dims[0]; k++) {
        struct attention p = attention_of(1, 1, 1, 130, 130, dims[k]);
        p.dtype = DTYPE_BF16;
        assert_no_waiting(CUDA_COMPLETE, p);
    }
}

static void assert_as_predicted(enum cuda_kernel_name name, struct test_problem t)
{
    struct layer layer = layer_with_forward(&t);
    const struct count c = cuda_count(&cuda_kernels[name], &layer);
    for (size_t k = 0; k < c.accesses.n; k++)
        cr_assert(c.accesses.line[k].count == c.accesses.line[k].predicted,
                  "%s --step %s: %s: %zu, predicted %zu", problem_text(&t), cuda_kernels[name].name,
                  c.accesses.line[k].what, c.accesses.line[k].count, c.accesses.line[k].predicted);
    cr_assert(c.as_predicted && c.pairs == attention_pairs(&t.p), "%s --step %s", problem_text(&t),
              cuda_kernels[name].name);
    kept_free(&layer.kept);
    problem_free(&t);
}

TEST(cuda_count, of_every_kernel_is_what_its_formula_gives)
{
    for (enum cuda_kernel_name name = CUDA_STANDARD; name < CUDA_KERNELS; name++)
        for (uint64_t seed = 1; seed <= all_or_few(8, 2); seed++)
            assert_as_predicted(
                name, cuda_problem(name, seed, 140, random_options(seed, cuda_options(name))));
    for (uint64_t seed = 1; seed <= all_or_few(12, 4); seed++)
        assert_as_predicted(CUDA_COMPLETE,
                            narrow_problem(seed, 140, random_options(seed, WITH_EVERYTHING)));
}

/* Causal, more keys than queries: the number of queries in a tile matters. */
TEST(cuda_count, is_by_the_tiles_of_each_kernel)
{
    for (enum cuda_kernel_name name = CUDA_MMA_SPLIT; name < CUDA_KERNELS; name++)
        for (size_t d = 64; d <= 128; d += 64) {
            struct attention p = attention_of(1, 1, 1, 140, 140 + 16, d);
            p.dtype = DTYPE_BF16;
            p.causal = true;
            assert_as_predicted(name, problem_of(p, 0, d));
        }
}

/* The kernels' closed forms, for one head without a mask. */
TEST(cuda_count, is_that_of_the_headings)
{
    enum { N = 150, M = 100, D = 20, TR = 3, TC = 2, D16 = 64, TR16 = 2, TC16 = 1 };
    const size_t pairs = N * M, queries = N * D, keys = M * D;
    const size_t queries_16 = N * D16, keys_16 = M * D16;
    const size_t right[] = {
        [CUDA_STANDARD] = 10 * pairs * D + 11 * pairs + queries + 2 * keys,
        [CUDA_RECOMPUTE] = 2 * queries + 2 * keys + N + TC * (5 * queries + 2 * N) + 3 * TR * keys,
        [CUDA_DETERMINISTIC] =
            3 * queries + 2 * keys + 3 * N + TC * (5 * queries + 2 * N) + 5 * TR * keys,
        [CUDA_MMA_SPLIT] = (3 + TC16) * queries_16 + (3 + TR16) * keys_16 + (3 + 2 * TC16) * N,
        [CUDA_MMA] = queries_16 + 3 * keys_16 + N + TC16 * (3 * queries_16 + 2 * N),
        // one box of 128 keys
        [CUDA_WGMMA] = queries_16 + 3 * keys_16 + N + TC16 * (3 * queries_16 + 2 * N),
        [CUDA_BULK] = queries_16 + 3 * keys_16 + N + TC16 * (3 * queries_16 + 2 * N),
        [CUDA_ROLES] = queries_16 + 3 * keys_16 + N + TC16 * (3 * queries_16 + 2 * N),
        [CUDA_STORE] = 5 * queries_16 / 2 + 2 * keys_16 + N + TC16 * (3 * queries_16 + 2 * N),
        [CUDA_ORDERED] = queries_16 + 3 * keys_16 + N + TC16 * (3 * queries_16 + 2 * N),
        [CUDA_COMPLETE] =
            3 * queries + 2 * keys + 3 * N + TC * (5 * queries + 2 * N) + 5 * TR * keys,
        // and in 16 bits
        [CUDA_KERNELS] =
            3 * queries_16 + 3 * keys_16 + 3 * N + TC16 * (queries_16 + 2 * N) + TR16 * keys_16,
    };
    for (size_t k = 0; k < sizeof right / sizeof right[0]; k++) {
        const enum cuda_kernel_name name =
            k < CUDA_KERNELS ? (enum cuda_kernel_name)k : CUDA_COMPLETE;
        struct attention p = cuda_shape(name, 1, 1, N, M);
        p.dtype = k < CUDA_KERNELS ? p.dtype : DTYPE_F16;
        p.d = p.dtype == DTYPE_F32 ? D : D16;
        struct layer layer = layer_random(p, 1);
        const size_t total = cuda_count(&cuda_kernels[name], &layer).total;
        cr_assert(total == right[k], "%s: %zu, not %zu", cuda_kernels[name].name, total, right[k]);
        layer_free(&layer);
    }
}
