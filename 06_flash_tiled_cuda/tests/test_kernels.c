/*
 * The kernels against the reference: every size and option.
 */
#include "06_flash_tiled_cuda/tests/run.h"
#include "common/cpu/memory.h"
#include "common/tests/test.h"

#include <string.h>

static void assert_right(enum kernel_name name, unsigned options)
{
    for (uint64_t seed = 1; seed <= all_or_few(24, 12); seed++) {
        const unsigned some = seed <= 9 ? options & 1U << seed % 9 : random_options(seed, options);
        struct test_problem t = kernel_problem(name, seed, 200, some);
        assert_forward(on_device(name), &t);
        problem_free(&t);
    }
    forward *const kernel = on_device(name);
    if (is_tensor(name)) {
        struct attention p = attention_of(1, 1, 1, 1, 1, 64);
        p.dtype =
            name % 2 ? kernel_type(name) : DTYPE_F16;  // the random problems above are of both
        assert_forward_at_lengths(kernel, p);
    } else
        assert_forward_at_every_size(kernel);
    cr_assert(forward_forms.done >= all_or_few(23, 13), "only %zu sizes: this tests nothing",
              forward_forms.done);
}

TEST(naive, agrees_with_the_reference)
{
    assert_right(NAIVE, WITH_ORDER);
}

TEST(fa1, agrees_with_the_reference)
{
    assert_right(FA1, WITH_ORDER);
}

TEST(fa2, agrees_with_the_reference)
{
    assert_right(FA2, WITH_ORDER);
}

TEST(ahead, agrees_with_the_reference)
{
    assert_right(AHEAD, WITH_ORDER);
}

TEST(turing, agrees_with_the_reference)
{
    assert_right(TURING, WITH_ORDER);
}

TEST(mma, agrees_with_the_reference)
{
    assert_right(MMA, WITH_ORDER);
}

TEST(swizzle, agrees_with_the_reference)
{
    assert_right(SWIZZLE, WITH_ORDER);
}

TEST(async, agrees_with_the_reference)
{
    assert_right(ASYNC, WITH_ORDER);
}

extern kernel_launcher async_three_cpu;  // async with three stages

static void run_three_stages(const struct attention *p, const float *Q, const float *K,
                             const float *V, float *O, float *lse)
{
    const struct test_problem t = { .p = *p, .Q = (float *)Q, .K = (float *)K, .V = (float *)V };
    static kernel_launcher *const launchers[BUILDS] = { async_three_cpu };
    device_use(&device_cpu, NULL);
    kernel_run(&table.steps[ASYNC], launchers, p, tile_of(ASYNC, p), arrays_of(&t, O, lse));
}

TEST(async, agrees_with_the_reference_with_three_stages_too)
{
    for (uint64_t seed = 1; seed <= all_or_few(18, 9); seed++) {
        struct test_problem t = kernel_problem(ASYNC, seed, 200, random_options(seed, WITH_ORDER));
        assert_forward(run_three_stages, &t);
        problem_free(&t);
    }
}

TEST(exp2, agrees_with_the_reference)
{
    assert_right(EXP2, WITH_ORDER);
}

TEST(skip, agrees_with_the_reference)
{
    assert_right(SKIP, WITH_ORDER);
}

TEST(rescale, agrees_with_the_reference)
{
    assert_right(RESCALE, WITH_ORDER);
}

TEST(budget, agrees_with_the_reference)
{
    assert_right(BUDGET, WITH_ORDER);
}

TEST(wgmma, agrees_with_the_reference)
{
    assert_right(WGMMA, WITH_ORDER);
}

TEST(roles, agrees_with_the_reference)
{
    assert_right(ROLES, WITH_ORDER);
}

TEST(overlap, agrees_with_the_reference)
{
    assert_right(OVERLAP, WITH_ORDER);
}

TEST(pingpong, agrees_with_the_reference)
{
    assert_right(PINGPONG, WITH_ORDER);
}

TEST(persistent, agrees_with_the_reference)
{
    assert_right(PERSISTENT, WITH_ORDER);
}

TEST(store, agrees_with_the_reference)
{
    assert_right(STORE, WITH_ORDER);
}

/*
 * Tiles of 192 queries with d = 64, and of 176 keys with d = 128 and no mask: several each way,
 * ragged.
 */
