/*
 * Chapter 07's kernels: the gradients of attention in CUDA. table.h lists them.
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
 * Arrays in global memory. Q, O, dO and dQ are (B, H, Nq, d), K, V, dK and dV (B, Hkv, Nk, d), lse
 * and D (B, H, Nq), P and dS (B, H, Nq, Nk). P and dS are NULL except for standard.
 */
struct backward_arrays {
    const float *Q, *K, *V, *O, *dO, *lse;
    float *dQ, *dK, *dV;
    float *D, *P, *dS;
    unsigned *turns;                               // turns_of(p) counters, for ordered
    const uint16_t *Q16, *K16, *V16, *O16, *dO16;  // instead of Q to dO, if p->dtype has 16 bits
    uint16_t *dQ16, *dK16, *dV16;                  // gradients in 16 bits, of store
};

/* Of dQ, which must be 0 for kernels whose blocks add to it. */
static inline size_t dQ_bytes(const struct attention *p)
{
    return p->B * p->H * p->Nq * p->d * sizeof(float);
}

/* The counters of ordered: one per tile of dQ, and one that numbers blocks. */
static inline size_t turns_of(const struct attention *p)
{
    return 1 + p->B * p->H * ((p->Nq - 1) / HOPPER_QUERIES(p->d) + 1);
}

/*
 * Starts the kernels for problem p, whose masks are in device memory, on a stream of the current
 * device; they may still run when it returns. B H is at most 65 535.
 *
 * float32, d up to 128: standard, recompute and deterministic support batch, heads, scale and
 * causal order, with Hkv = H; complete all of attention.h but score_option. 16 bits: mma_split and
 * mma (d = 64 and 128, compute capability 8.0 or later) support the same; wgmma to ordered (for
 * 9.0) grouped heads too; complete as above, with d = 32, 64, 96, 128 and 256. Gradients are
 * float32, except in store, where dQ has the sums.
 *
 * A query without keys adds nothing to any gradient. A key without queries may hold anything, and
 * has dK = dV = 0. In complete a query without keys may hold anything too.
 */
typedef void backward_launcher(const struct attention *p, const struct backward_arrays *arrays,
                               cudaStream_t stream);

/* D = sum of dO O over a row; all kernels but standard start it first. */
backward_launcher backward_D_cpu, backward_D_instrumented, backward_D_gpu;

#ifdef __cplusplus
}
#endif
#endif
