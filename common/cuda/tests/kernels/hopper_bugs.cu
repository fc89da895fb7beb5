/* Mistakes with Hopper's units. */
#include "bugs.cuh"

#include "cuda/hopper.h"

enum { BOX = 256, GROUP = 128, BYTES_16K = 16384 };

/* All of `in`: two rows of 32 floats, which a box holds. */
static tensor_map map_of(const float *in)
{
    const uint64_t size[2] = { 32, 2 }, stride[1] = { 128 };
    const uint32_t box[2] = { 32, 2 };
    tensor_map map;
    CHECK_CUDA(tensor_map_make(&map, in, 2, size, stride, box));
    return map;
}

// ---- mbarriers and boxes ------------------------------------------------------------------------

__global__ void phase_not_waited_for(const __grid_constant__ tensor_map map, float *out)
{
    __shared__ __align__(1024) float x[64];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        mbarrier_init(&bar, 1);
        fence_async();
        mbarrier_arrive_expect(&bar, BOX);
        tma_load(x, &map, &bar, 0, 0);
    }
    __syncthreads();
    out[threadIdx.x] = x[threadIdx.x];
    mbarrier_wait(&bar, 0);
}

__global__ void wrong_parity(const __grid_constant__ tensor_map map, float *out)
{
    __shared__ __align__(1024) float x[64];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        mbarrier_init(&bar, 1);
        fence_async();
        mbarrier_arrive_expect(&bar, BOX);
        tma_load(x, &map, &bar, 0, 0);
    }
    __syncthreads();
    mbarrier_wait(&bar, 1);
    out[threadIdx.x] = x[threadIdx.x];
}

__global__ void more_bytes_expected(const __grid_constant__ tensor_map map, float *out)
{
    __shared__ __align__(1024) float x[64];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        mbarrier_init(&bar, 1);
        fence_async();
        mbarrier_arrive_expect(&bar, 2 * BOX);
        tma_load(x, &map, &bar, 0, 0);
    }
    __syncthreads();
    mbarrier_wait(&bar, 0);
    out[threadIdx.x] = x[threadIdx.x];
}

__global__ void bytes_not_expected(const __grid_constant__ tensor_map map, float *out)
{
    __shared__ __align__(1024) float x[64];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        mbarrier_init(&bar, 1);
        fence_async();
        tma_load(x, &map, &bar, 0, 0);
        mbarrier_arrive(&bar);
    }
    __syncthreads();
    mbarrier_wait(&bar, 0);
    out[threadIdx.x] = x[threadIdx.x];
}

__global__ void arrival_forgotten(float *out)
{
    __shared__ uint64_t bar;
    if (threadIdx.x == 0)
        mbarrier_init(&bar, THREADS);
    __syncthreads();
    if (threadIdx.x != 5)
        mbarrier_arrive(&bar);
    mbarrier_wait(&bar, 0);
    out[threadIdx.x] = 1.0f;
}

__global__ void one_arrival_too_many(const __grid_constant__ tensor_map map, float *out)
{
    __shared__ __align__(1024) float x[64];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        mbarrier_init(&bar, 1);
        fence_async();
    }
    __syncthreads();
    if (threadIdx.x < 2)
        mbarrier_arrive_expect(&bar, BOX / 2);
    if (threadIdx.x == 0)
        tma_load(x, &map, &bar, 0, 0);
    mbarrier_wait(&bar, 0);
    out[threadIdx.x] = x[threadIdx.x];
}

__global__ void gone_round_twice(float *out)
{
    __shared__ uint64_t bar;
    if (threadIdx.x == 0)
        mbarrier_init(&bar, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        mbarrier_arrive(&bar);
        mbarrier_arrive(&bar);
    }
    mbarrier_wait(&bar, 0);
    out[threadIdx.x] = 1.0f;
}

__global__ void no_barrier_after_init(float *out)
{
    __shared__ uint64_t bar;
    if (threadIdx.x == 63)
        mbarrier_init(&bar, THREADS);
    mbarrier_arrive(&bar);
    mbarrier_wait(&bar, 0);
    out[threadIdx.x] = 1.0f;
}

__global__ void init_by_chance_first(float *out)
{
    __shared__ uint64_t bar;
    if (threadIdx.x == 0)
        mbarrier_init(&bar, THREADS);
    mbarrier_arrive(&bar);
    mbarrier_wait(&bar, 0);
    out[threadIdx.x] = 1.0f;
}

