#ifndef FLASH_TILED_CUDA_KERNELS_H
#define FLASH_TILED_CUDA_KERNELS_H

#include "common/lab/device.h"
#include "common/problem/attention.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * In device memory; lse may be NULL. S and P (B, H, Nq, Nk), m and l (B, H, Nq) are NULL for
 * kernels without them.
 */
struct device_arrays {
    const float *Q, *K, *V;
    float *O, *lse;
    float *S, *P, *m, *l;
    const uint16_t *Q16, *K16, *V16;  // instead of Q, K, V and O
    uint16_t *O16;
    unsigned *next;  // tiles taken by persistent blocks
    size_t Br, Bc;   // if several (tiles.h)
};

/*
 * Starts the kernels for problem p, with masks in device memory, on a stream of the current
 * device. B H <= 65 535. A query without keys has O = 0 and lse = -inf. Keys that no query of a
 * tile attends to may hold anything; in naive and fa1 a NaN affects only queries that attend to its
 * key. kernels.c lists what each supports.
 */
typedef void kernel_launcher(const struct attention *p, const struct device_arrays *arrays,
                             cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
