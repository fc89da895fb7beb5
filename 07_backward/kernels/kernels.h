/*
 * Chapter 07, the kernels: the gradients of attention in CUDA. Each is a .cu file with one idea more than the one before.
 * table.h lists them.
 */
#ifndef BACKWARD_KERNELS_H
#define BACKWARD_KERNELS_H

#include "06_flash_tiled_cuda/kernels/device/device.h"
#include "07_backward/kernels/parts/tensor_tiles.h"
#include "common/problem/attention.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a kernel works on, all of it in global memory. Q, O, dO and dQ are (B, H, Nq, d), K, V, dK and dV
 * (B, Hkv, Nk, d), lse and D (B, H, Nq). P and dS are (B, H, Nq, Nk), and NULL but for standard.
 */
struct backward_arrays {
    const float *Q, *K, *V, *O, *dO, *lse;
    float *dQ, *dK, *dV;
    float *D, *P, *dS;
    unsigned *turns;                               // turns_of(p) counters, for ordered
    const uint16_t *Q16, *K16, *V16, *O16, *dO16;  // instead of Q to dO, if p->dtype has 16 bits
    uint16_t *dQ16, *dK16, *dV16;                  // gradients in 16 bits, of store
};

/* dQ begins as 0 where blocks add to it. */
static inline size_t dQ_bytes(const struct attention *p)
{
    return p->B * p->H * p->Nq * p->d * sizeof(float);
}

/* How many counters ordered needs: one for each tile of dQ, and one from which a block takes its number. */
static inline size_t turns_of(const struct attention *p)
{
    return 1 + p->B * p->H * ((p->Nq - 1) / HOPPER_QUERIES(p->d) + 1);
}

/*
 * Starts the kernels for problem p, whose masks are in the device's memory too, on a stream of the current device; they
 * may still run when it returns. d is at most 128, B H at most 65 535, and numbers are float32. standard, recompute and
 * deterministic support batch, heads, scale and causal order, and need Hkv = H; complete supports all of attention.h but score_option.
 * mma_split and mma are for bfloat16 and float16, d = 64 and 128, a GPU of compute capability 8.0 or later, and support
 * the same options; wgmma to ordered are for one of 9.0, and support grouped heads too; complete supports these types
 * too, and then d = 32, 64, 96, 128 and 256. Gradients are float32, except in store, where dQ has the sums.
 * A query that attends to no key adds nothing to any gradient; a key that no query attends to has exactly 0 in dK
 * and dV, and may hold anything. In complete a query that attends to no key may hold anything too.
 */
typedef void backward_launcher(const struct attention *p, const struct backward_arrays *arrays,
                               cudaStream_t stream);

/* D = the sum of dO O over a row, which all kernels but standard start first. */
backward_launcher backward_D_cpu, backward_D_instrumented, backward_D_gpu;

#ifdef __cplusplus
}
#endif
#endif
