/*
 * FlashAttention.                              Nq d + 5 Nq + 2 Nk d + Tc (3 Nq d + 4 Nq) accesses
 *
 * Chapter 05's fa1, with a block of threads per head: too few for a GPU. Tiles of keys update O, l
 * and m in global memory in turn.
 *
 * Margin: FlashAttention (arXiv 2205.14135), Algorithm 1.
 */
#include "06_flash_tiled_cuda/kernels/parts/head.cuh"
#include "06_flash_tiled_cuda/kernels/parts/tiles.h"

enum { Br = FA1_BR, THREADS = 256 };

/* 48 kB. Padding puts the same element of adjacent rows of K and S in different banks. */
template <int d> struct tiles {
    enum { Bc = FA1_BC(d) };
    float Q[Br][d], K[Bc][d + 1], V[Bc][d], S[Br][Bc + 1];
    float keep[Br];  // factor of the old O
};

// clang-format off
/* Row r: S becomes P / l. */
template <int d>
__device__ static void fa1_row(tiles<d> *smem, int r, int cols, float *m, float *l)
{
    float *S = smem->S[r], m_tile = -INFINITY, l_tile = 0.0f;
    // BEGIN SOLUTION
    for (int c = 0; c < cols; c++)                                           // 10
        m_tile = fmaxf(m_tile, S[c]);
    for (int c = 0; c < cols; c++) {
        S[c] = exp_minus(S[c], m_tile);
        l_tile += S[c];
    }
    const float m_old = *m, m_new = fmaxf(m_old, m_tile);                    // 11
    const float old = *l * exp_minus(m_old, m_new), factor = exp_minus(m_tile, m_new);
    const float l_new = old + factor * l_tile, divisor = l_new == 0.0f ? 1.0f : l_new;
    smem->keep[r] = old / divisor;                                           // 12
    for (int c = 0; c < cols; c++)
        S[c] *= factor / divisor;
    *m = m_new;                                                              // 13
    *l = l_new;
    // END SOLUTION
    // STUB: (void)S, (void)m_tile, (void)l_tile, (void)cols, (void)m, (void)l;
}

template <int d>
static __global__ void __launch_bounds__(THREADS) fa1_head(struct attention p, struct device_arrays a)
{
    enum { Bc = tiles<d>::Bc };
    __shared__ tiles<d> smem;
    const struct head t = head_of(p, a, blockIdx.x);
    const int Nq = (int)p.Nq, Nk = keys_attended(p, Nq - 1), tid = (int)threadIdx.x;
    for (int i = tid; i < Nq; i += THREADS) {                                // 2
        t.m[i] = -INFINITY;
        t.l[i] = 0.0f;
    }
    for (size_t e = threadIdx.x; e < p.Nq * d; e += THREADS)
        t.O[e] = 0.0f;
    for (int j0 = 0; j0 < Nk; j0 += Bc) {                                    // 5
        __syncthreads();                   // the old K and V are free
        for (int e = tid; e < min(Bc, Nk - j0) * d; e += THREADS) {          // 6
            smem.K[e / d][e % d] = t.K[(size_t)j0 * d + e];
            smem.V[e / d][e % d] = t.V[(size_t)j0 * d + e];
        }
        for (int i0 = 0; i0 < Nq; i0 += Br) {                                // 7
            const int rows = min(Br, Nq - i0);
            const int cols = min(Bc, keys_attended(p, i0 + rows - 1) - j0);
            if (cols <= 0)
                continue;                  // fully masked
            float *O = t.O + (size_t)i0 * d;
            for (int e = tid; e < rows * d; e += THREADS)                    // 8
                smem.Q[e / d][e % d] = t.Q[(size_t)i0 * d + e];
            __syncthreads();               // Q, K and V are there
            for (int e = tid; e < rows * Bc; e += THREADS) {                 // 9
                const int r = e / Bc, c = e % Bc;
                if (c >= cols)
                    continue;
                float x = 0.0f;
                for (int k = 0; k < d; k++)
                    x += smem.Q[r][k] * smem.K[c][k];
                smem.S[r][c] = j0 + c < keys_attended(p, i0 + r) ? p.scale * x : -INFINITY;
            }
            __syncthreads();               // S is there
            if (tid < rows)                                                  // 10, 11, 13
                fa1_row(&smem, tid, cols, &t.m[i0 + tid], &t.l[i0 + tid]);
            __syncthreads();               // P is there
            for (int e = tid; e < rows * d; e += THREADS) {                  // 12
                const int r = e / d, attended = min(cols, keys_attended(p, i0 + r) - j0);
                float o = 0.0f;
                for (int c = 0; c < attended; c++)
                    o += smem.S[r][c] * smem.V[c][e % d];
                O[e] = smem.keep[r] * O[e] + o;
            }
        }
    }
    for (int i = tid; i < Nq && t.lse; i += THREADS)
        t.lse[i] = t.m[i] + logf(t.l[i]);
}

// clang-format on

extern "C" void LAUNCHER(fa1)(const struct attention *p, const struct device_arrays *a,
                              cudaStream_t stream)
{
    if (p->dtype != DTYPE_F32)
        not_compiled(__func__, "--dtype %s", dtype_name(p->dtype));
    const unsigned heads = (unsigned)(p->B * p->H);
    switch (p->d) {
    case 16:
        fa1_head<16><<<heads, THREADS, 0, stream>>>(*p, *a);
        break;
    case 32:
        fa1_head<32><<<heads, THREADS, 0, stream>>>(*p, *a);
        break;
    case 64:
        fa1_head<64><<<heads, THREADS, 0, stream>>>(*p, *a);
        break;
    case 96:
        fa1_head<96><<<heads, THREADS, 0, stream>>>(*p, *a);
        break;
    case 128:
        fa1_head<128><<<heads, THREADS, 0, stream>>>(*p, *a);
        break;
    default:
        not_compiled(__func__, "d = %zu", p->d);
    }
    CHECK_CUDA(cudaGetLastError());
}