__global__ void init_not_fenced(const __grid_constant__ tensor_map map, float *out)
{
    __shared__ __align__(1024) float x[64];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        mbarrier_init(&bar, 1);
        mbarrier_arrive_expect(&bar, BOX);
        tma_load(x, &map, &bar, 0, 0);
    }
    __syncthreads();
    mbarrier_wait(&bar, 0);
    out[threadIdx.x] = x[threadIdx.x];
}

__global__ void mbarrier_overwritten(float *out)
{
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        mbarrier_init(&bar, THREADS);
        bar = 0;
    }
    __syncthreads();
    mbarrier_arrive(&bar);
    mbarrier_wait(&bar, 0);
    out[threadIdx.x] = 1.0f;
}

__global__ void initialised_twice(float *out)
{
    __shared__ uint64_t bar;
    if (threadIdx.x < 2)
        mbarrier_init(&bar, THREADS);
    out[threadIdx.x] = 1.0f;
}

__global__ void mbarrier_in_a_register(float *out)
{
    uint64_t bar;
    mbarrier_init(&bar, 1);
    out[threadIdx.x] = 1.0f;
}

__global__ void no_arrivals(float *out)
{
    __shared__ uint64_t bar;
    if (threadIdx.x == 0)
        mbarrier_init(&bar, 0);
    out[threadIdx.x] = 1.0f;
}

__global__ void parity_of_two(float *out)
{
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        mbarrier_init(&bar, 1);
        mbarrier_wait(&bar, 2);
    }
    out[threadIdx.x] = 1.0f;
}

__global__ void box_out_of_step(const __grid_constant__ tensor_map map, float *out)
{
    __shared__ __align__(1024) float x[128];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        mbarrier_init(&bar, 1);
        fence_async();
        mbarrier_arrive_expect(&bar, BOX);
        tma_load(x + 32, &map, &bar, 0, 0);
        mbarrier_wait(&bar, 0);
    }
    out[threadIdx.x] = 1.0f;
}

__global__ void box_past_the_end(const __grid_constant__ tensor_map map, float *out)
{
    __shared__ __align__(1024) float x[32];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        mbarrier_init(&bar, 1);
        fence_async();
        mbarrier_arrive_expect(&bar, BOX);
        tma_load(x, &map, &bar, 0, 0);
        mbarrier_wait(&bar, 0);
    }
    out[threadIdx.x] = 1.0f;
}

__global__ void box_of_three_dimensions(const __grid_constant__ tensor_map map, float *out)
{
    __shared__ __align__(1024) float x[64];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        mbarrier_init(&bar, 1);
        fence_async();
        mbarrier_arrive_expect(&bar, BOX);
        tma_load(x, &map, &bar, 0, 0, 0);
        mbarrier_wait(&bar, 0);
    }
    out[threadIdx.x] = 1.0f;
}

__global__ void ends_with_a_box(const __grid_constant__ tensor_map map, float *out)
{
    __shared__ __align__(1024) float x[64];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        mbarrier_init(&bar, 1);
        fence_async();
        mbarrier_arrive_expect(&bar, BOX);
        tma_load(x, &map, &bar, 0, 0);
    }
    out[threadIdx.x] = 1.0f;
}

/* Two boxes, one after the other, to one place, and nobody says that the first has been read. */
__global__ void filled_too_early(const __grid_constant__ tensor_map map, float *out)
{
    __shared__ __align__(1024) float x[64];
    __shared__ uint64_t bar;
    float sum = 0.0f;
    if (threadIdx.x == 0) {
        mbarrier_init(&bar, 1);
        fence_async();
    }
    __syncthreads();
    for (unsigned n = 0; n < 2; n++) {
        if (threadIdx.x == 0) {
            mbarrier_arrive_expect(&bar, BOX);
            tma_load(x, &map, &bar, 0, 0);
        }
        mbarrier_wait(&bar, n);
        sum += x[threadIdx.x];
    }
    out[threadIdx.x] = sum;
}

// ---- products -----------------------------------------------------------------------------------

/* A warpgroup makes 16 kB zeros: the units are told, and all threads are done. */
__device__ static void clear(uint4 *fast)
{
    for (unsigned k = threadIdx.x; k < BYTES_16K / 16; k += GROUP)
        fast[k] = make_uint4(0, 0, 0, 0);
    fence_async();
    __syncthreads();
}

