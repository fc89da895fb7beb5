#include "common/cuda/tests/kernels/hopper_bugs.cuh"

__device__ static void clear(uint4 *fast)
{
    for (unsigned k = threadIdx.x; k < BYTES_16K / 16; k += GROUP)
        fast[k] = make_uint4(0, 0, 0, 0);
    fence_async();
    __syncthreads();
}

/* Via `at`, here and below: clang does not instrument an array that never escapes. */
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

__global__ void waits_in_two_arms(float *out)
{
    extern __shared__ __align__(1024) uint4 fast[];
    clear(fast);
    float d[32];
    const uint64_t x = wgmma_matrix(fast, 0, 1024);
    wgmma_fence();
    wgmma<__half, K_MAJOR>(d, x, x, false);
    wgmma_commit();
    if (threadIdx.x < 32) {
        wgmma_wait<0>(d);
        d[0] += 1.0f;
    } else
        wgmma_wait<0>(d);
    out[threadIdx.x / 2] = d[0];
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

__global__ void matrix_moved_out_of_step(float *out)
{
    extern __shared__ __align__(1024) uint4 fast[];
    out[threadIdx.x / 2] = (float)wgmma_further(wgmma_matrix(fast, 0, 1024), 128);
}

__global__ void matrix_moved_past_the_end(float *out)
{
    extern __shared__ __align__(1024) uint4 fast[];
    out[threadIdx.x / 2] = (float)wgmma_further(wgmma_matrix(fast, 0, 1024), BYTES_16K);
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

static constexpr bug bugs[] = {
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
    { "waits_in_two_arms", [](arrays a) { waits_in_two_arms<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "block_of_a_warp_too_few", [](arrays a) { block_of_a_warp_too_few<<<1, 96>>>(a.out); } },
    { "different_matrices", [](arrays a) { different_matrices<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "overlapping_products",
      [](arrays a) { overlapping_products<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "leaves_with_a_product",
      [](arrays a) { leaves_with_a_product<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "product_not_committed",
      [](arrays a) { product_not_committed<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "matrix_out_of_step", [](arrays a) { matrix_out_of_step<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "matrix_moved_out_of_step",
      [](arrays a) { matrix_moved_out_of_step<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "matrix_moved_past_the_end",
      [](arrays a) { matrix_moved_past_the_end<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "matrix_in_global_memory",
      [](arrays a) { matrix_in_global_memory<<<1, GROUP, BYTES_16K>>>(a.in, a.out); } },
    { "matrix_past_the_end",
      [](arrays a) { matrix_past_the_end<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "units_not_told", [](arrays a) { units_not_told<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "product_without_barrier",
      [](arrays a) { product_without_barrier<<<1, GROUP, BYTES_16K>>>(a.out); } },
    { "let_go_too_early",
      [](arrays a) { let_go_too_early<<<1, 2 * GROUP, BYTES_16K>>>(map_of(a.in), a.out); } },
};

extern "C" bool LAUNCHER(wgmma_bug)(const char *name)
{
    return run_bug(bugs, sizeof bugs / sizeof *bugs, name);
}
