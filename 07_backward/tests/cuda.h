/*
 * The kernels of chapter 07 as backward passes, on the CPU, or with CUDA_TESTS=gpu on a GPU.
 *
 *     assert_backward(on_cuda(CUDA_RECOMPUTE), &problem);
 */
#ifndef BACKWARD_TESTS_CUDA_H
#define BACKWARD_TESTS_CUDA_H

#include "../cuda/run.h"
#include "backward.h"

enum {
    WITH_ORDER = WITH_SCALE | WITH_UNEQUAL_LENGTHS | WITH_CAUSAL | WITH_TOP_LEFT,  // all know these
};

/* The device that is tested. */
const struct backward_device *test_device(void);

/* The options that the kernel knows, as a set. */
unsigned cuda_options(enum cuda_kernel_name name);

/* The kernel on that device. From here on it is the one that the tests of backward.h run. */
backward *on_cuda(enum cuda_kernel_name name);

/* Problem number `seed` with these options, of an N up to `most`, and a d from 1 to 128. */
struct test_problem cuda_problem(uint64_t seed, size_t most, unsigned options);

/* Runs the kernel once on `device`, and gives its gradients; result_free them. */
struct result cuda_gradients(enum cuda_kernel_name name, const struct backward_device *device,
                             const struct test_problem *t);

#endif