/* Here and below by way of `at`: if clang knows an array as a function's own, it reports neither reading nor writing it. */
__global__ void product_not_waited_for(float *out)
{
    extern __shared__ __align__(1024) uint4 fast[];
    clear(fast);
    float d[32];
    const uint64_t x = wgmma_matrix(fast, 0, 1024);
    wgmma_fence();
    wgmma<__half, K_MAJOR>(d, x, x, false);
    wgmma_commit();
    const float *volatile at = d;
    out[threadIdx.x / 2] = at[3];
    wgmma_wait<0>(d);
}

__global__ void waits_for_too_few_products(float *out)
{
    extern __shared__ __align__(1024) uint4 fast[];
    clear(fast);
    float d[32];
    const uint64_t x = wgmma_matrix(fast, 0, 1024);
    wgmma_fence();
    wgmma<__half, K_MAJOR>(d, x, x, false);
    wgmma_commit();
    wgmma_wait<1>(d);
    out[threadIdx.x / 2] = d[3];
}

__global__ void writes_what_a_product_writes(float *out)
{
    extern __shared__ __align__(1024) uint4 fast[];
    clear(fast);
    float d[32];
    const uint64_t x = wgmma_matrix(fast, 0, 1024);
    wgmma_fence();
    wgmma<__half, K_MAJOR>(d, x, x, true);
    wgmma_commit();
    float *volatile at = d;
    at[5] = 0.0f;
    wgmma_wait<0>(d);
    out[threadIdx.x / 2] = d[5];
}

__global__ void changes_what_a_product_reads(float *out)
{
    extern __shared__ __align__(1024) uint4 fast[];
    clear(fast);
    float d[32];
    unsigned a[4] = { 1, 2, 3, 4 };
    wgmma_fence();
    wgmma<__half, K_MAJOR>(d, a, wgmma_matrix(fast, 0, 1024), false);
    wgmma_commit();
    unsigned *volatile at = a;
    at[2] = 7;
    wgmma_wait<0>(d);
    out[threadIdx.x / 2] = d[5] + (float)a[2];
}

__global__ void product_not_fenced(float *out)
{
    extern __shared__ __align__(1024) uint4 fast[];
    clear(fast);
    float d[32];
    const uint64_t x = wgmma_matrix(fast, 0, 1024);
    for (int n = 0; n < 2; n++) {
        if (n == 0)
            wgmma_fence();
        wgmma<__half, K_MAJOR>(d, x, x, n > 0);
        wgmma_commit();
        wgmma_wait<0>(d);
        d[0] += 1.0f;
    }
    out[threadIdx.x / 2] = d[0];
}

__global__ void half_a_warpgroup(float *out)
{
    extern __shared__ __align__(1024) uint4 fast[];
    float d[32];
    const uint64_t x = wgmma_matrix(fast, 0, 1024);
    if (threadIdx.x < 64) {
        wgmma_fence();
        wgmma<__half, K_MAJOR>(d, x, x, false);
        wgmma_commit();
        wgmma_wait<0>(d);
    }
    out[threadIdx.x / 2] = 1.0f;
}

__global__ void two_calls_in_a_warpgroup(float *out)
{
    if (threadIdx.x < 64)
        wgmma_fence();
    else
        wgmma_commit();
    out[threadIdx.x / 2] = 1.0f;
}

__global__ void block_of_a_warp_too_few(float *out)
{
    wgmma_fence();
    out[threadIdx.x / 2] = 1.0f;
}

__global__ void different_matrices(float *out)
{
    extern __shared__ __align__(1024) uint4 fast[];
    float d[32];
    const uint64_t x = wgmma_matrix(fast + 64 * (threadIdx.x / 64), 0, 1024);
    wgmma_fence();
    wgmma<__half, K_MAJOR>(d, x, x, false);
    wgmma_commit();
    wgmma_wait<0>(d);
    out[threadIdx.x / 2] = d[0];
}

__global__ void overlapping_products(float *out)
{
    extern __shared__ __align__(1024) uint4 fast[];
    float d[64];
    const uint64_t x = wgmma_matrix(fast, 0, 1024);
    wgmma_fence();
    wgmma<__half, K_MAJOR>(d, x, x, false);
    wgmma<__half, K_MAJOR>(*(float(*)[32])(d + 32), x, x, false);
    wgmma_commit();
    wgmma_wait<0>(d);
    out[threadIdx.x / 2] = d[0];
}

