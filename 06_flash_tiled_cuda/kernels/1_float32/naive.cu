/*
 * Attention by definition.                                4 Nq Nk d + 5 Nq Nk + Nq d + Nq accesses
 *
 *     S = scale Q K^T        P = softmax(S)        O = P V
 *
 * Three kernels, S and P in global memory; one thread per element of S or O, or row of P.
 */
#include "06_flash_tiled_cuda/kernels/parts/head.cuh"

enum { SIDE = 16, ROWS_PER_BLOCK = 128 };

static __global__ void naive_scores(struct attention p, struct device_arrays a)
{
    const struct head t = head_of(p, a, blockIdx.z);
    const size_t i = blockIdx.y * SIDE + threadIdx.y, j = blockIdx.x * SIDE + threadIdx.x;
    if (i >= p.Nq || j >= (size_t)keys_attended(p, (int)i))
        return;
    float x = 0.0f;
    for (size_t k = 0; k < p.d; k++)
        x += t.Q[i * p.d + k] * t.K[j * p.d + k];
    t.S[i * p.Nk + j] = p.scale * x;
}

static __global__ void naive_softmax(struct attention p, struct device_arrays a)
{
    const struct head t = head_of(p, a, blockIdx.y);
    const size_t i = blockIdx.x * ROWS_PER_BLOCK + threadIdx.x;
    if (i >= p.Nq)
        return;
    const float *S = t.S + i * p.Nk;
    const int attended = keys_attended(p, (int)i);
    float m = -INFINITY, l = 0.0f;
    for (int j = 0; j < attended; j++)
        m = fmaxf(m, S[j]);
    for (int j = 0; j < attended; j++)
        l += exp_minus(S[j], m);
    for (int j = 0; j < attended; j++)
        t.P[i * p.Nk + j] = exp_minus(S[j], m) / (l == 0.0f ? 1.0f : l);
    if (t.lse)
        t.lse[i] = m + logf(l);
}

static __global__ void naive_output(struct attention p, struct device_arrays a)
{
    const struct head t = head_of(p, a, blockIdx.z);
    const size_t i = blockIdx.y * SIDE + threadIdx.y, c = blockIdx.x * SIDE + threadIdx.x;
    if (i >= p.Nq || c >= p.d)
        return;
    const int attended = keys_attended(p, (int)i);
    float o = 0.0f;
    for (int j = 0; j < attended; j++)
        o += t.P[i * p.Nk + j] * t.V[j * p.d + c];
    t.O[i * p.d + c] = o;
}

extern "C" void LAUNCHER(naive)(const struct attention *p, const struct device_arrays *a,
                                cudaStream_t stream)
{
    if (p->dtype != DTYPE_F32)
        not_compiled(__func__, "--dtype %s", dtype_name(p->dtype));
    const unsigned heads = (unsigned)(p->B * p->H);
    const dim3 block(SIDE, SIDE), rows(ceil_div(p->Nq, ROWS_PER_BLOCK), heads);
    const dim3 scores(ceil_div(p->Nk, SIDE), ceil_div(p->Nq, SIDE), heads);
    const dim3 output(ceil_div(p->d, SIDE), ceil_div(p->Nq, SIDE), heads);
    naive_scores<<<scores, block, 0, stream>>>(*p, *a);
    CHECK_CUDA(cudaGetLastError());
    naive_softmax<<<rows, ROWS_PER_BLOCK, 0, stream>>>(*p, *a);
    CHECK_CUDA(cudaGetLastError());
    naive_output<<<output, block, 0, stream>>>(*p, *a);
    CHECK_CUDA(cudaGetLastError());
}
