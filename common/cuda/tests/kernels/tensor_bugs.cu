/* Mistakes with matrices and with asynchronous copies. */
#include "common/cuda/tests/kernels/bugs.cuh"

enum { ROWS = 32, BYTES = 16 };

__global__ void row_out_of_step(float *out)
{
    __shared__ __align__(16) unsigned short rows[ROWS * 8 + 8];
    unsigned r[4];
    for (unsigned k = threadIdx.x; k < ROWS * 8 + 8; k += THREADS)
        rows[k] = 0;
    __syncthreads();
    ldmatrix(r, rows + 8 * (threadIdx.x % 32) + 1);
    out[threadIdx.x] = float(r[0] + r[1] + r[2] + r[3]);
}

__global__ void row_in_global_memory(const float *in, float *out)
{
    unsigned r[1];
    ldmatrix(r, in + threadIdx.x % 8 * 4);
    out[threadIdx.x] = float(r[0]);
}

__global__ void rows_past_the_end(float *out)
{
    __shared__ __align__(16) unsigned short rows[16][8];
    unsigned r[4];
    if (threadIdx.x < 16)
        for (int k = 0; k < 8; k++)
            rows[threadIdx.x][k] = 0;
    __syncthreads();
    ldmatrix(r, rows[0] + 8 * (threadIdx.x % 32));
    out[threadIdx.x] = float(r[0] + r[1] + r[2] + r[3]);
}

__global__ void mma_in_a_branch(float *out)
{
    float d[4] = { 0.0f, 0.0f, 0.0f, 0.0f };
    const unsigned a[4] = { 0, 0, 0, 0 }, b[2] = { 0, 0 };
    if (threadIdx.x < 16)
        mma<__nv_bfloat16>(d, a, b);
    out[threadIdx.x] = d[0];
}

__global__ void rows_without_barrier(float *out)
{
    __shared__ __align__(16) unsigned short rows[THREADS][8];
    unsigned r[4];
    for (int k = 0; k < 8; k++)
        rows[threadIdx.x][k] = 1;
    ldmatrix(r, rows[THREADS - 1 - threadIdx.x]);
    out[threadIdx.x] = float(r[0] & 1);
}

__global__ void copy_not_waited_for(const float *in, float *out)
{
    __shared__ float4 x[THREADS / 4];
    if (threadIdx.x < THREADS / 4)
        cp_async<BYTES>(&x[threadIdx.x], in + 4 * threadIdx.x);
    cp_async_commit();
    __syncthreads();
    out[threadIdx.x] = x[threadIdx.x / 4].x;
    cp_async_wait<0>();
}

__global__ void waits_for_one_group_too_few(const float *in, float *out)
{
    __shared__ float4 x[2][THREADS];
    for (int stage = 0; stage < 2; stage++) {
        cp_async<BYTES>(&x[stage][threadIdx.x], in + threadIdx.x / 4 * 4);
        cp_async_commit();
    }
    cp_async_wait<1>();
    out[threadIdx.x] = x[1][threadIdx.x].x;
    cp_async_wait<0>();
}

__global__ void no_barrier_after_the_wait(const float *in, float *out)
{
    __shared__ float4 x[THREADS];
    cp_async<BYTES>(&x[threadIdx.x], in + threadIdx.x / 4 * 4);
    cp_async_commit();
    cp_async_wait<0>();
    out[threadIdx.x] = x[THREADS - 1 - threadIdx.x].x;
}

__global__ void copied_over_what_is_read(const float *in, float *out)
{
    __shared__ float4 x[THREADS];
    float sum = 0.0f;
    for (int n = 0; n < 2; n++) {
        cp_async<BYTES>(&x[threadIdx.x], in + threadIdx.x / 4 * 4);
        cp_async_commit();
        cp_async_wait<0>();
        __syncthreads();
        sum += x[THREADS - 1 - threadIdx.x].x;
    }
    out[threadIdx.x] = sum;
}

__global__ void two_copies_to_one_place(const float *in, float *out)
{
    __shared__ float4 x[THREADS];
    for (int n = 0; n < 2; n++) {
        cp_async<BYTES>(&x[threadIdx.x], in + threadIdx.x / 4 * 4);
        cp_async_commit();
    }
    cp_async_wait<0>();
    out[threadIdx.x] = x[threadIdx.x].x;
}

__global__ void leaves_with_a_copy(const float *in, float *out)
{
    __shared__ float4 x[THREADS];
    cp_async<BYTES>(&x[threadIdx.x], in + threadIdx.x / 4 * 4);
    out[threadIdx.x] = 1.0f;
}

