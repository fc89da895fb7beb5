/*
 * What a GPU may do in any order: threads and blocks in four orders, data races, and the banks of shared
 * memory. And the accesses to global memory, those that the machine makes against the formulas. On the CPU alone.
 */
#include "07_backward/tests/cuda.h"
#include "07_backward/tests/tiles.h"
#include "common/cuda/cpu.h"
#include "common/tests/test.h"

static bool is_in_question(const struct step *kernel)
{
    return kernel_is_in_question(kernel->name);
}

/* Runs the kernel once, and frees the problem. */
static void run_once(const struct device *device, const struct step *kernel, struct test_problem t)
{
    struct result r = cuda_gradients(kernel, device, &t);
    result_free(&r);
    problem_free(&t);
}

/*
 * Runs the kernel on two problems that need several tiles each way, with ragged ends; in the causal one tiles are skipped.
 * Kernels for Hopper have larger tiles: 128 keys, and 128 queries with d = 64 or 64 with d = 128.
 */
static void run_tiles(const struct device *device, const struct step *kernel)
{
    static const size_t lengths[][2] = { { 130, 200 }, { 140, 140 } };
    static const size_t for_hopper[][2] = { { 300, 140 }, { 150, 140 } };
    const bool groups = cuda_options(kernel) & WITH_GROUPED_HEADS;
    for (size_t k = 0; k < 2; k++) {
        const size_t *n = kernel->compute_capability == 90 ? for_hopper[k] : lengths[k];
        struct attention p = cuda_shape(kernel, k + 1, groups ? 1 : k + 1, n[0], n[1]);
        p.d = is_tensor(kernel) ? (k ? 128 : 64) : (k ? 40 : 80);
        p.causal = k == 1;
        run_once(device, kernel, problem_of(p, 0, k));
    }
}

/* complete with several options, also in 16 bits, where d = 256 has tiles of its own. */
static void run_options(const struct device *device)
{
    static const size_t dims[] = { 40, 64, 256 };
    for (size_t k = 0; k < 3; k++) {
        struct attention p = attention_of(1, 2, 1, 70, 150, dims[k]);
        p.dtype = k ? DTYPE_BF16 : DTYPE_F32;
        p.window_left = 60;
        attention_set_dropout(&p, 0.2, 1);
        run_once(device, cuda_named("cuda_complete"), problem_of(p, WITH_KEY_MASK, k));
    }
}

static void run_all(const struct device *device)
{
    for (const struct step *kernel = cuda_named("cuda_standard"); kernel < kernels_end(); kernel++)
        if (is_in_question(kernel))
            run_tiles(device, kernel);
    if (is_in_question(cuda_named("cuda_complete")))
        run_options(device);
}

TEST(cuda_schedules, do_not_change_the_answer)
{
    cuda_cpu_all_schedules(true);  // a later launch that depends on its schedule ends the test
    run_all(&device_cpu);
    cuda_cpu_all_schedules(false);
}

TEST(cuda_schedules, leave_no_race)
{
    cuda_cpu_watch(CUDA_WATCH_RACES);  // so does a race
    run_all(&device_instrumented);
    cuda_cpu_watch(0);
}

/* No line of the kernel's waits for a bank of shared memory. */
static void assert_no_waiting(const struct step *kernel, struct attention p)
{
    struct test_problem t = problem_of(p, 0, 1);
    const struct cuda_line *lines;
    size_t seen = 0;
    cuda_cpu_watch(CUDA_WATCH_PROFILE);
    struct result r = cuda_gradients(kernel, &device_instrumented, &t);
    cuda_cpu_watch(0);
    const size_t n = cuda_cpu_profile(&lines);
    for (size_t k = 0; k < n; k++) {
        seen += lines[k].shared;
        cr_assert(!lines[k].shared || lines[k].cost == lines[k].least,
                  "%s, d = %zu: %s:%d: %zu cycles for %zu requests that need %zu", kernel->name,
                  p.d, lines[k].file, lines[k].line, lines[k].cost, lines[k].requests,
                  lines[k].least);
    }
    cr_assert(seen > 5, "%s: only %zu lines that use shared memory", kernel->name, seen);
    result_free(&r);
    problem_free(&t);
}

TEST(cuda_banks, are_not_waited_for)
{
    for (const struct step *kernel = cuda_named("cuda_recompute"); kernel < kernels_end();
         kernel++) {
        if (!is_in_question(kernel))
            continue;
        struct attention p = cuda_shape(kernel, 1, 1, 130, 130);
        p.d = 64;
        assert_no_waiting(kernel, p);
        p.d = 128;
        if (kernel->compute_capability == 90)
            assert_no_waiting(kernel, p);
    }
}

TEST(cuda_banks, are_not_waited_for_by_complete_in_16_bits)
{
    static const size_t dims[] = { 32, 64, 96, 128, 256 };
    for (size_t k = 0; k < sizeof dims / sizeof dims[0]; k++) {
        struct attention p = attention_of(1, 1, 1, 130, 130, dims[k]);
        p.dtype = DTYPE_BF16;
        assert_no_waiting(cuda_named("cuda_complete"), p);
    }
}

