/*
 * D_i = sum over k of dO_ik O_ik, line 4 of FlashAttention-2's Algorithm 2.         2 Nq d + Nq accesses
 *
 * D does not depend on the keys: a kernel of its own makes it once, before the others. A warp has a row; its lanes
 * take neighbouring elements, so that 32 of them come in one piece, and at the end add up what each has.
 *
 * HAS_MORE_ON_90: there one instruction makes a float of a bfloat16.
 */
#include "07_backward/kernels/parts/head.cuh"

enum { WARPS = 8 };  // rows of a block
static const unsigned WHOLE_WARP = 0xffffffff;

template <class T>
static __global__ void D_of_rows(struct attention p, const T *O, const T *dO, float *D)
{
    const size_t i = blockIdx.x * WARPS + threadIdx.y, lane = threadIdx.x;
    if (i >= p.Nq)
        return;  // the whole warp
    const size_t row = blockIdx.y * p.Nq + i;
    float sum = 0.0f;
    for (size_t k = lane; k < p.d; k += 32)
        sum += (float)dO[row * p.d + k] * (float)O[row * p.d + k];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(WHOLE_WARP, sum, step);
    if (lane == 0)
        D[row] = sum;
}

template <class T>
static void launch(const struct attention *p, const void *O, const void *dO, float *D,
                   cudaStream_t stream)
{
    const dim3 grid(ceil_div(p->Nq, WARPS), (unsigned)(p->B * p->H));
    D_of_rows<T><<<grid, dim3(32, WARPS), 0, stream>>>(*p, (const T *)O, (const T *)dO, D);
    CHECK_CUDA(cudaGetLastError());
}

extern "C" void LAUNCHER(backward_D)(const struct attention *p, const struct backward_arrays *a,
                                     cudaStream_t stream)
{
    if (p->dtype == DTYPE_F32)
        launch<float>(p, a->O, a->dO, a->D, stream);
    else if (p->dtype == DTYPE_BF16)
        launch<__nv_bfloat16>(p, a->O16, a->dO16, a->D, stream);
    else
        launch<__half>(p, a->O16, a->dO16, a->D, stream);
}