__global__ void copy_out_of_step(const float *in, float *out)
{
    __shared__ float4 x[THREADS];
    cp_async<BYTES>(&x[threadIdx.x], in + 1 + threadIdx.x / 4 * 4);
    cp_async_commit();
    cp_async_wait<0>();
    out[threadIdx.x] = x[threadIdx.x].x;
}

__global__ void copy_past_the_end(const float *in, float *out)
{
    __shared__ float4 x[THREADS];
    cp_async<BYTES>(&x[threadIdx.x], in + 4 * threadIdx.x);
    cp_async_commit();
    cp_async_wait<0>();
    out[threadIdx.x] = x[threadIdx.x].x;
}

__global__ void copy_of_too_much(const float *in, float *out)
{
    __shared__ float4 x[THREADS];
    cp_async<BYTES>(&x[threadIdx.x], in + threadIdx.x / 4 * 4, 20);
    cp_async_commit();
    cp_async_wait<0>();
    out[threadIdx.x] = x[threadIdx.x].x;
}

__global__ void copy_to_global_memory(const float *in, float *out)
{
    cp_async<4>(out + threadIdx.x, in + threadIdx.x);
    cp_async_commit();
    cp_async_wait<0>();
}

__global__ void instruction_of_a_newer_gpu(float *out)
{
    float d[4] = { 0.0f, 0.0f, 0.0f, 0.0f };
    const unsigned a[4] = { 0, 0, 0, 0 }, b[2] = { 0, 0 };
    mma_k8(d, a, b[0]);
    mma<__half>(d, a, b);
    out[threadIdx.x] = d[0];
}

__global__ void copy_of_a_newer_gpu(const float *in, float *out)
{
    __shared__ float4 x[THREADS];
    cp_async<BYTES>(&x[threadIdx.x], in + threadIdx.x / 4 * 4);
    cp_async_commit();
    cp_async_wait<0>();
    out[threadIdx.x] = x[threadIdx.x].x;
}

static constexpr bug bugs[] = {
    { "row_out_of_step", [](arrays a) { row_out_of_step<<<1, THREADS>>>(a.out); } },
    { "row_in_global_memory", [](arrays a) { row_in_global_memory<<<1, THREADS>>>(a.in, a.out); } },
    { "rows_past_the_end", [](arrays a) { rows_past_the_end<<<1, THREADS>>>(a.out); } },
    { "mma_in_a_branch", [](arrays a) { mma_in_a_branch<<<1, THREADS>>>(a.out); } },
    { "rows_without_barrier", [](arrays a) { rows_without_barrier<<<1, THREADS>>>(a.out); } },
    { "copy_not_waited_for", [](arrays a) { copy_not_waited_for<<<1, THREADS>>>(a.in, a.out); } },
    { "waits_for_one_group_too_few",
      [](arrays a) { waits_for_one_group_too_few<<<1, THREADS>>>(a.in, a.out); } },
    { "no_barrier_after_the_wait",
      [](arrays a) { no_barrier_after_the_wait<<<1, THREADS>>>(a.in, a.out); } },
    { "copied_over_what_is_read",
      [](arrays a) { copied_over_what_is_read<<<1, THREADS>>>(a.in, a.out); } },
    { "two_copies_to_one_place",
      [](arrays a) { two_copies_to_one_place<<<1, THREADS>>>(a.in, a.out); } },
    { "leaves_with_a_copy", [](arrays a) { leaves_with_a_copy<<<1, THREADS>>>(a.in, a.out); } },
    { "copy_out_of_step", [](arrays a) { copy_out_of_step<<<1, THREADS>>>(a.in, a.out); } },
    { "copy_past_the_end", [](arrays a) { copy_past_the_end<<<1, THREADS>>>(a.in, a.out); } },
    { "copy_of_too_much", [](arrays a) { copy_of_too_much<<<1, THREADS>>>(a.in, a.out); } },
    { "copy_to_global_memory",
      [](arrays a) { copy_to_global_memory<<<1, THREADS>>>(a.in, a.out); } },
    { "instruction_of_a_newer_gpu",
      [](arrays a) {
          cuda_cpu_capability(75);
          instruction_of_a_newer_gpu<<<1, THREADS>>>(a.out);
      } },
    { "copy_of_a_newer_gpu",
      [](arrays a) {
          cuda_cpu_capability(75);
          copy_of_a_newer_gpu<<<1, THREADS>>>(a.in, a.out);
      } },
};

extern "C" bool LAUNCHER(tensor_bug)(const char *name)
{
    return run_bug(bugs, sizeof bugs / sizeof *bugs, name);
}
