/* Accesses of known cost. */
#include "common/cuda/device.h"
#include "common/cuda/tensor.h"

#include <string.h>

/* A tile of 32 rows, accessed by rows and by columns. */
template <int PITCH> __global__ void tile(float *out)
{
    __shared__ float x[32 * PITCH];
    x[threadIdx.x * PITCH] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = x[threadIdx.x * PITCH];
}

__global__ void all_read_one(float *out)
{
    __shared__ float x[1];
    if (threadIdx.x == 0)
        x[0] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = x[0];
}

__global__ void vectors_in_a_row(float *out)
{
    __shared__ float4 x[32];
    x[threadIdx.x] = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
    __syncthreads();
    *(float4 *)(out + 4 * threadIdx.x) = x[threadIdx.x];
}

__global__ void stride(const float *in, float *out, unsigned by)
{
    out[threadIdx.x] = in[by * threadIdx.x];
}

__global__ void pairs_of_halves(const __half2 *halves, float *out)
{
    const __half2 two = halves[threadIdx.x];
    out[threadIdx.x] = float(two.x) + float(two.y);
}

/* With banks, both halves of the warp would read from the same 16 and write to different ones. */
__global__ void copied(const float *in, float *out)
{
    __shared__ float here[32];
    const unsigned lane = threadIdx.x;
    cp_async<4>(&here[lane], &in[lane < 16 ? lane : 48 + lane]);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    out[lane] = here[lane];
}

__global__ void added(float *out)
{
    atomicAdd(out, 1.0f);
}

extern "C" void LAUNCHER(costs)(const char *name)
{
    float *in, *out;
    CHECK_CUDA(cudaMalloc(&in, 1024 * sizeof *in));
    CHECK_CUDA(cudaMalloc(&out, 128 * sizeof *out));
    CHECK_CUDA(cudaMemset(in, 0, 1024 * sizeof *in));
    CHECK_CUDA(cudaMemset(out, 0, 128 * sizeof *out));
    __half2 *const halves = reinterpret_cast<__half2 *>(in);
    cuda_name(in, "in", strcmp(name, "pairs_of_halves") == 0 ? sizeof(__half) : sizeof *in);
    cuda_name(out, "out");
    if (strcmp(name, "columns") == 0)
        tile<32><<<1, 32>>>(out);
    else if (strcmp(name, "padded_columns") == 0)
        tile<33><<<1, 32>>>(out);
    else if (strcmp(name, "every_second_bank") == 0)
        tile<2><<<1, 32>>>(out);
    else if (strcmp(name, "all_read_one") == 0)
        all_read_one<<<1, 32>>>(out);
    else if (strcmp(name, "vectors_in_a_row") == 0)
        vectors_in_a_row<<<1, 32>>>(out);
    else if (strcmp(name, "in_a_row") == 0)
        stride<<<1, 32>>>(in, out, 1);
    else if (strcmp(name, "every_eighth") == 0)
        stride<<<1, 32>>>(in, out, 8);
    else if (strcmp(name, "copied") == 0)
        copied<<<1, 32>>>(in, out);
    else if (strcmp(name, "added") == 0)
        added<<<2, 32>>>(out);
    else if (strcmp(name, "pairs_of_halves") == 0)
        pairs_of_halves<<<1, 32>>>(halves, out);
    CHECK_LAUNCH("a kernel of known costs");
    CHECK_CUDA(cudaFree(in));
    CHECK_CUDA(cudaFree(out));
}
