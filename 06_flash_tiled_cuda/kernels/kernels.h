/*
 * Chapter 06's kernels, each with one idea more than the one before. kernels.c lists them.
 */
#ifndef FLASH_TILED_CUDA_KERNELS_H
#define FLASH_TILED_CUDA_KERNELS_H

#include "common/lab/device.h"
#include "common/problem/attention.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * In device memory (global memory): Q and O (B, H, Nq, d), K and V (B, Hkv, Nk, d), lse (B, H, Nq)
 * or NULL. Only the kernels that use them get S and P (B, H, Nq, Nk), m and l (B, H, Nq); else
 * NULL.
 */
struct device_arrays {
    const float *Q, *K, *V;
    float *O, *lse;
    float *S, *P, *m, *l;
    const uint16_t *Q16, *K16, *V16;  // in 16 bits, instead of Q, K and V …
    uint16_t *O16;                    // … and of O, which are NULL then
    unsigned *next;                   // the number of tiles taken, for persistent blocks
    size_t Br, Bc;                    // the tile, for kernels with several (tiles.h)
};

/*
 * Starts the kernels for problem p, whose masks are in the device's memory too, on a stream of the current device; they may
 * still run when it returns. naive to ahead know batch, heads, scale and causal order, and d = 16, 32, 64,
 * 96, 128; complete knows all of attention.h but score_option, and d from 1 to 128. B H is at most 65 535. A query that
 * attends to no key has O = 0 and lse = -inf. Keys that no query of a tile attends to may hold anything; in naive
 * and fa1, whose threads go key by key, a NaN also stays with the queries of a tile that attend to its key.
 *
 * Those are for float32. The kernels on tensor cores are for d = 64 and 128: turing for float16 and a GPU of compute capability
 * 7.5 or later, mma and what follows it also for bfloat16, and for 8.0 or later, those from wgmma on for 9.0; complete knows these types
 * too, and then d = 32, 64, 96, 128 and 256.
 */
typedef void kernel_launcher(const struct attention *p, const struct device_arrays *arrays,
                             cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