/* Frees the problem. */
static void assert_as_predicted(const struct step *kernel, struct test_problem t)
{
    struct lab layer = layer_with_forward(&t);
    const struct count c = count_step(kernel, &layer.input.p, (struct tile_size){ 0, 0 }, layer.x);
    for (size_t k = 0; k < c.accesses.n; k++)
        cr_assert(c.accesses.line[k].count == c.accesses.line[k].predicted,
                  "%s --step %s: %s: %zu, predicted %zu", problem_text(&t), kernel->name,
                  c.accesses.line[k].what, c.accesses.line[k].count, c.accesses.line[k].predicted);
    cr_assert(c.as_predicted && c.pairs == attention_pairs(&t.p), "%s --step %s", problem_text(&t),
              kernel->name);
    forward_free(&layer.x);
    problem_free(&t);
}

TEST(cuda_count, of_every_kernel_is_what_its_formula_gives)
{
    for (const struct step *kernel = cuda_named("cuda_standard"); kernel < kernels_end(); kernel++)
        for (uint64_t seed = 1; seed <= all_or_few(8, 2); seed++)
            assert_as_predicted(kernel, cuda_problem(kernel, seed, 140,
                                                     random_options(seed, cuda_options(kernel))));
    for (uint64_t seed = 1; seed <= all_or_few(12, 4); seed++)
        assert_as_predicted(cuda_named("cuda_complete"),
                            narrow_problem(seed, 140, random_options(seed, WITH_EVERYTHING)));
}

/* Causal, and more keys than queries: then it matters how many queries a tile has. */
TEST(cuda_count, is_by_the_tiles_of_each_kernel)
{
    for (const struct step *kernel = cuda_named("cuda_mma_split"); kernel < kernels_end(); kernel++)
        for (size_t d = 64; d <= 128; d += 64) {
            struct attention p = attention_of(1, 1, 1, 140, 140 + 16, d);
            p.dtype = DTYPE_BF16;
            p.causal = true;
            assert_as_predicted(kernel, problem_of(p, 0, d));
        }
}

/* The closed forms in the kernels' headings, one head without a mask. */
TEST(cuda_count, is_that_of_the_headings)
{
    enum { N = 150, M = 100, D = 20, TR = 3, TC = 2, D16 = 64, TR16 = 2, TC16 = 1 };
    const size_t pairs = N * M, queries = N * D, keys = M * D;
    const size_t queries_16 = N * D16, keys_16 = M * D16;
    const struct {
        const char *name;
        enum dtype type;  // DTYPES: the usual
        size_t n;
    } right[] = {
        { "cuda_standard", DTYPES, 10 * pairs * D + 11 * pairs + queries + 2 * keys },
        { "cuda_recompute", DTYPES,
          2 * queries + 2 * keys + N + TC * (5 * queries + 2 * N) + 3 * TR * keys },
        { "cuda_deterministic", DTYPES,
          3 * queries + 2 * keys + 3 * N + TC * (5 * queries + 2 * N) + 5 * TR * keys },
        { "cuda_mma_split", DTYPES,
          (3 + TC16) * queries_16 + (3 + TR16) * keys_16 + (3 + 2 * TC16) * N },
        { "cuda_mma", DTYPES, queries_16 + 3 * keys_16 + N + TC16 * (3 * queries_16 + 2 * N) },
        // a box brings 128 keys, and here that is all
        { "cuda_wgmma", DTYPES, queries_16 + 3 * keys_16 + N + TC16 * (3 * queries_16 + 2 * N) },
        { "cuda_bulk", DTYPES, queries_16 + 3 * keys_16 + N + TC16 * (3 * queries_16 + 2 * N) },
        { "cuda_roles", DTYPES, queries_16 + 3 * keys_16 + N + TC16 * (3 * queries_16 + 2 * N) },
        { "cuda_store", DTYPES,
          5 * queries_16 / 2 + 2 * keys_16 + N + TC16 * (3 * queries_16 + 2 * N) },
        { "cuda_ordered", DTYPES, queries_16 + 3 * keys_16 + N + TC16 * (3 * queries_16 + 2 * N) },
        { "cuda_complete", DTYPES,
          3 * queries + 2 * keys + 3 * N + TC * (5 * queries + 2 * N) + 5 * TR * keys },
        // and in 16 bits
        { "cuda_complete", DTYPE_F16,
          3 * queries_16 + 3 * keys_16 + 3 * N + TC16 * (queries_16 + 2 * N) + TR16 * keys_16 },
    };
    for (size_t k = 0; k < sizeof right / sizeof right[0]; k++) {
        const struct step *kernel = cuda_named(right[k].name);
        struct attention p = cuda_shape(kernel, 1, 1, N, M);
        p.dtype = right[k].type == DTYPES ? p.dtype : right[k].type;
        p.d = p.dtype == DTYPE_F32 ? D : D16;
        struct lab layer = backward_random(&chapter, p, &(const struct options){ .seed = 1 });
        const size_t total =
            count_step(kernel, &layer.input.p, (struct tile_size){ 0, 0 }, layer.x).total;
        cr_assert(total == right[k].n, "%s: %zu, not %zu", kernel->name, total, right[k].n);
        lab_free(&layer);
    }
}
