/*
 * The kernels of chapter 06 as forward passes, on the CPU, or with CUDA_TESTS=gpu on a GPU.
 *
 *     assert_forward_at_every_size(on_device(FA2));
 */
#ifndef FLASH_TILED_CUDA_TESTS_RUN_H
#define FLASH_TILED_CUDA_TESTS_RUN_H

#include "../chapter.h"
#include "forward.h"

enum {
    WITH_SHAPES = WITH_SCALE | WITH_GROUPED_HEADS | WITH_UNEQUAL_LENGTHS,
    WITH_ORDER = WITH_SHAPES | WITH_CAUSAL | WITH_TOP_LEFT,  // every kernel knows these
};

/* The device that is tested. */
const struct device *test_device(void);

/* The kernel on that device. From here on it is the one that the tests of forward.h run. */
forward *on_device(enum kernel_name name);

/* The same on `device`, with lse left out where it is NULL. */
void run_on(const struct device *device, enum kernel_name name, const struct test_problem *t,
            float *O, float *lse);

/* Problem number `seed` with these options, of an N up to `most`, and a d that every kernel has. */
struct test_problem kernel_problem(uint64_t seed, size_t most, unsigned options);

/* The problem as a chapter program's input; the arrays stay the problem's. */
struct attention_input input_of(const struct test_problem *t);

#endif