__global__ void leaves_with_a_product(float *out)
{
    extern __shared__ __align__(1024) uint4 fast[];
    float d[32];
    const uint64_t x = wgmma_matrix(fast, 0, 1024);
    wgmma_fence();
    wgmma<__half, K_MAJOR>(d, x, x, false);
    wgmma_commit();
    out[threadIdx.x / 2] = 1.0f;
}

__global__ void product_not_committed(float *out)
{
    extern __shared__ __align__(1024) uint4 fast[];
    float d[32];
    const uint64_t x = wgmma_matrix(fast, 0, 1024);
    wgmma_fence();
    wgmma<__half, K_MAJOR>(d, x, x, false);
    wgmma_wait<0>(d);
    out[threadIdx.x / 2] = d[0];
}

__global__ void matrix_out_of_step(float *out)
{
    extern __shared__ __align__(1024) uint4 fast[];
    float d[32];
    const uint64_t x = wgmma_matrix(fast + 1, 0, 1024);
    wgmma_fence();
    wgmma<__half, K_MAJOR>(d, x, x, false);
    wgmma_commit();
    wgmma_wait<0>(d);
    out[threadIdx.x / 2] = d[0];
}

__global__ void matrix_in_global_memory(const float *in, float *out)
{
    out[threadIdx.x / 2] = (float)wgmma_matrix(in, 0, 1024);
}

__global__ void matrix_past_the_end(float *out)
{
    extern __shared__ __align__(1024) uint4 fast[];
    float d[32];
    const uint64_t x = wgmma_matrix(fast, 0, 4096);
    wgmma_fence();
    wgmma<__half, K_MAJOR>(d, x, x, false);
    wgmma_commit();
    wgmma_wait<0>(d);
    out[threadIdx.x / 2] = d[0];
}

__global__ void units_not_told(float *out)
{
    extern __shared__ __align__(1024) uint4 fast[];
    for (unsigned k = threadIdx.x; k < BYTES_16K / 16; k += GROUP)
        fast[k] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    float d[32];
    const uint64_t x = wgmma_matrix(fast, 0, 1024);
    wgmma_fence();
    wgmma<__half, K_MAJOR>(d, x, x, false);
    wgmma_commit();
    wgmma_wait<0>(d);
    out[threadIdx.x / 2] = d[0];
}

__global__ void product_without_barrier(float *out)
{
    extern __shared__ __align__(1024) uint4 fast[];
    for (unsigned k = threadIdx.x; k < BYTES_16K / 16; k += GROUP)
        fast[k] = make_uint4(0, 0, 0, 0);
    fence_async();
    float d[32];
    const uint64_t x = wgmma_matrix(fast, 0, 1024);
    wgmma_fence();
    wgmma<__half, K_MAJOR>(d, x, x, false);
    wgmma_commit();
    wgmma_wait<0>(d);
    if (threadIdx.x < 64)
        out[threadIdx.x] = d[0];
}

/* The place is let go before the product that reads it has run: what comes next overtakes it. */
__global__ void let_go_too_early(const __grid_constant__ tensor_map map, float *out)
{
    extern __shared__ __align__(1024) uint4 fast[];
    __shared__ uint64_t full, empty;
    for (unsigned k = threadIdx.x; k < BYTES_16K / 16; k += blockDim.x)
        fast[k] = make_uint4(0, 0, 0, 0);
    if (threadIdx.x == GROUP) {
        mbarrier_init(&full, 1);
        mbarrier_init(&empty, GROUP);
    }
    fence_async();
    __syncthreads();
    if (threadIdx.x >= GROUP) {
        if (threadIdx.x == GROUP) {
            mbarrier_wait(&empty, 0);
            mbarrier_arrive_expect(&full, BOX);
            tma_load(fast, &map, &full, 0, 0);
            mbarrier_wait(&full, 0);
        }
        return;
    }
    float d[32];
    const uint64_t x = wgmma_matrix(fast, 0, 1024);
    wgmma_fence();
    wgmma<__half, K_MAJOR>(d, x, x, false);
    wgmma_commit();
    mbarrier_arrive(&empty);
    wgmma_wait<0>(d);
    if (threadIdx.x < 64)
        out[threadIdx.x] = d[0];
}

// ---- sums, barriers, registers ------------------------------------------------------------------

__global__ void bulk_not_waited_for(float *out)
{
    __shared__ float4 x[64];
    x[threadIdx.x] = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
    fence_async();
    if (threadIdx.x < 16)
        bulk_add(out + 4 * threadIdx.x, &x[threadIdx.x].x, 16);
    bulk_commit();
}

