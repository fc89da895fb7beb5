/*
 * Reproducible.                         3 Nq d + 2 Nk d + 3 Nq + Tc (5 Nq d + 2 Nq) + 5 Tr Nk d accesses
 *
 * Blocks are tiles of keys for dK and dV, then of queries for dQ: no atomics, but seven products,
 * not five.
 *
 * Margin: FlashAttention-2, Algorithm 2.
 */
#include "07_backward/kernels/parts/tile.cuh"

// clang-format off

template <int HEAD_DIM>
static __global__ void __launch_bounds__(THREADS, 1)
    deterministic_keys(struct attention p, struct backward_arrays a)
{
    __shared__ fast_memory smem;
    const struct head t = head_of(p, a, blockIdx.y);
    const int j0 = (int)blockIdx.x * Bc, Nq = (int)p.Nq, Nk = (int)p.Nk, d = (int)p.d;
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
            __syncthreads();
            load_slice(smem.A, dO, rows, n * SLICE, d);
            load_slice(smem.B, V, keys, n * SLICE, d);
            __syncthreads();
            add_to_keys(&dV[n], &smem);                                      // 12
            add_pairs(&dS, &smem);                                           // 13
        }
        score_gradients(&dS, P, &smem);                                      // 14
        __syncthreads();
        share(&smem, dS);
#pragma unroll
        for (int n = 0; n < HEAD_DIM / SLICE; n++) {                         // pass 3
            __syncthreads();               // old slice is free
            load_slice(smem.A, Q, rows, n * SLICE, d);
            __syncthreads();               // slice and dS are written
            add_to_keys(&dK[n], &smem);                                      // 16
        }
    }
    store_key_gradients<HEAD_DIM>(dK, t.dK + (size_t)j0 * p.d, Nk - j0, p.scale, d);  // 18
    store_key_gradients<HEAD_DIM>(dV, t.dV + (size_t)j0 * p.d, Nk - j0, 1.0f, d);
}

template <int HEAD_DIM>
static __global__ void __launch_bounds__(THREADS, 1)
    deterministic_queries(struct attention p, struct backward_arrays a)
{
    __shared__ fast_memory smem;
    const struct head t = head_of(p, a, blockIdx.y);
    const int i0 = (int)blockIdx.x * Br, rows = min(Br, (int)p.Nq - i0), d = (int)p.d;
    const int attended = keys_attended(p, i0 + rows - 1);
    const float *Q = t.Q + (size_t)i0 * p.d, *dO = t.dO + (size_t)i0 * p.d;
    gradient_part dQ[HEAD_DIM / SLICE] = {};                                 // 3
    load_statistics(&smem, t, i0, rows);                                     // 9
    for (int j0 = 0; j0 < attended; j0 += Bc) {
        const int keys = min(Bc, attended - j0);
        const float *K = t.K + (size_t)j0 * p.d, *V = t.V + (size_t)j0 * p.d;
        pairs P, dS;
        scores<HEAD_DIM>(&P, &smem, Q, rows, K, keys, d);                    // 10, pass 1
        weights(&P, &smem, p, i0, j0);                                       // 11
        scores<HEAD_DIM>(&dS, &smem, dO, rows, V, keys, d);                  // 13, pass 2
        score_gradients(&dS, P, &smem);                                      // 14
        share(&smem, dS);
#pragma unroll
        for (int n = 0; n < HEAD_DIM / SLICE; n++) {                         // pass 3
            __syncthreads();               // old slice is free
            load_slice(smem.B, K, keys, n * SLICE, d);
            __syncthreads();               // slice and dS are written
            add_to_queries(&dQ[n], &smem);                                   // 15
        }
    }
    store_query_gradients<HEAD_DIM>(dQ, t.dQ + (size_t)i0 * p.d, rows, p.scale, d);
}

// clang-format on

template <int HEAD_DIM>
static void launch(const struct attention &p, const struct backward_arrays &a, cudaStream_t stream)
{
    const unsigned heads = (unsigned)(p.B * p.H);
    const dim3 keys(ceil_div(p.Nk, Bc), heads), queries(ceil_div(p.Nq, Br), heads);
    deterministic_keys<HEAD_DIM><<<keys, THREADS, 0, stream>>>(p, a);
    CHECK_CUDA(cudaGetLastError());
    deterministic_queries<HEAD_DIM><<<queries, THREADS, 0, stream>>>(p, a);
    CHECK_CUDA(cudaGetLastError());
}

extern "C" void LAUNCHER(backward_deterministic)(const struct attention *p,
                                                 const struct backward_arrays *a,
                                                 cudaStream_t stream)
{
    if (p->dtype != DTYPE_F32 || p->d > 128)
        not_compiled(__func__, "d = %zu with --dtype %s", p->d, dtype_name(p->dtype));
    LAUNCHER(backward_D)(p, a, stream);
    if (p->d <= 32)
        launch<32>(*p, *a, stream);
    else if (p->d <= 64)
        launch<64>(*p, *a, stream);
    else
        launch<128>(*p, *a, stream);
}
