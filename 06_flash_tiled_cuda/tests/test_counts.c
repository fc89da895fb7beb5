/*
 * Accesses to global memory, counted by the instrumented build, against the formulas; and these
 * against chapter 05's.
 */
#include "05_flash_tiled_cpu/steps/tile.h"
#include "06_flash_tiled_cuda/tests/run.h"
#include "common/tests/test.h"

#include <string.h>

TEST(count, of_every_kernel_is_what_its_formula_gives)
{
    for (enum kernel_name name = NAIVE; name < KERNELS; name++)
        for (uint64_t seed = 1; seed <= all_or_few(8, 2); seed++) {
            const unsigned options = is_complete(name) ? WITH_EVERYTHING : WITH_ORDER;
            struct test_problem t = kernel_problem(name, seed, 140, random_options(seed, options));
            const struct count c = count_of(name, &t);
            for (size_t k = 0; k < c.accesses.n; k++)
                cr_assert(c.accesses.line[k].count == c.accesses.line[k].predicted,
                          "%s --step %s: %s: %zu, predicted %zu", problem_text(&t),
                          table.steps[name].name, c.accesses.line[k].what, c.accesses.line[k].count,
                          c.accesses.line[k].predicted);
            cr_assert(c.as_predicted && c.pairs == attention_pairs(&t.p), "%s --step %s",
                      problem_text(&t), table.steps[name].name);
            problem_free(&t);
        }
}

TEST(count, of_a_tile_that_attends_to_nothing_is_what_its_formula_gives)
{
    for (enum kernel_name name = NAIVE; name < KERNELS; name++) {
        struct attention p = kernel_shape(name, 1, 1, 1, 200, 31);
        p.causal = true;
        struct test_problem t = problem_of(p, 0, 1);
        cr_assert(count_of(name, &t).as_predicted, "%s --step %s", problem_text(&t),
                  table.steps[name].name);
        problem_free(&t);
    }
}

/* Closed forms for one head without a mask. */
TEST(count, is_that_of_chapter_05)
{
    enum { N = 150, D = 16, TC = 2, TR = 2 };  // fa1's tiles have 128 keys, fa2's 128 queries
    struct test_problem t = problem_of(attention_of(1, 1, 1, N, N, D), 0, 1);
    const size_t fa1 = N * D + 2 * N + 2 * N * D + TC * (3 * N * D + 4 * N) + 3 * N;
    const size_t fa2 = 2 * N * D + N + 2 * TR * N * D;
    cr_assert(count_of(FA1, &t).total == fa1, "fa1: not %zu", fa1);
    cr_assert(count_of(FA2, &t).total == fa2, "fa2: not %zu", fa2);
    cr_assert(count_of(COMPLETE, &t).total == fa2, "complete: not %zu", fa2);
    problem_free(&t);
}

TEST(count, of_complete_in_16_bits_is_what_its_formula_gives)
{
    for (uint64_t seed = 1; seed <= all_or_few(10, 3); seed++) {
        struct test_problem t = narrow_problem(seed, 140, random_options(seed, WITH_EVERYTHING));
        const struct lab lab = { .input = { .p = t.p } };
        if (can_be_counted(&lab, &table.steps[COMPLETE]))
            cr_assert(count_of(COMPLETE, &t).as_predicted, "%s", problem_text(&t));
        problem_free(&t);
    }
}

/* Accesses to K are Tr Nk d / 2: the tile has the queries of --br. */
TEST(count, tells_by_how_many_queries_a_tile_has)
{
    for (const struct kernel_tile *tile = table.steps[BUDGET].tiles; tile->d; tile++) {
        struct attention p = kernel_shape(BUDGET, 1, 1, 1, 256, 100);
        p.d = tile->d;
        struct test_problem t = problem_of(p, 0, 1);
        on_device_in_tiles(BUDGET, tile->Br, tile->Bc);
        const size_t right = (256 + 256 / tile->Br * 100) * tile->d + 256;
        cr_assert(count_of(BUDGET, &t).total == right, "%zu x %zu: not %zu", tile->Br, tile->Bc,
                  right);
        problem_free(&t);
    }
    on_device_in_tiles(BUDGET, 0, 0);
}

/* lse stays float32. */
TEST(count, of_16_bits_is_half)
{
    enum { N = 200, D = 64 };
    for (enum kernel_name name = NAIVE; name < KERNELS; name++) {
        if (!is_tensor(name))
            continue;
        struct test_problem t = problem_of(kernel_shape(name, 1, 1, 1, N, N), 0, 1);
        const size_t Tr = ceil_div(N, tile_of(name, &t.p).Br);
        const size_t right = (2 * N * D + 2 * Tr * N * D) / 2 + N;
        cr_assert(count_of(name, &t).total == right, "%s: not %zu", table.steps[name].name, right);
        problem_free(&t);
    }
}

TEST(count, says_what_is_stored_whole)
{
    static const size_t bytes[KERNELS] = { 2 * 4 * 6 * 20 * 30, 2 * 4 * 6 * 20 };
    for (enum kernel_name name = NAIVE; name < KERNELS; name++) {
        struct test_problem t = problem_of(kernel_shape(name, 2, 3, 3, 20, 30), 0, 1);
        cr_assert(count_of(name, &t).slow_bytes == bytes[name], "%s: not %zu",
                  table.steps[name].name, bytes[name]);
        problem_free(&t);
    }
}
