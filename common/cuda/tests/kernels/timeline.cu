/* Kernels with times computed by hand (test_timeline.c), one kind of waiting each. */
#include "common/cuda/device.h"
#include "common/cuda/hopper.h"

#include <cstring>

enum { TILE = 64 * 64 };  // elements of a box of 8192 bytes

__device__ static inline float make_exponentials(int n)
{
    float x = 0.0f;
    for (int k = 0; k < n; k++)
        x = ex2(x);
    return x;
}

__device__ static inline void begin_phases(uint64_t *bar)
{
    if (threadIdx.x == 0) {
        mbarrier_init(bar, 1);
        fence_async();
    }
    __syncthreads();
}

__device__ static inline void issue_product(float (&d)[32], const unsigned char *fast,
                                            int products = 1)
{
    const uint64_t one = wgmma_matrix(fast, 0, 1024);
    wgmma_fence();
    for (int k = 0; k < products; k++)
        wgmma<__half, K_MAJOR>(d, one, one, k > 0);
    wgmma_commit();
}

/* Box, product, exponentials; without `waits`, the last two overlap. */
__global__ void __launch_bounds__(128)
    box_product_exponentials(const __grid_constant__ tensor_map map, float *out, bool waits)
{
    extern __shared__ __align__(1024) unsigned char fast[];
    __shared__ uint64_t there;
    float d[32], x;
    begin_phases(&there);
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect(&there, TILE * sizeof(__half));
        tma_load(fast, &map, &there, 0, 0);
    }
    mbarrier_wait(&there, 0);
    issue_product(d, fast);
    if (waits)
        wgmma_wait<0>(d);
    x = make_exponentials(4);
    wgmma_wait<0>(d);
    out[threadIdx.x] = d[0] + x;
}

/* Two warpgroups issue two products each. */
__global__ void __launch_bounds__(256)
    products_in_turn(const __grid_constant__ tensor_map map, float *out)
{
    extern __shared__ __align__(1024) unsigned char fast[];
    __shared__ uint64_t there;
    float d[32], e[32];
    begin_phases(&there);
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect(&there, TILE * sizeof(__half));
        tma_load(fast, &map, &there, 0, 0);
    }
    mbarrier_wait(&there, 0);
    issue_product(d, fast);
    issue_product(e, fast);
    wgmma_wait<0>(d, e);
    out[threadIdx.x] = d[0] + e[0];
}

__global__ void __launch_bounds__(128) one_group(const __grid_constant__ tensor_map map, float *out)
{
    extern __shared__ __align__(1024) unsigned char fast[];
    __shared__ uint64_t there;
    float d[32];
    begin_phases(&there);
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect(&there, TILE * sizeof(__half));
        tma_load(fast, &map, &there, 0, 0);
    }
    mbarrier_wait(&there, 0);
    issue_product(d, fast, 2);
    wgmma_wait<0>(d);
    out[threadIdx.x] = d[0];
}

/* The second box is loaded after all threads have arrived. */
__global__ void __launch_bounds__(128)
    box_after_arrivals(const __grid_constant__ tensor_map map, float *out)
{
    extern __shared__ __align__(1024) unsigned char fast[];
    __shared__ uint64_t there, done;
    if (threadIdx.x == 0)
        mbarrier_init(&done, 128);
    begin_phases(&there);
    for (unsigned n = 0; n < 2; n++) {
        if (threadIdx.x == 0) {
            mbarrier_wait(&done, (n & 1) ^ 1);
            mbarrier_arrive_expect(&there, TILE * sizeof(__half));
            tma_load(fast, &map, &there, 0, 0);
        }
        mbarrier_wait(&there, n & 1);
        out[threadIdx.x] = make_exponentials(4);
        mbarrier_arrive(&done);
    }
}

/* Waiting for an earlier phase must not wait for the next. */
__global__ void __launch_bounds__(128)
    phase_that_is_over(const __grid_constant__ tensor_map map, float *out)
{
    extern __shared__ __align__(1024) unsigned char fast[];
    __shared__ uint64_t there;
    begin_phases(&there);
    for (unsigned n = 0; n < 2; n++) {
        if (threadIdx.x == 0) {
            mbarrier_arrive_expect(&there, TILE * sizeof(__half));
            tma_load(fast, &map, &there, 0, 0);
        }
        mbarrier_wait(&there, n);
        __syncthreads();
        mbarrier_wait(&there, n);
        out[threadIdx.x] = make_exponentials(4);
    }
}

/* Warp w starts after warp w - 1 has reached a barrier. */
__global__ void one_warp_after_the_other(float *out, int how)
{
    const unsigned warp = threadIdx.x / 32;
    float x = 0.0f;
    for (unsigned turn = 0; turn < 4; turn++) {
        if (warp == turn)
            x = make_exponentials(8);
        if (how == 0)
            __syncthreads();
        else if (how == 1 && warp == turn && turn < 3)
            barrier_arrive(turn + 1, 64);
        else if (how == 1 && warp == turn + 1)
            barrier_sync(turn + 1, 64);
    }
    out[threadIdx.x] = x;
}

