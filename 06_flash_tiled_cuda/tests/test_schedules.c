/*
 * Nondeterminism, on the CPU alone: four orders of a block's threads, data races, and banks of
 * shared memory. On a GPU compute-sanitizer checks the same.
 */
#include "06_flash_tiled_cuda/tests/run.h"
#include "common/cpu/memory.h"
#include "common/cuda/cpu.h"
#include "common/tests/test.h"

#include <stdlib.h>
#include <string.h>

/* Runs the kernel on several tiles each way, some ragged. */
static void run_some(const struct device *device, enum kernel_name name)
{
    if (!kernel_is_in_question(table.steps[name].name))
        return;
    for (uint64_t seed = 1; seed <= all_or_few(4, 2); seed++) {
        const unsigned options = is_complete(name) ? WITH_EVERYTHING : WITH_ORDER;
        struct test_problem t = kernel_problem(name, seed, 150, seed % 2 ? options : 0);
        float *O = allocate(attention_query_elements(&t.p), sizeof *O, "O");
        run_on(device, name, &t, O, NULL);
        free(O);
        problem_free(&t);
    }
    for (size_t k = 0; k < 2 && is_hopper(name); k++) {  // its tiles are larger
        struct attention p = kernel_shape(name, 1, 1, 1, k ? 70 : 130, 300);
        p.d = k ? 128 : 64;
        p.causal = true;
        struct test_problem t = problem_of(p, 0, k);
        float *O = allocate(attention_query_elements(&t.p), sizeof *O, "O");
        run_on(device, name, &t, O, NULL);
        free(O);
        problem_free(&t);
    }
    for (uint64_t seed = 1; seed <= all_or_few(5, 2) && name == COMPLETE;
         seed++) {  // it has a kernel for 16 bits too
        struct test_problem t = narrow_problem(seed, 150, WITH_EVERYTHING);
        float *O = allocate(attention_query_elements(&t.p), sizeof *O, "O");
        run_on(device, name, &t, O, NULL);
        free(O);
        problem_free(&t);
    }
}

TEST(schedules, do_not_change_the_answer)
{
    cuda_cpu_all_schedules(true);  // a launch that depends on its schedule now ends the test
    for (enum kernel_name name = NAIVE; name < KERNELS; name++)
        run_some(&device_cpu, name);
    cuda_cpu_all_schedules(false);
}

TEST(schedules, leave_no_race)
{
    cuda_cpu_watch(CUDA_WATCH_RACES);  // so does a race
    for (enum kernel_name name = NAIVE; name < KERNELS; name++)
        run_some(&device_instrumented, name);
    cuda_cpu_watch(0);
}

/* Except for row statistics of fa1. */
TEST(banks, are_not_waited_for)
{
    for (enum kernel_name name = FA1; name < KERNELS; name++) {
        if (name == MMA || is_hopper(name) || !kernel_is_in_question(table.steps[name].name))
            continue;  // where they are, and the next kernel is about it; where no thread reads tiles
        struct attention p = kernel_shape(name, 1, 1, 1, 130, 130);
        p.d = is_tensor(name) && name % 2 ? 128 : 64;
        struct test_problem t = problem_of(p, 0, 1);
        float *O = allocate(attention_query_elements(&t.p), sizeof *O, "O");
        const struct cuda_line *lines;
        size_t seen = 0;
        cuda_cpu_watch(CUDA_WATCH_PROFILE);
        run_on(&device_instrumented, name, &t, O, NULL);
        cuda_cpu_watch(0);
        const size_t n = cuda_cpu_profile(&lines);
        for (size_t k = 0; k < n; k++) {
            seen += lines[k].shared;
            cr_assert(!lines[k].shared || lines[k].cost <= lines[k].least + lines[k].requests,
                      "%s: %s:%d: %zu cycles for %zu requests that need %zu",
                      table.steps[name].name, lines[k].file, lines[k].line, lines[k].cost,
                      lines[k].requests, lines[k].least);
        }
        cr_assert(seen >= 3, "%s: only %zu lines that use shared memory", table.steps[name].name,
                  seen);
        free(O);
        problem_free(&t);
    }
}

/* Cycles of lines with ldmatrix, and how many they need. */
static void matrix_cycles(enum kernel_name name, size_t d, size_t *cost, size_t *least)
{
    struct attention p = kernel_shape(name, 1, 1, 1, 130, 130);
    p.d = d;
    struct test_problem t = problem_of(p, 0, 1);
    float *O = allocate(attention_query_elements(&t.p), sizeof *O, "O");
    const struct cuda_line *lines;
    *cost = *least = 0;
    cuda_cpu_watch(CUDA_WATCH_PROFILE);
    run_on(&device_instrumented, name, &t, O, NULL);
    cuda_cpu_watch(0);
    const size_t n = cuda_cpu_profile(&lines);
    for (size_t k = 0; k < n; k++)
        if (lines[k].shared && !lines[k].store) {
            *cost += lines[k].cost;
            *least += lines[k].least;
        }
    free(O);
    problem_free(&t);
}

/* Rows of 128 or 256 bytes all begin in bank 0. */
TEST(banks, are_waited_for_eight_times_until_pieces_are_swizzled)
{
    for (size_t d = 64; d <= 128; d += 64) {
        size_t cost, least;
        matrix_cycles(MMA, d, &cost, &least);
        cr_assert(cost == 8 * least && least > 0, "mma: %zu cycles, at least %zu", cost, least);
        for (enum kernel_name name = SWIZZLE; name <= BUDGET; name++) {
            matrix_cycles(name, d, &cost, &least);
            cr_assert(cost == least && least > 0, "%s: %zu cycles, at least %zu",
                      table.steps[name].name, cost, least);
        }
    }
}
