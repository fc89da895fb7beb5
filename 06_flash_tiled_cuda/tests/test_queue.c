/*
 * Persistent blocks: the order of their tiles, and that neither the number of blocks nor earlier
 * tiles change an answer.
 */
#include "06_flash_tiled_cuda/kernels/parts/tiles.h"
#include "06_flash_tiled_cuda/tests/run.h"
#include "common/cpu/memory.h"
#include "common/cuda/cpu.h"
#include "common/tests/test.h"

#include <stdlib.h>
#include <string.h>

static ptrdiff_t length_of(const struct attention *p, size_t i0)
{
    const size_t end = i0 + TENSOR_BR < p->Nq ? i0 + TENSOR_BR : p->Nq;
    const ptrdiff_t seen = (ptrdiff_t)end + attention_band(p).high;
    return seen < 0 ? 0 : seen < (ptrdiff_t)p->Nk ? seen : (ptrdiff_t)p->Nk;
}

TEST(queue, has_every_tile_once_and_the_longest_first)
{
    static const size_t sizes[][2] = {
        { 1, 1 }, { 128, 128 }, { 129, 300 }, { 1000, 1000 }, { 700, 70 }
    };
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        struct attention p = attention_of(2, 3, 3, sizes[k][0], sizes[k][1], 64);
        p.causal = true;
        bool taken[6][8] = { { false } };
        ptrdiff_t before = (ptrdiff_t)p.Nk;
        size_t head, i0, n = 0;
        for (; kernel_takes(&p, n, &head, &i0); n++) {
            cr_assert(head < 6 && i0 < p.Nq && i0 % TENSOR_BR == 0 && !taken[head][i0 / TENSOR_BR],
                      "number %zu: head %zu from query %zu on", n, head, i0);
            taken[head][i0 / TENSOR_BR] = true;
            cr_assert(length_of(&p, i0) <= before, "number %zu is longer than the one before", n);
            before = length_of(&p, i0);
        }
        cr_assert(n == 6 * ((p.Nq + TENSOR_BR - 1) / TENSOR_BR), "%zu tiles", n);
    }
}

/* K and V of 50 000 keys by 64 elements: 12.8 MB a head. Two fit, and four heads share them. */
TEST(queue, has_some_heads_at_a_time_whose_keys_fit_into_a_cache)
{
    for (size_t shared = 1; shared <= 2; shared++) {
        struct attention p = attention_of(1, 5 * shared, 5, 1000, 50000, 64);
        size_t head, i0;
        for (size_t n = 0; kernel_takes(&p, n, &head, &i0); n++) {
            const size_t some = 2 * shared, tiles = (p.Nq + TENSOR_BR - 1) / TENSOR_BR;
            cr_assert(head / some == n / (some * tiles), "number %zu is of head %zu", n, head);
        }
    }
}

/* Several tiles of queries a block, ragged; often one consumer has fewer tiles of keys. */
static struct test_problem some_tiles(float scale)
{
    struct attention p = kernel_shape(PERSISTENT, 1, 4, 2, 300, 340);
    p.causal = true;
    p.scale = scale;
    return problem_of(p, 0, 1);
}

static void assert_the_same_on_any_number(enum kernel_name name)
{
    static const size_t processors[] = { 1, 2, 3, 12, 40 };
    struct test_problem t = some_tiles(-0.1f);
    const size_t n = attention_query_elements(&t.p);
    float *O = allocate(n, sizeof *O, "O"), *first = allocate(n, sizeof *O, "O");
    for (size_t k = 0; k < sizeof processors / sizeof processors[0]; k++) {
        cuda_cpu_threads(processors[k]);
        run_on(test_device(), name, &t, k ? O : first, NULL);
        cr_assert(k == 0 || memcmp(O, first, n * sizeof *O) == 0, "%zu multiprocessors",
                  processors[k]);
    }
    cuda_cpu_threads(0);
    free(first);
    free(O);
    problem_free(&t);
}

TEST(persistent, does_not_depend_on_the_number_of_multiprocessors)
{
    assert_the_same_on_any_number(PERSISTENT);
}

TEST(store, does_not_depend_on_the_number_of_multiprocessors)
{
    assert_the_same_on_any_number(STORE);
}

/* Three tiles or more a block, of all shapes, in the same shared memory. */
TEST(persistent_block_count, leave_no_race)
{
    cuda_cpu_threads(1);
    cuda_cpu_watch(CUDA_WATCH_RACES);
    for (unsigned k = 0; k < 6; k++) {
        const enum kernel_name name = k % 2 ? PERSISTENT : STORE;
        const bool causal = k / 2 == 1;  // then the queries of the first tile attend to no key
        struct attention p = kernel_shape(name, 1, 2, 1, 200, causal ? 60 : 100);
        p.d = k / 2 ? 128 : 64;
        p.causal = causal;
        struct test_problem t = problem_of(p, 0, k);
        float *O = allocate(attention_query_elements(&t.p), sizeof *O, "O");
        run_on(&device_instrumented, name, &t, O, NULL);
        free(O);
        problem_free(&t);
    }
    cuda_cpu_watch(0);
    cuda_cpu_threads(0);
}

TEST(persistent, starts_as_many_blocks_as_there_are_multiprocessors)
{
    struct test_problem t = some_tiles(0.1f);
    const struct step *k = &table.steps[PERSISTENT];
    const struct kernel_shape shape = step_shape(k, &t.p, tile_of(PERSISTENT, &t.p));
    cr_assert(shape.blocks == 12, "%zu tiles", shape.blocks);
    for (size_t n = 1; n <= 20; n++) {
        cuda_cpu_threads(n);
        const size_t blocks = step_blocks(k, shape.blocks, &device_cpu);
        cr_assert(blocks == (n < 12 ? n : 12), "%zu blocks", blocks);
        cr_assert(step_blocks(&table.steps[PINGPONG], shape.blocks, &device_cpu) == 12,
                  "pingpong's stay");
    }
    cuda_cpu_threads(0);
    problem_free(&t);
}

DECLARE_LAUNCHERS(kernel_launcher, persistent)

/* Launches it, and again after the first O is gone. */
static void launch_twice(const struct attention *p, const struct device_arrays *arrays,
                         cudaStream_t stream)
{
    static kernel_launcher *const launchers[BUILDS] = LAUNCHERS(persistent);
    const size_t n = attention_query_elements(p);
    uint16_t *nan = allocate(n, sizeof *nan, "no numbers");
    memset(nan, 0xff, n * sizeof *nan);
    launchers[device_current()->build](p, arrays, stream);
    device_current()->upload(arrays->O16, nan, n * sizeof *nan);
    launchers[device_current()->build](p, arrays, stream);
    free(nan);
}

TEST(persistent, takes_all_tiles_again_at_the_next_launch)
{
    static kernel_launcher *const twice[BUILDS] = { launch_twice, launch_twice, launch_twice };
    struct test_problem t = some_tiles(0.1f);
    const size_t n = attention_query_elements(&t.p);
    float *O = allocate(n, sizeof *O, "O"), *again = allocate(n, sizeof *O, "O");
    run_on(test_device(), PERSISTENT, &t, O, NULL);
    kernel_run(&table.steps[PERSISTENT], twice, &t.p, tile_of(PERSISTENT, &t.p),
               arrays_of(&t, again, NULL));
    for (size_t k = 0; k < n; k++)
        cr_assert(again[k] == O[k], "O[%zu] is %g, and was %g", k, (double)again[k], (double)O[k]);
    free(again);
    free(O);
    problem_free(&t);
}