__global__ void bulk_not_fenced(float *out)
{
    __shared__ float4 x[64];
    x[threadIdx.x] = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
    if (threadIdx.x < 16)
        bulk_add(out + 4 * threadIdx.x, &x[threadIdx.x].x, 16);
    bulk_commit();
    bulk_wait<0>();
}

__global__ void bulk_out_of_step(float *out)
{
    __shared__ float4 x[64];
    x[threadIdx.x] = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
    fence_async();
    bulk_add(out + 1, &x[0].x, 16);
    bulk_commit();
    bulk_wait<0>();
}

__global__ void bulk_past_the_end(float *out)
{
    __shared__ float4 x[64];
    x[threadIdx.x] = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
    fence_async();
    bulk_add(out + 4 * threadIdx.x, &x[threadIdx.x].x, 16);
    bulk_commit();
    bulk_wait<0>();
}

__global__ void named_barrier_of_two_sizes(float *out)
{
    barrier_sync(1, threadIdx.x < 32 ? 64 : 32);
    out[threadIdx.x] = 1.0f;
}

__global__ void named_barrier_missed(float *out)
{
    if (threadIdx.x < 32)
        barrier_sync(1, 64);
    out[threadIdx.x] = 1.0f;
}

__global__ void named_barrier_zero(float *out)
{
    barrier_sync(0, 64);
    out[threadIdx.x] = 1.0f;
}

/* Who only arrives does not know what the others have written. */
__global__ void arrives_and_reads(float *out)
{
    __shared__ float x[64];
    x[threadIdx.x] = 1.0f;
    if (threadIdx.x < 32) {
        barrier_sync(1, 64);
        out[threadIdx.x] = x[threadIdx.x + 32];
    } else {
        barrier_arrive(1, 64);
        out[threadIdx.x] = x[threadIdx.x - 32];
    }
}

__global__ void more_registers_than_there_are(float *out)
{
    registers_more<240>();
    out[threadIdx.x / 8] = 1.0f;
}

__global__ void fewer_registers_that_are_more(float *out)
{
    registers_fewer<240>();
    out[threadIdx.x / 8] = 1.0f;
}

// ---- maps, on the host --------------------------------------------------------------------------

static void map_with(const float *in, uint64_t rows, uint64_t stride, uint32_t x, uint32_t y)
{
    const uint64_t size[2] = { 32, rows };
    const uint32_t box[2] = { x, y };
    tensor_map map;
    CHECK_CUDA(tensor_map_make(&map, in, 2, size, &stride, box));
}

