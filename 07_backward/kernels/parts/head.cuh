#ifndef BACKWARD_HEAD_CUH
#define BACKWARD_HEAD_CUH

#include "07_backward/kernels/kernels.h"
#include "common/cuda/device.h"

/*
 * Head n = b H + h: Q, O, dO and dQ (Nq, d); K, V, dK and dV (Nk, d); lse and D (Nq); P and dS
 * (Nq, Nk).
 */
struct head {
    size_t b, h;
    const float *Q, *K, *V, *O, *dO, *lse;
    float *dQ, *dK, *dV, *D, *P, *dS;
};

__device__ static inline struct head head_of(const struct attention &p,
                                             const struct backward_arrays &a, size_t n)
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
    head.dO = a.dO + row * p.d;
    head.lse = a.lse + row;
    head.dQ = a.dQ + row * p.d;
    head.dK = a.dK + key * p.d;
    head.dV = a.dV + key * p.d;
    head.D = a.D + row;
    head.P = a.P ? a.P + row * p.Nk : nullptr;
    head.dS = a.dS ? a.dS + row * p.Nk : nullptr;
    return head;
}

/* Query i attends to keys 0 … n - 1; returns n. No windows. */
__device__ static inline int keys_attended(const struct attention &p, int i)
{
    const ptrdiff_t attended = i + attention_band(&p).high + 1, Nk = (ptrdiff_t)p.Nk;
    return (int)(attended < 0 ? 0 : attended < Nk ? attended : Nk);
}

/* The first query that attends to key j; Nq if none does. */
__device__ static inline int first_query(const struct attention &p, int j)
{
    const ptrdiff_t first = j - attention_band(&p).high, Nq = (ptrdiff_t)p.Nq;
    return (int)(first < 0 ? 0 : first < Nq ? first : Nq);
}

/* e^{x - lse}; 0 for x = -inf, even if lse = -inf. */
__device__ static inline float exp_minus(float x, float lse)
{
    return x == -INFINITY ? 0.0f : expf(x - lse);
}

/* Exactly 0 if P is 0, even if a masked key is NaN. */
__device__ static inline float pair_dS(float P, float dP, float D)
{
    return P == 0.0f ? 0.0f : P * (dP - D);
}

__host__ __device__ static inline unsigned ceil_div(size_t n, unsigned size)
{
    return (unsigned)((n + size - 1) / size);
}

#endif
