/*
 * Chapter 07's kernels as backward passes, on the CPU, or with CUDA_TESTS=gpu on a GPU.
 *
 *     assert_backward(on_cuda(CUDA_RECOMPUTE), &problem);
 */
#ifndef BACKWARD_TESTS_CUDA_H
#define BACKWARD_TESTS_CUDA_H

#include "07_backward/program/cuda/run.h"
#include "common/tests/backward.h"

enum {
    WITH_ORDER = WITH_SCALE | WITH_UNEQUAL_LENGTHS | WITH_CAUSAL | WITH_TOP_LEFT,  // of all kernels
};

const struct device *test_device(void);

/* `device`, or the CPU if the kernel is for other GPUs. */
const struct device *cuda_device_for(enum cuda_kernel_name name, const struct device *device);

/* For 16 bits alone? */
bool is_tensor(enum cuda_kernel_name name);

/* The kernel's options, as a set. */
unsigned cuda_options(enum cuda_kernel_name name);

/* The kernel on test_device(); the tests of backward.h run it until the next call. */
backward *on_cuda(enum cuda_kernel_name name);

/* All 16-bit kernels at once, because the reference takes most of the time. */
backward *on_cuda_in_16_bits(void);

/* Problem number `seed` with these options, N <= `most`, and a d and type of the kernel. */
struct test_problem cuda_problem(enum cuda_kernel_name name, uint64_t seed, size_t most,
                                 unsigned options);

/* The same for complete in 16 bits: each type and each d. */
struct test_problem narrow_problem(uint64_t seed, size_t most, unsigned options);

/* One batch entry: d = 24 in float32, or 64 in bfloat16. */
struct attention cuda_shape(enum cuda_kernel_name name, size_t H, size_t Hkv, size_t Nq, size_t Nk);

/* Runs the kernel once on `device`; the caller frees the gradients with result_free. */
struct result cuda_gradients(enum cuda_kernel_name name, const struct device *device,
                             const struct test_problem *t);

#endif