TEST(store, agrees_with_the_reference_over_several_tiles)
{
    forward *const kernel = on_device(STORE);
    for (unsigned k = 0; k < 12; k++) {
        struct attention p = kernel_shape(STORE, 1, 1, 1, 450, k % 3 == 2 ? 390 : 560);
        p.d = k / 3 % 2 ? 128 : 64;
        p.dtype = k / 6 ? DTYPE_BF16 : DTYPE_F16;
        p.causal = k % 3 > 0;
        p.top_left = k % 3 == 1;
        struct test_problem t = problem_of(p, 0, k);
        assert_forward(kernel, &t);
        problem_free(&t);
    }
}

/* Ragged, causal, grouped heads: each query and key counts once. */
static size_t assert_right_in_every_tile(enum kernel_name name, unsigned options)
{
    size_t tiles = 0;
    for (const struct kernel_tile *tile = table.steps[name].tiles; tile->d; tile++, tiles++)
        for (uint64_t seed = 1; seed <= all_or_few(4, 2); seed++) {
            struct test_problem some = kernel_problem(MMA, seed, 200, 0);
            struct attention p = some.p;
            problem_free(&some);
            if (!device_holds(test_device(), tile))
                continue;
            p.d = tile->d;
            struct test_problem t = problem_of(p, seed == 1 ? 0 : options, seed);
            assert_forward(on_device_in_tiles(name, tile->Br, tile->Bc), &t);
            problem_free(&t);
        }
    on_device_in_tiles(name, 0, 0);
    return tiles;
}

TEST(budget, agrees_with_the_reference_in_every_tile)
{
    cr_assert(assert_right_in_every_tile(BUDGET, WITH_ORDER) == 8, "not all tiles");
    cr_assert(assert_right_in_every_tile(COMPLETE, WITH_EVERYTHING) == 7, "not all tiles");
}

TEST(complete, agrees_with_the_reference)
{
    assert_right(COMPLETE, WITH_EVERYTHING);
}

TEST(complete, agrees_with_the_reference_under_every_option_and_at_any_d)
{
    assert_forward_with_options(on_device(COMPLETE), WITH_EVERYTHING);
}

TEST(complete, agrees_with_the_reference_under_every_two_options)
{
    for (unsigned one = 1; one < WITH_DROPOUT; one *= 2)
        for (unsigned two = 2 * one; two <= all_or_few(WITH_DROPOUT, 2 * one); two *= 2) {
            struct test_problem t = kernel_problem(COMPLETE, one + two, 150, one | two);
            assert_forward(on_device(COMPLETE), &t);
            problem_free(&t);
        }
}

TEST(complete, agrees_with_the_reference_in_16_bits)
{
    for (uint64_t seed = 1; seed <= all_or_few(36, 18); seed++) {
        const unsigned one = WITH_EVERYTHING & 1U << seed % 9;
        struct test_problem t =
            narrow_problem(seed, 150, seed <= 18 ? one : random_options(seed, WITH_EVERYTHING));
        assert_forward(on_device(COMPLETE), &t);
        problem_free(&t);
    }
    struct attention p = attention_of(1, 1, 1, 1, 1, 32);
    p.dtype = DTYPE_BF16;
    assert_forward_at_lengths(on_device(COMPLETE), p);
}

TEST(complete, gives_the_output_that_came_with_the_real_input)
{
    assert_forward_of_the_real_input(on_device(COMPLETE));
}

TEST(kernels, give_the_same_bits_again)
{
    for (size_t which = NAIVE; which < KERNELS + 1; which++) {
        const enum kernel_name name = which < KERNELS ? (enum kernel_name)which : COMPLETE;
        struct attention p = kernel_shape(name, 2, 2, 1, 200, 130);
        if (which == KERNELS) {  // in 16 bits this is another kernel
            p.d = 64;
            p.dtype = DTYPE_BF16;
            attention_set_dropout(&p, 0.2, 1);
        }
        struct test_problem t = problem_of(p, 0, 5);
        const size_t n = attention_query_elements(&t.p);
        float *O = allocate(n, sizeof *O, "O"), *again = allocate(n, sizeof *O, "O");
        run_on(test_device(), name, &t, O, NULL);
        const int runs = test_device() == &device_cpu ? 3 : 500;
        for (int k = 0; k < runs; k++) {
            run_on(test_device(), name, &t, again, NULL);
            cr_assert(memcmp(O, again, n * sizeof *O) == 0, "%s: run %d differs",
                      table.steps[name].name, k + 2);
        }
        free(O);
        free(again);
        problem_free(&t);
    }
}
