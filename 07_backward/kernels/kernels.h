#ifndef BACKWARD_KERNELS_H
#define BACKWARD_KERNELS_H

#include "07_backward/kernels/parts/tensor_tiles.h"
#include "common/lab/device.h"
#include "common/problem/attention.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * In global memory (shapes: attention.h): gradients are like their inputs, D like lse. P and dS (B,
 * H, Nq, Nk) are NULL except for standard.
 */
struct backward_arrays {
    const float *Q, *K, *V, *O, *dO, *lse;
    float *dQ, *dK, *dV;
    float *D, *P, *dS;
    unsigned *turns;                               // for ordered
    const uint16_t *Q16, *K16, *V16, *O16, *dO16;  // instead of Q … dO
    uint16_t *dQ16, *dK16, *dV16;                  // for store
};

static inline size_t dQ_bytes(const struct attention *p)
{
    return p->B * p->H * p->Nq * p->d * sizeof(float);
}

/* For ordered: one counter per tile of dQ, and one that numbers blocks. */
static inline size_t turn_count(const struct attention *p)
{
    return 1 + p->B * p->H * ((p->Nq - 1) / HOPPER_QUERIES(p->d) + 1);
}

/*
 * Starts the kernels for problem p, with masks in device memory, on a stream of the current
 * device. B H <= 65 535. Queries without keys add nothing, and in complete may be uninitialised;
 * keys without queries may be, and their dK and dV are 0.
 *
 * Only complete supports windows, other masks and dropout; those before wgmma need Hkv = H.
 * host/kernels.c lists d and types. Gradients are float32; in store, dQ has the sums.
 */
typedef void backward_launcher(const struct attention *p, const struct backward_arrays *arrays,
                               cudaStream_t stream);

/* D = sum of dO O over a row; every launcher but standard's runs it. */
backward_launcher backward_D_cpu, backward_D_instrumented, backward_D_gpu;

#ifdef __cplusplus
}
#endif
#endif
