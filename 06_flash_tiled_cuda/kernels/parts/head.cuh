#ifndef FLASH_TILED_CUDA_HEAD_CUH
#define FLASH_TILED_CUDA_HEAD_CUH

#include "06_flash_tiled_cuda/kernels/kernels.h"
#include "common/cuda/device.h"

/* Head n = b H + h: Q and O (Nq, d), K and V (Nk, d), lse, m and l (Nq), S and P (Nq, Nk). */
struct head {
    size_t b, h;
    const float *Q, *K, *V;
    float *O, *lse, *S, *P, *m, *l;
};

__device__ static inline struct head head_of(const struct attention &p,
                                             const struct device_arrays &a, size_t n)
{
    const size_t b = n / p.H, h = n % p.H;
    const size_t row = n * p.Nq, key = (b * p.Hkv + kv_head(&p, h)) * p.Nk;
    struct head head = {};
    head.b = b;
    head.h = h;
    head.Q = a.Q + row * p.d;
    head.K = a.K + key * p.d;
    head.V = a.V + key * p.d;
    head.O = a.O + row * p.d;
    head.lse = a.lse ? a.lse + row : nullptr;
    head.S = a.S ? a.S + row * p.Nk : nullptr;
    head.P = a.P ? a.P + row * p.Nk : nullptr;
    head.m = a.m ? a.m + row : nullptr;
    head.l = a.l ? a.l + row : nullptr;
    return head;
}

/* How many keys query i attends to, the first ones: p's only mask is `causal`. */
__device__ static inline int keys_attended(const struct attention &p, int i)
{
    const ptrdiff_t attended = i + attention_band(&p).high + 1, Nk = (ptrdiff_t)p.Nk;
    return (int)(attended < 0 ? 0 : attended < Nk ? attended : Nk);
}

/* e^{x - m} for x <= m; 0 for x = -inf, even if m = -inf. */
__device__ static inline float exp_minus(float x, float m)
{
    return x == -INFINITY ? 0.0f : expf(x - m);
}

__host__ __device__ static inline unsigned ceil_div(size_t n, unsigned size)
{
    return (unsigned)((n + size - 1) / size);
}

#endif
