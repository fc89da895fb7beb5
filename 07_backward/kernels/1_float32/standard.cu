/*
 * Standard backward; one kernel computes dK and dV.        10 pairs d + 11 pairs + Nq d + 2 Nk d accesses
 *
 * P and dS overwrite S and dP in global memory. One thread per element, or row of P and dS.
 */
#include "07_backward/kernels/parts/head.cuh"

enum { SIDE = 16, ROWS_PER_BLOCK = 128 };

/* X = factor A B^T, of pairs not masked. */
__device__ static void pair_product(const struct attention &p, const float *A, const float *B,
                                    float factor, float *X)
{
    const size_t i = blockIdx.y * SIDE + threadIdx.y, j = blockIdx.x * SIDE + threadIdx.x;
    if (i >= p.Nq || j >= (size_t)keys_attended(p, (int)i))
        return;
    float x = 0.0f;
    for (size_t k = 0; k < p.d; k++)
        x += A[i * p.d + k] * B[j * p.d + k];
    X[i * p.Nk + j] = factor * x;
}

static __global__ void standard_scores(struct attention p, struct backward_arrays a)
{
    const struct head t = head_of(p, a, blockIdx.z);
    pair_product(p, t.Q, t.K, p.scale, t.P);
}

static __global__ void standard_dP(struct attention p, struct backward_arrays a)
{
    const struct head t = head_of(p, a, blockIdx.z);
    pair_product(p, t.dO, t.V, 1.0f, t.dS);
}

static __global__ void standard_softmax(struct attention p, struct backward_arrays a)
{
    const struct head t = head_of(p, a, blockIdx.y);
    const size_t i = blockIdx.x * ROWS_PER_BLOCK + threadIdx.x;
    if (i >= p.Nq)
        return;
    float *const P = t.P + i * p.Nk, m = -INFINITY, l = 0.0f;
    const int attended = keys_attended(p, (int)i);
    for (int j = 0; j < attended; j++)
        m = fmaxf(m, P[j]);
    for (int j = 0; j < attended; j++)
        l += exp_minus(P[j], m);
    for (int j = 0; j < attended; j++)
        P[j] = exp_minus(P[j], m) / (l == 0.0f ? 1.0f : l);
}

static __global__ void standard_dS(struct attention p, struct backward_arrays a)
{
    const struct head t = head_of(p, a, blockIdx.y);
    const size_t i = blockIdx.x * ROWS_PER_BLOCK + threadIdx.x;
    if (i >= p.Nq)
        return;
    const float *P = t.P + i * p.Nk;
    float *dS = t.dS + i * p.Nk, D = 0.0f;
    const int attended = keys_attended(p, (int)i);
    for (int j = 0; j < attended; j++)
        D += P[j] * dS[j];
    for (int j = 0; j < attended; j++)
        dS[j] = pair_dS(P[j], dS[j], D);
}

static __global__ void standard_keys(struct attention p, struct backward_arrays a)
{
    const struct head t = head_of(p, a, blockIdx.z);
    const size_t j = blockIdx.y * SIDE + threadIdx.y, c = blockIdx.x * SIDE + threadIdx.x;
    if (j >= p.Nk || c >= p.d)
        return;
    float dK = 0.0f, dV = 0.0f;
    for (size_t i = (size_t)first_query(p, (int)j); i < p.Nq; i++) {
        dV += t.P[i * p.Nk + j] * t.dO[i * p.d + c];
        dK += t.dS[i * p.Nk + j] * t.Q[i * p.d + c];
    }
    t.dV[j * p.d + c] = dV;
    t.dK[j * p.d + c] = p.scale * dK;
}

static __global__ void standard_queries(struct attention p, struct backward_arrays a)
{
    const struct head t = head_of(p, a, blockIdx.z);
    const size_t i = blockIdx.y * SIDE + threadIdx.y, c = blockIdx.x * SIDE + threadIdx.x;
    if (i >= p.Nq || c >= p.d)
        return;
    const int attended = keys_attended(p, (int)i);
    float dQ = 0.0f;
    for (int j = 0; j < attended; j++)
        dQ += t.dS[i * p.Nk + j] * t.K[j * p.d + c];
    t.dQ[i * p.d + c] = p.scale * dQ;
}

extern "C" void LAUNCHER(backward_standard)(const struct attention *p,
                                            const struct backward_arrays *a, cudaStream_t stream)
{
    if (p->dtype != DTYPE_F32)
        not_compiled(__func__, "--dtype %s", dtype_name(p->dtype));
    const unsigned heads = (unsigned)(p->B * p->H);
    const dim3 block(SIDE, SIDE), rows(ceil_div(p->Nq, ROWS_PER_BLOCK), heads);
    const dim3 pairs(ceil_div(p->Nk, SIDE), ceil_div(p->Nq, SIDE), heads);
    const dim3 keys(ceil_div(p->d, SIDE), ceil_div(p->Nk, SIDE), heads);
    const dim3 queries(ceil_div(p->d, SIDE), ceil_div(p->Nq, SIDE), heads);
    standard_scores<<<pairs, block, 0, stream>>>(*p, *a);
    CHECK_CUDA(cudaGetLastError());
    standard_softmax<<<rows, ROWS_PER_BLOCK, 0, stream>>>(*p, *a);
    CHECK_CUDA(cudaGetLastError());
    standard_dP<<<pairs, block, 0, stream>>>(*p, *a);
    CHECK_CUDA(cudaGetLastError());
    standard_dS<<<rows, ROWS_PER_BLOCK, 0, stream>>>(*p, *a);
    CHECK_CUDA(cudaGetLastError());
    standard_keys<<<keys, block, 0, stream>>>(*p, *a);
    CHECK_CUDA(cudaGetLastError());
    standard_queries<<<queries, block, 0, stream>>>(*p, *a);
    CHECK_CUDA(cudaGetLastError());
}
