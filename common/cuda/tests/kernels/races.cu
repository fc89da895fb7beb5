/* Unordered accesses, each harmless in some order. */
#include "common/cuda/tests/kernels/bugs.cuh"

static const unsigned WHOLE_WARP = 0xffffffff;

/* Correct in ascending order. */
__global__ void read_before_written(float *out)
{
    __shared__ float x[THREADS];
    x[threadIdx.x] = float(threadIdx.x);
    out[threadIdx.x] = threadIdx.x > 0 ? x[threadIdx.x - 1] : 0.0f;
}

/* The second barrier is missing. */
__global__ void overwritten_too_early(float *out)
{
    __shared__ float x[THREADS];
    x[threadIdx.x] = float(threadIdx.x);
    __syncthreads();
    const float other = x[THREADS - 1 - threadIdx.x];
    x[threadIdx.x] = -other;
    __syncthreads();
    out[threadIdx.x] = x[threadIdx.x] + 2.0f * other;
}

__global__ void read_then_overwritten(float *out)
{
    __shared__ float x;
    if (threadIdx.x == 0)
        x = 1.0f;
    __syncthreads();
    out[threadIdx.x] = x;
    if (threadIdx.x == 0)
        x = 2.0f;
}

/* Both warps read x; a lane of the second writes it, ordered only after its own warp. */
__global__ void overwritten_by_another_warp(float *out)
{
    __shared__ float x;
    if (threadIdx.x == 0)
        x = 1.0f;
    __syncthreads();
    out[threadIdx.x] = x;
    __syncwarp();
    if (threadIdx.x == 40)
        x = 2.0f;
}

__global__ void lanes_without_syncwarp(float *out)
{
    __shared__ float x[THREADS];
    x[threadIdx.x] = float(threadIdx.x);
    out[threadIdx.x] = x[threadIdx.x ^ 1];
}

/* A shuffle orders no memory. */
__global__ void shuffle_for_syncwarp(float *out)
{
    __shared__ float x[THREADS];
    x[threadIdx.x] = float(threadIdx.x);
    const float sum = __shfl_xor_sync(WHOLE_WARP, 1.0f, 1);
    out[threadIdx.x] = x[threadIdx.x ^ 1] + sum;
}

__global__ void syncwarp_for_syncthreads(float *out)
{
    __shared__ float x[THREADS];
    x[threadIdx.x] = float(threadIdx.x);
    __syncwarp();
    out[threadIdx.x] = threadIdx.x < 32 ? 0.0f : x[threadIdx.x ^ 32];
}

__global__ void all_write_the_same(float *out)
{
    __shared__ float flag;
    flag = 1.0f;
    __syncthreads();
    out[threadIdx.x] = flag;
}

__global__ void two_threads_an_element(float *out)
{
    out[threadIdx.x / 2] = float(threadIdx.x);
}

__global__ void blocks_share_an_element(float *out)
{
    if (threadIdx.x == 0)
        out[0] = float(blockIdx.x);
}

__global__ void sum_without_atomics(float *out)
{
    if (threadIdx.x == 0)
        out[0] += 1.0f;
}

__global__ void atomic_and_plain(float *out)
{
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&sum, 1);
    out[threadIdx.x] = float(sum);
}

/* No barrier spans blocks. */
__global__ void cleared_by_one_block(float *out)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        out[0] = 0.0f;
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(out, 1.0f);
}

/* Chapter 06's sum without its barrier. */
__global__ void sum_without_barrier(float *out)
{
    __shared__ float sums[THREADS];
    sums[threadIdx.x] = float(threadIdx.x);
    for (unsigned half = THREADS / 2; half > 0; half /= 2)
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    if (threadIdx.x == 0)
        out[0] = sums[0];
}

__global__ void barrier_missing_in_a_loop(float *out)
{
    __shared__ float x[THREADS];
    float sum = 0.0f;
    for (int round = 0; round < 3; round++) {
        x[threadIdx.x] = float(round);
        __syncthreads();
        sum += x[threadIdx.x ^ 33];
    }
    out[threadIdx.x] = sum;
}

static constexpr bug bugs[] = {
    { "read_before_written", [](arrays a) { read_before_written<<<1, THREADS>>>(a.out); } },
    { "overwritten_too_early", [](arrays a) { overwritten_too_early<<<1, THREADS>>>(a.out); } },
    { "read_then_overwritten", [](arrays a) { read_then_overwritten<<<1, THREADS>>>(a.out); } },
    { "overwritten_by_another_warp",
      [](arrays a) { overwritten_by_another_warp<<<1, THREADS>>>(a.out); } },
    { "lanes_without_syncwarp", [](arrays a) { lanes_without_syncwarp<<<1, THREADS>>>(a.out); } },
    { "shuffle_for_syncwarp", [](arrays a) { shuffle_for_syncwarp<<<1, THREADS>>>(a.out); } },
    { "syncwarp_for_syncthreads",
      [](arrays a) { syncwarp_for_syncthreads<<<1, THREADS>>>(a.out); } },
    { "all_write_the_same", [](arrays a) { all_write_the_same<<<1, THREADS>>>(a.out); } },
    { "two_threads_an_element", [](arrays a) { two_threads_an_element<<<1, THREADS>>>(a.out); } },
    { "blocks_share_an_element", [](arrays a) { blocks_share_an_element<<<4, THREADS>>>(a.out); } },
    { "sum_without_atomics", [](arrays a) { sum_without_atomics<<<4, THREADS>>>(a.out); } },
    { "atomic_and_plain", [](arrays a) { atomic_and_plain<<<1, THREADS>>>(a.out); } },
    { "cleared_by_one_block", [](arrays a) { cleared_by_one_block<<<4, THREADS>>>(a.out); } },
    { "sum_without_barrier", [](arrays a) { sum_without_barrier<<<1, THREADS>>>(a.out); } },
    { "barrier_missing_in_a_loop",
      [](arrays a) { barrier_missing_in_a_loop<<<1, THREADS>>>(a.out); } },
};

extern "C" bool LAUNCHER(race_bug)(const char *name)
{
    return run_bug(bugs, sizeof bugs / sizeof *bugs, name);
}
