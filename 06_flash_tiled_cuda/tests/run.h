/*
 * Chapter 06's kernels as forward passes, on the CPU, or with CUDA_TESTS=gpu on a GPU.
 *
 *     assert_forward_at_every_size(on_device(FA2));
 */
#ifndef FLASH_TILED_CUDA_TESTS_RUN_H
#define FLASH_TILED_CUDA_TESTS_RUN_H

#include "06_flash_tiled_cuda/kernels/device/choice.h"
#include "06_flash_tiled_cuda/kernels/device/run.h"
#include "06_flash_tiled_cuda/program.h"
#include "common/tests/forward.h"

/* The places of the kernels in the chapter's table. */
enum kernel_name {
    NAIVE,
    FA1,
    FA2,
    AHEAD,
    TURING,
    MMA,
    SWIZZLE,
    ASYNC,
    EXP2,
    SKIP,
    RESCALE,
    BUDGET,
    WGMMA,
    ROLES,
    OVERLAP,
    PINGPONG,
    PERSISTENT,
    STORE,
    COMPLETE,
    KERNELS
};

enum {
    WITH_SHAPES = WITH_SCALE | WITH_GROUPED_HEADS | WITH_UNEQUAL_LENGTHS,
    WITH_ORDER = WITH_SHAPES | WITH_CAUSAL | WITH_TOP_LEFT,  // of every kernel
};

/* Only 16 bits; every option but --softcap and both types; Hopper. */
bool is_tensor(enum kernel_name name);
bool is_complete(enum kernel_name name);
bool is_hopper(enum kernel_name name);

const struct device *test_device(void);

/* The kernel on test_device(); the tests of forward.h run it until the next call. */
forward *on_device(enum kernel_name name);

/* The same with this tile; 0, 0: with the kernel's own again. */
forward *on_device_in_tiles(enum kernel_name name, size_t Br, size_t Bc);

/*
 * The next kernel that the device can run, or KERNELS. Prints the steps on tensor cores that it
 * skips because the GPU is too old.
 */
enum kernel_name kernel_after(enum kernel_name name);

/* Runs the kernel on `device`; lse may be NULL. */
void run_on(const struct device *device, enum kernel_name name, const struct test_problem *t,
            float *O, float *lse);

/*
 * Problem number `seed` with these options, N <= `most`, and a d of the kernel. On tensor cores it
 * is bfloat16 or float16.
 */
struct test_problem kernel_problem(enum kernel_name name, uint64_t seed, size_t most,
                                   unsigned options);

/* The same in bfloat16 or float16, for a kernel that also supports float32: complete. */
struct test_problem narrow_problem(uint64_t seed, size_t most, unsigned options);

/* The first of float32, bfloat16 and float16 that the kernel takes. */
enum dtype kernel_type(enum kernel_name name);

/* attention_of, with a d and a type that the kernel has: 16 and float32, or 64 and 16 bits. */
struct attention kernel_shape(enum kernel_name name, size_t B, size_t H, size_t Hkv, size_t Nq,
                              size_t Nk);

/* The problem's arrays with O and lse, which may be NULL; and the kernel's tile, on_device_in_tiles's if that is set. */
struct tensors arrays_of(const struct test_problem *t, float *O, float *lse);
struct tile_size tile_of(enum kernel_name name, const struct attention *p);

/* The accesses of the kernel, counted. */
struct count count_of(enum kernel_name name, const struct test_problem *t);

#endif