/* Warps 0 and 4 share a quarter of the units; warp 1 has its own. */
__global__ void shared_quarters(float *out)
{
    const unsigned warp = threadIdx.x / 32;
    out[threadIdx.x] = warp == 0 || warp == 1 || warp == 4 ? make_exponentials(8) : 0.0f;
}

/* A shuffle waits for the slowest lane. */
__global__ void lanes_wait(float *out)
{
    float x = make_exponentials(threadIdx.x == 0 ? 8 : 4);
    x += __shfl_xor_sync(0xffffffff, x, 1);
    out[threadIdx.x] = x + make_exponentials(4);
}

/* A warp multiplies one part while the next is copied. */
__global__ void copies_and_products(const __half *in, float *out)
{
    __shared__ __align__(16) __half x[2 * 32 * 8];
    const unsigned t = threadIdx.x;
    float d[4] = {};
    unsigned a[4] = {}, b[2] = {};
    cp_async<16>(&x[8 * t], &in[8 * t]);
    cp_async_commit();
    cp_async<16>(&x[256 + 8 * t], &in[256 + 8 * t]);
    cp_async_commit();
    cp_async_wait<1>();
    __syncwarp();
    mma<__half>(d, a, b);
    mma<__half>(d, a, b);
    cp_async_wait<0>();
    out[t] = d[0] + expf(__half2float(x[256 + 8 * t]));
}

/* Half of a warp copies from one array, half from another. */
__global__ void copies_of_two(const __half *in, float *out)
{
    __shared__ __align__(16) unsigned char x[512];
    const unsigned t = threadIdx.x;
    cp_async<16>(&x[16 * t], t < 16 ? (const void *)&in[8 * t] : &out[4 * t]);
    cp_async_commit();
    cp_async_wait<0>();
    out[t] = x[16 * t];
}

__global__ void sums(float *out)
{
    __shared__ __align__(128) float x[1024];
    for (unsigned k = threadIdx.x; k < 1024; k += 32)
        x[k] = 1.0f;
    fence_async();
    __syncwarp();
    if (threadIdx.x == 0) {
        bulk_add(out, x, sizeof x);
        bulk_commit();
        bulk_wait<0>();
        x[0] = make_exponentials(4);
    }
}

extern "C" void LAUNCHER(timeline)(const char *name)
{
    __half *in;
    float *out;
    tensor_map map;
    const uint64_t size[2] = { 64, 64 }, stride[1] = { 128 };
    const uint32_t box[2] = { 64, 64 };
    const auto is = [=](const char *other) { return strcmp(name, other) == 0; };
    CHECK_CUDA(cudaMalloc(&in, TILE * sizeof *in));
    CHECK_CUDA(cudaMalloc(&out, 1024 * sizeof *out));
    CHECK_CUDA(cudaMemset(in, 0, TILE * sizeof *in));
    CHECK_CUDA(cudaMemset(out, 0, 1024 * sizeof *out));
    cuda_name(in, "in");
    cuda_name(out, "out");
    CHECK_CUDA(tensor_map_make(&map, in, 2, size, stride, box));
    if (is("box_product_exponentials"))
        box_product_exponentials<<<1, 128, 8192>>>(map, out, true);
    else if (is("exponentials_beside"))
        box_product_exponentials<<<1, 128, 8192>>>(map, out, false);
    else if (is("products_in_turn"))
        products_in_turn<<<1, 256, 8192>>>(map, out);
    else if (is("one_group"))
        one_group<<<1, 128, 8192>>>(map, out);
    else if (is("box_after_arrivals"))
        box_after_arrivals<<<1, 128, 8192>>>(map, out);
    else if (is("phase_that_is_over"))
        phase_that_is_over<<<1, 128, 8192>>>(map, out);
    else if (is("one_warp_after_the_other"))
        one_warp_after_the_other<<<1, 128>>>(out, 0);
    else if (is("by_named_barriers"))
        one_warp_after_the_other<<<1, 128>>>(out, 1);
    else if (is("without_barriers"))
        one_warp_after_the_other<<<1, 128>>>(out, 2);
    else if (is("shared_quarters"))
        shared_quarters<<<1, 256>>>(out);
    else if (is("lanes_wait"))
        lanes_wait<<<3, 32>>>(out);
    else if (is("copies_and_products"))
        copies_and_products<<<1, 32>>>(in, out);
    else if (is("copies_of_two"))
        copies_of_two<<<1, 32>>>(in, out);
    else if (is("sums"))
        sums<<<1, 32>>>(out);
    CHECK_LAUNCH("a kernel on the clock");
    CHECK_CUDA(cudaFree(in));
    CHECK_CUDA(cudaFree(out));
}
