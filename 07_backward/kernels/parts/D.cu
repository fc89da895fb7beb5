/*
 * D_i = sum over k of dO_ik O_ik, line 4 of FlashAttention-2's Algorithm 2.         2 Nq d + Nq accesses, in 16 bits Nq d + Nq of 4 bytes
 *
 * A warp computes a row, or several in 16 bits: a lane loads 8 elements. Tag for build.mk:
 * COMPILED_FOR_90, where bfloat16 converts faster.
 */
#include "07_backward/kernels/parts/head.cuh"

enum { WARPS = 8, LOAD_WIDTH = 8 };  // warps per block; elements per load
static const unsigned WHOLE_WARP = 0xffffffff;

static __global__ void D_of_rows(struct attention p, const float *O, const float *dO, float *D)
{
    const size_t i = blockIdx.x * WARPS + threadIdx.y, lane = threadIdx.x;
    if (i >= p.Nq)
        return;  // the whole warp
    const size_t row = blockIdx.y * p.Nq + i;
    float sum = 0.0f;
    for (size_t k = lane; k < p.d; k += 32)
        sum += dO[row * p.d + k] * O[row * p.d + k];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(WHOLE_WARP, sum, step);
    if (lane == 0)
        D[row] = sum;
}

/* LANES lanes per row; d % 8 = 0, d <= 8 LANES. */
template <class T, int LANES>
static __global__ void D_with_wide_loads(struct attention p, const T *O, const T *dO, float *D)
{
    const unsigned lane = threadIdx.x % LANES, rows = 32 * WARPS / LANES;
    const size_t i = blockIdx.x * rows + threadIdx.x / LANES, row = blockIdx.y * p.Nq + i;
    float sum = 0.0f;
    if (i < p.Nq && lane * LOAD_WIDTH < p.d) {
        alignas(16) T o[LOAD_WIDTH], g[LOAD_WIDTH];
        *(uint4 *)o = *(const uint4 *)&O[row * p.d + lane * LOAD_WIDTH];
        *(uint4 *)g = *(const uint4 *)&dO[row * p.d + lane * LOAD_WIDTH];
#pragma unroll
        for (int k = 0; k < LOAD_WIDTH; k++)
            sum += (float)g[k] * (float)o[k];
    }
    for (int step = LANES / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(WHOLE_WARP, sum, step);
    if (i < p.Nq && lane == 0)
        D[row] = sum;
}

template <class T, int LANES>
static void launch(const struct attention *p, const struct backward_arrays *a, cudaStream_t stream)
{
    const dim3 grid(ceil_div(p->Nq, 32 * WARPS / LANES), (unsigned)(p->B * p->H));
    const T *const O = (const T *)a->O16, *const dO = (const T *)a->dO16;
    D_with_wide_loads<T, LANES><<<grid, 32 * WARPS, 0, stream>>>(*p, O, dO, a->D);
    CHECK_CUDA(cudaGetLastError());
}

template <class T>
static void launch_wide(const struct attention *p, const struct backward_arrays *a,
                        cudaStream_t stream)
{
    if (p->d <= 64)
        launch<T, 8>(p, a, stream);
    else if (p->d <= 128)
        launch<T, 16>(p, a, stream);
    else
        launch<T, 32>(p, a, stream);
}

static void launch_floats(const struct attention *p, const struct backward_arrays *a,
                          cudaStream_t stream)
{
    const dim3 grid(ceil_div(p->Nq, WARPS), (unsigned)(p->B * p->H));
    D_of_rows<<<grid, dim3(32, WARPS), 0, stream>>>(*p, a->O, a->dO, a->D);
    CHECK_CUDA(cudaGetLastError());
}

extern "C" void LAUNCHER(backward_D)(const struct attention *p, const struct backward_arrays *a,
                                     cudaStream_t stream)
{
    if (p->dtype == DTYPE_F32)
        launch_floats(p, a, stream);
    else if (p->dtype == DTYPE_BF16)
        launch_wide<__nv_bfloat16>(p, a, stream);
    else
        launch_wide<__half>(p, a, stream);
}
