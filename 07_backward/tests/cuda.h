/*
 * The kernels of chapter 07 as backward passes, on the CPU, or with CUDA_TESTS=gpu on a GPU.
 *
 *     assert_backward(on_cuda(cuda_named("cuda_recompute")), &problem);
 */
#ifndef BACKWARD_TESTS_CUDA_H
#define BACKWARD_TESTS_CUDA_H

#include "07_backward/kernels/host/run.h"
#include "common/tests/backward.h"

enum {
    WITH_ORDER =
        WITH_SCALE | WITH_UNEQUAL_LENGTHS | WITH_CAUSAL | WITH_TOP_LEFT,  // all support these
};

/* One past the last kernel. */
static inline const struct step *kernels_end(void)
{
    return cuda_table.steps + cuda_table.count;
}

/* The device that is tested. */
const struct device *test_device(void);

/* The device, or the CPU for a kernel that is for GPUs of another kind. */
const struct device *cuda_device_for(const struct step *kernel, const struct device *device);

/* Is the kernel for 16 bits alone? */
bool is_tensor(const struct step *kernel);

/* The options that the kernel supports, as a set. */
unsigned cuda_options(const struct step *kernel);

/* The kernel on that device. From here on it is the one that the tests of backward.h run. */
backward *on_cuda(const struct step *kernel);

/* All kernels for 16 bits at once, where computing what is right is most of the work. */
backward *on_cuda_in_16_bits(void);

/* Problem number `seed` with these options, of an N up to `most`, and a d and a type that the kernel has. */
struct test_problem cuda_problem(const struct step *kernel, uint64_t seed, size_t most,
                                 unsigned options);

/* The same for complete in 16 bits, which is a kernel of its own: each type and each d. */
struct test_problem narrow_problem(uint64_t seed, size_t most, unsigned options);

/* One batch entry, with a d and a type that the kernel has: 24 and float32, or 64 and bfloat16. */
struct attention cuda_shape(const struct step *kernel, size_t H, size_t Hkv, size_t Nq, size_t Nk);

/* Runs the kernel once on `device`, and gives its gradients; result_free them. */
struct result cuda_gradients(const struct step *kernel, const struct device *device,
                             const struct test_problem *t);

#endif
