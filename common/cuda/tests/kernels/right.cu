/* Correct kernels that a careless detector would report; right_expected has the results. */
#include "common/cuda/turns.h"

#include <string.h>

enum { THREADS = 128, BLOCKS = 3, N = THREADS * BLOCKS };
static const unsigned WHOLE_WARP = 0xffffffff;

/* in[k] is k; each block's part is reversed. */
__global__ void by_barriers(const float *in, float *out)
{
    __shared__ float x[THREADS];
    for (int round = 0; round < 3; round++) {
        x[threadIdx.x] = in[blockIdx.x * THREADS + threadIdx.x];
        __syncthreads();
        out[blockIdx.x * THREADS + threadIdx.x] = x[THREADS - 1 - threadIdx.x];
        __syncthreads();
    }
}

/* Two alternating buffers need one barrier per round. */
__global__ void by_two_buffers(const float *in, float *out)
{
    __shared__ float x[2][THREADS];
    for (unsigned round = 0; round < 4; round++) {
        float *now = x[round % 2];
        now[threadIdx.x] = in[blockIdx.x * THREADS + threadIdx.x];
        __syncthreads();
        out[blockIdx.x * THREADS + threadIdx.x] = now[THREADS - 1 - threadIdx.x];
    }
}

/* Within a warp __syncwarp is enough. */
__global__ void by_warps(const float *in, float *out)
{
    extern __shared__ float x[];
    const unsigned warp = threadIdx.x / 32 * 32, lane = threadIdx.x % 32;
    x[threadIdx.x] = in[blockIdx.x * THREADS + threadIdx.x];
    __syncwarp();
    const float y = x[warp + 31 - lane];
    __syncwarp();
    x[threadIdx.x] = y;
    __syncwarp(WHOLE_WARP);
    out[blockIdx.x * THREADS + THREADS - 32 - warp + lane] = x[threadIdx.x];
}

/* Half warps do not wait for each other. */
__global__ void by_half_warps(const float *in, float *out)
{
    const bool low = threadIdx.x % 32 < 16;
    const unsigned mask = low ? 0x0000ffff : 0xffff0000;
    float x = in[blockIdx.x * THREADS + threadIdx.x];
    if (low)
        x = __shfl_xor_sync(mask, x, 15, 16);
    else
        for (unsigned lanes = 1; lanes < 16; lanes *= 2)
            x = __shfl_xor_sync(mask, x, int(lanes), 16);
    const unsigned place = THREADS - 16 - threadIdx.x / 16 * 16 + threadIdx.x % 16;
    out[blockIdx.x * THREADS + place] = x;
}

/* Threads without work still reach the barrier. */
__global__ void by_vectors(const float *in, float *out)
{
    __shared__ float4 x[THREADS / 4];
    const unsigned first = blockIdx.x * THREADS;
    if (threadIdx.x < THREADS / 4)
        x[threadIdx.x] = *(const float4 *)(in + first + 4 * threadIdx.x);
    __syncthreads();
    if (threadIdx.x >= THREADS / 4)
        return;
    const float4 y = x[THREADS / 4 - 1 - threadIdx.x];
    *(float4 *)(out + first + 4 * threadIdx.x) = make_float4(y.w, y.z, y.y, y.x);
}

/* Neighbours share a word, not memory. */
__global__ void by_small_elements(const float *in, float *out)
{
    __shared__ unsigned char bytes[THREADS];
    __shared__ __half halves[THREADS];
    __shared__ __nv_bfloat16 tens[THREADS];
    const float x = in[blockIdx.x * THREADS + threadIdx.x];
    bytes[threadIdx.x] = (unsigned char)(x - float(blockIdx.x * THREADS));
    halves[threadIdx.x] = __float2half(x);
    tens[threadIdx.x] = float(int(x) / 10 * 10 % 100);
    __syncthreads();
    const unsigned other = THREADS - 1 - threadIdx.x;
    const bool same = int(float(halves[other])) % 128 == int(bytes[other]) &&
                      int(float(tens[other])) == int(float(halves[other])) / 10 * 10 % 100;
    out[blockIdx.x * THREADS + threadIdx.x] = same ? __half2float(halves[other]) : -1.0f;
}