static constexpr bug bugs[] = {
    { "phase_not_waited_for",
      [](arrays a) { phase_not_waited_for<<<1, THREADS>>>(map_of(a.in), a.out); } },
    { "wrong_parity", [](arrays a) { wrong_parity<<<1, THREADS>>>(map_of(a.in), a.out); } },
    { "more_bytes_expected",
      [](arrays a) { more_bytes_expected<<<1, THREADS>>>(map_of(a.in), a.out); } },
    { "bytes_not_expected",
      [](arrays a) { bytes_not_expected<<<1, THREADS>>>(map_of(a.in), a.out); } },
    { "arrival_forgotten", [](arrays a) { arrival_forgotten<<<1, THREADS>>>(a.out); } },
    { "one_arrival_too_many",
      [](arrays a) { one_arrival_too_many<<<1, THREADS>>>(map_of(a.in), a.out); } },
    { "gone_round_twice", [](arrays a) { gone_round_twice<<<1, THREADS>>>(a.out); } },
    { "no_barrier_after_init", [](arrays a) { no_barrier_after_init<<<1, THREADS>>>(a.out); } },
    { "init_by_chance_first", [](arrays a) { init_by_chance_first<<<1, THREADS>>>(a.out); } },
    { "init_not_fenced", [](arrays a) { init_not_fenced<<<1, THREADS>>>(map_of(a.in), a.out); } },
    { "mbarrier_overwritten", [](arrays a) { mbarrier_overwritten<<<1, THREADS>>>(a.out); } },
    { "initialised_twice", [](arrays a) { initialised_twice<<<1, THREADS>>>(a.out); } },
    { "mbarrier_in_a_register", [](arrays a) { mbarrier_in_a_register<<<1, THREADS>>>(a.out); } },
    { "no_arrivals", [](arrays a) { no_arrivals<<<1, THREADS>>>(a.out); } },
    { "parity_of_two", [](arrays a) { parity_of_two<<<1, THREADS>>>(a.out); } },
    { "box_out_of_step", [](arrays a) { box_out_of_step<<<1, THREADS>>>(map_of(a.in), a.out); } },
    { "box_past_the_end", [](arrays a) { box_past_the_end<<<1, THREADS>>>(map_of(a.in), a.out); } },
    { "box_of_three_dimensions",
      [](arrays a) { box_of_three_dimensions<<<1, THREADS>>>(map_of(a.in), a.out); } },
    { "ends_with_a_box", [](arrays a) { ends_with_a_box<<<1, THREADS>>>(map_of(a.in), a.out); } },
    { "filled_too_early", [](arrays a) { filled_too_early<<<1, THREADS>>>(map_of(a.in), a.out); } },
    { "product_not_waited_for",
      [](arrays a) { product_not_waited_for<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "waits_for_too_few_products",
      [](arrays a) { waits_for_too_few_products<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "writes_what_a_product_writes",
      [](arrays a) { writes_what_a_product_writes<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "changes_what_a_product_reads",
      [](arrays a) { changes_what_a_product_reads<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "product_not_fenced", [](arrays a) { product_not_fenced<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "half_a_warpgroup", [](arrays a) { half_a_warpgroup<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "two_calls_in_a_warpgroup", [](arrays a) { two_calls_in_a_warpgroup<<<1, GROUP>>>(a.out); } },
    { "block_of_a_warp_too_few", [](arrays a) { block_of_a_warp_too_few<<<1, 96>>>(a.out); } },
    { "different_matrices", [](arrays a) { different_matrices<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "overlapping_products",
      [](arrays a) { overlapping_products<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "leaves_with_a_product",
      [](arrays a) { leaves_with_a_product<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "product_not_committed",
      [](arrays a) { product_not_committed<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "matrix_out_of_step", [](arrays a) { matrix_out_of_step<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "matrix_in_global_memory",
      [](arrays a) { matrix_in_global_memory<<<1, GROUP, BYTES_16K>>>(a.in, a.out); } },
    { "matrix_past_the_end",
      [](arrays a) { matrix_past_the_end<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "units_not_told", [](arrays a) { units_not_told<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "product_without_barrier",
      [](arrays a) { product_without_barrier<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "let_go_too_early",
      [](arrays a) { let_go_too_early<<<1, 2 * GROUP, BYTES_16K>>>(map_of(a.in), a.out); } },
    { "bulk_not_waited_for", [](arrays a) { bulk_not_waited_for<<<1, THREADS>>>(a.out); } },
    { "bulk_not_fenced", [](arrays a) { bulk_not_fenced<<<1, THREADS>>>(a.out); } },
    { "bulk_out_of_step", [](arrays a) { bulk_out_of_step<<<1, THREADS>>>(a.out); } },
    { "bulk_past_the_end", [](arrays a) { bulk_past_the_end<<<1, THREADS>>>(a.out); } },
    { "named_barrier_of_two_sizes",
      [](arrays a) { named_barrier_of_two_sizes<<<1, THREADS>>>(a.out); } },
    { "named_barrier_missed", [](arrays a) { named_barrier_missed<<<1, THREADS>>>(a.out); } },
    { "named_barrier_zero", [](arrays a) { named_barrier_zero<<<1, THREADS>>>(a.out); } },
    { "arrives_and_reads", [](arrays a) { arrives_and_reads<<<1, THREADS>>>(a.out); } },
    { "more_registers_than_there_are",
      [](arrays a) { more_registers_than_there_are<<<1, 384>>>(a.out); } },
    { "fewer_registers_that_are_more",
      [](arrays a) { fewer_registers_that_are_more<<<1, 384>>>(a.out); } },
    { "map_of_half_a_row", [](arrays a) { map_with(a.in, 2, 128, 16, 2); } },
    { "map_of_a_large_box", [](arrays a) { map_with(a.in, 2, 128, 32, 257); } },
    { "map_with_an_odd_stride", [](arrays a) { map_with(a.in, 2, 120, 32, 2); } },
    { "map_from_an_odd_place", [](arrays a) { map_with(a.in + 1, 2, 128, 32, 2); } },
    { "map_of_nothing", [](arrays a) { map_with(a.in, 0, 128, 32, 2); } },
};

extern "C" bool LAUNCHER(hopper_bug)(const char *name)
{
    return run_bug(bugs, sizeof bugs / sizeof *bugs, name);
}
