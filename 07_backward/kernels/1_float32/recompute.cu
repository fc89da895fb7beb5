/*
 * FlashAttention-2, backward.              2 Nq d + 2 Nk d + Nq + Tc (5 Nq d + 2 Nq) + 3 Tr Nk d accesses
 *
 * A block keeps dK and dV of a tile in registers, and adds to dQ atomically, in any order. Three
 * passes over 32 elements at a time, as K_j and V_j exceed 48 kB.
 *
 * Margin: FlashAttention-2 (arXiv 2307.08691), Algorithm 2.
 */
#include "07_backward/kernels/parts/tile.cuh"

// clang-format off

__device__ static inline void add_atomically(float *to, const gradient_part &C, int rows, float scale, int k, int d)
{
    for (int r = 0; r < 4; r++)
        for (int e = 0; e < 2; e++) {
            const int i = y_of_thread() + SIDE * r, column = k + 2 * x_of_thread() + e;
            if (i < rows && column < d)
                atomicAdd(&to[(size_t)i * (size_t)d + (size_t)column], scale * C.of[r][e]);
        }
}

template <int HEAD_DIM>
static __global__ void __launch_bounds__(THREADS, 1)
    recompute_tile(struct attention p, struct backward_arrays a)
{
    __shared__ fast_memory smem;
    const struct head t = head_of(p, a, blockIdx.y);
    const int j0 = (int)blockIdx.x * Bc, Nq = (int)p.Nq, Nk = (int)p.Nk, d = (int)p.d;  // 5
    const float *K = t.K + (size_t)j0 * p.d, *V = t.V + (size_t)j0 * p.d;    // 6
    gradient_part dK[HEAD_DIM / SLICE] = {}, dV[HEAD_DIM / SLICE] = {};      // 7
    for (int i0 = first_tile_start(p, j0); i0 < Nq; i0 += Br) {              // 8
        const int rows = min(Br, Nq - i0);
        const int keys = min(Bc, keys_attended(p, i0 + rows - 1) - j0);
        const float *Q = t.Q + (size_t)i0 * p.d, *dO = t.dO + (size_t)i0 * p.d;
        pairs P, dS = {};
        load_statistics(&smem, t, i0, rows);                                 // 9
        scores<HEAD_DIM>(&P, &smem, Q, rows, K, keys, d);                    // 10, pass 1
        weights(&P, &smem, p, i0, j0);                                       // 11
        share(&smem, P);
#pragma unroll
        for (int n = 0; n < HEAD_DIM / SLICE; n++) {                         // pass 2
            __syncthreads();               // old slices are free
            load_slice(smem.A, dO, rows, n * SLICE, d);
            load_slice(smem.B, V, keys, n * SLICE, d);
            __syncthreads();               // slices and P are written
            add_to_keys(&dV[n], &smem);                                      // 12
            add_pairs(&dS, &smem);                                           // 13
        }
        score_gradients(&dS, P, &smem);                                      // 14
        __syncthreads();                   // P is free
        share(&smem, dS);
#pragma unroll
        for (int n = 0; n < HEAD_DIM / SLICE; n++) {                         // pass 3
            gradient_part dQ = {};
            __syncthreads();               // old slices are free
            load_slice(smem.A, Q, rows, n * SLICE, d);
            load_slice(smem.B, K, keys, n * SLICE, d);
            __syncthreads();               // slices and dS are written
            add_to_queries(&dQ, &smem);                                      // 15
            add_atomically(t.dQ + (size_t)i0 * p.d, dQ, rows, p.scale, n * SLICE, d);
            add_to_keys(&dK[n], &smem);                                      // 16
        }
    }
    store_key_gradients<HEAD_DIM>(dK, t.dK + (size_t)j0 * p.d, Nk - j0, p.scale, d);  // 18
    store_key_gradients<HEAD_DIM>(dV, t.dV + (size_t)j0 * p.d, Nk - j0, 1.0f, d);
}

// clang-format on

extern "C" void LAUNCHER(backward_recompute)(const struct attention *p,
                                             const struct backward_arrays *a, cudaStream_t stream)
{
    if (p->dtype != DTYPE_F32 || p->d > 128)
        not_compiled(__func__, "d = %zu with --dtype %s", p->d, dtype_name(p->dtype));
    const dim3 grid(ceil_div(p->Nk, Bc), (unsigned)(p->B * p->H));
    CHECK_CUDA(cudaMemsetAsync(a->dQ, 0, dQ_bytes(p), stream));  // 3
    LAUNCHER(backward_D)(p, a, stream);                          // 4
    if (p->d <= 32)
        recompute_tile<32><<<grid, THREADS, 0, stream>>>(*p, *a);
    else if (p->d <= 64)
        recompute_tile<64><<<grid, THREADS, 0, stream>>>(*p, *a);
    else
        recompute_tile<128><<<grid, THREADS, 0, stream>>>(*p, *a);
    CHECK_CUDA(cudaGetLastError());
}