__global__ void by_atomics(const float *in, float *out, int *counts)
{
    __shared__ int taken;
    if (threadIdx.x == 0)
        taken = 0;
    __syncthreads();
    const int number = atomicAdd(&taken, 1);
    atomicMax(&counts[0], number);
    atomicAdd(&counts[1], 1);
    const unsigned mine = blockIdx.x * THREADS + unsigned(number);
    out[blockIdx.x * THREADS + THREADS - 1 - unsigned(number)] = in[mine];
}

/* Reads what other threads wrote in the previous launch. */
__global__ void one_step(const float *in, float *out, unsigned by)
{
    const unsigned k = blockIdx.x * THREADS + threadIdx.x;
    out[blockIdx.x * THREADS + (threadIdx.x ^ by)] = in[k];
}

static void launch(const char *name, const float *in, float *out)
{
    if (strcmp(name, "by_barriers") == 0)
        by_barriers<<<BLOCKS, THREADS>>>(in, out);
    else if (strcmp(name, "by_two_buffers") == 0)
        by_two_buffers<<<BLOCKS, THREADS>>>(in, out);
    else if (strcmp(name, "by_warps") == 0)
        by_warps<<<BLOCKS, THREADS, THREADS * sizeof(float)>>>(in, out);
    else if (strcmp(name, "by_half_warps") == 0)
        by_half_warps<<<BLOCKS, THREADS>>>(in, out);
    else if (strcmp(name, "by_vectors") == 0)
        by_vectors<<<BLOCKS, THREADS>>>(in, out);
    else if (strcmp(name, "by_small_elements") == 0)
        by_small_elements<<<BLOCKS, THREADS>>>(in, out);
}

/* Blocks take turns by drawn numbers; without a turn the result is NaN. */
__global__ void by_turns(const float *in, float *out, unsigned *count)
{
    __shared__ unsigned number, place;
    if (threadIdx.x == 0) {
        number = atomicAdd(&count[0], 1);
        turn_wait(&count[1], number);
        place = atomicAdd(&count[2], 1);
        turn_next(&count[1]);
    }
    __syncthreads();
    out[number * THREADS + threadIdx.x] =
        number == place ? in[number * THREADS + THREADS - 1 - threadIdx.x] : NAN;
}

static void launch_with_more(const char *name, const float *in, float *out)
{
    float *between;
    int *counts;
    CHECK_CUDA(cudaMalloc(&between, N * sizeof *between));
    CHECK_CUDA(cudaMalloc(&counts, 3 * sizeof *counts));
    CHECK_CUDA(cudaMemset(counts, 0, 3 * sizeof *counts));
    if (strcmp(name, "by_atomics") == 0) {
        by_atomics<<<BLOCKS, THREADS>>>(in, out, counts);
    } else if (strcmp(name, "by_turns") == 0) {
        by_turns<<<BLOCKS, THREADS>>>(in, out, (unsigned *)counts);
    } else if (strcmp(name, "by_launches") == 0) {
        one_step<<<BLOCKS, THREADS>>>(in, between, THREADS - 2);
        one_step<<<BLOCKS, THREADS>>>(between, out, 1);
    }
    CHECK_LAUNCH("a right kernel");
    CHECK_CUDA(cudaFree(between));
    CHECK_CUDA(cudaFree(counts));
}

extern "C" void LAUNCHER(right)(const char *name, const float *in, float *out)
{
    float *from, *to;
    CHECK_CUDA(cudaMalloc(&from, N * sizeof *from));
    CHECK_CUDA(cudaMalloc(&to, N * sizeof *to));
    CHECK_CUDA(cudaMemcpy(from, in, N * sizeof *from, cudaMemcpyHostToDevice));
    launch(name, from, to);
    launch_with_more(name, from, to);
    CHECK_CUDA(cudaMemcpy(out, to, N * sizeof *to, cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaFree(from));
    CHECK_CUDA(cudaFree(to));
}
