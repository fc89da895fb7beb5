/* Mistakes with boxes, bulk sums and tensor maps. */
#include "common/cuda/tests/kernels/hopper_bugs.cuh"

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

/* 4 bytes past a row's beginning: an illegal instruction on an H200. */
__global__ void box_between_pieces(const __grid_constant__ tensor_map map, float *out)
{
    __shared__ __align__(1024) float x[64];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        mbarrier_init(&bar, 1);
        fence_async();
        mbarrier_arrive_expect(&bar, BOX);
        tma_load(x, &map, &bar, 1, 0);
        mbarrier_wait(&bar, 0);
    }
    out[threadIdx.x] = 1.0f;
}

/* On a GPU x begins after two mbarriers, at byte 16. */
__global__ void box_behind_variables(const __grid_constant__ tensor_map map, float *out)
{
    extern __shared__ float x[];
    __shared__ uint64_t bars[2];
    if (threadIdx.x == 0) {
        mbarrier_init(&bars[0], 1);
        fence_async();
        mbarrier_arrive_expect(&bars[0], BOX);
        tma_load(x, &map, &bars[0], 0, 0);
        mbarrier_wait(&bars[0], 0);
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

// ---- sums in bulk -------------------------------------------------------------------------------

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

// ---- boxes that are stored ----------------------------------------------------------------------

__global__ void store_not_fenced(const __grid_constant__ tensor_map map)
{
    __shared__ __align__(1024) float x[96];
    x[threadIdx.x] = 1.0f;
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_store(&map, x, 0, 0, 0);
        bulk_commit();
        bulk_wait_read<0>();
    }
}

__global__ void store_without_a_barrier(const __grid_constant__ tensor_map map)
{
    __shared__ __align__(1024) float x[96];
    x[threadIdx.x] = 1.0f;
    fence_async();
    if (threadIdx.x == 0) {
        tma_store(&map, x, 0, 0, 0);
        bulk_commit();
        bulk_wait_read<0>();
    }
}

__global__ void store_overwritten(const __grid_constant__ tensor_map map)
{
    __shared__ __align__(1024) float x[96];
    x[threadIdx.x] = 1.0f;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_store(&map, x, 0, 0, 0);
        bulk_commit();
        x[5] = 2.0f;
        bulk_wait_read<0>();
    }
}

__global__ void store_not_waited_for(const __grid_constant__ tensor_map map)
{
    __shared__ __align__(1024) float x[96];
    x[threadIdx.x] = 1.0f;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_store(&map, x, 0, 0, 0);
        bulk_commit();
    }
}

__global__ void store_out_of_step(const __grid_constant__ tensor_map map)
{
    __shared__ __align__(1024) float x[96];
    x[threadIdx.x] = 1.0f;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_store(&map, x + 32, 0, 0, 0);
        bulk_commit();
        bulk_wait_read<0>();
    }
}

__global__ void store_to_two_dimensions(const __grid_constant__ tensor_map map)
{
    __shared__ __align__(1024) float x[96];
    x[threadIdx.x] = 1.0f;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_store(&map, x, 0, 0, 0);
        bulk_commit();
        bulk_wait_read<0>();
    }
}

static tensor_map map_of_out(float *out)
{
    const uint64_t size[3] = { 32, 2, 1 }, stride[2] = { 128, 256 };
    const uint32_t box[3] = { 32, 2, 1 };
    tensor_map map;
    CHECK_CUDA(tensor_map_make(&map, out, 3, size, stride, box));
    return map;
}

// ---- boxes that are added -----------------------------------------------------------------------

__global__ void add_not_fenced(const __grid_constant__ tensor_map map)
{
    __shared__ __align__(1024) float x[96];
    x[threadIdx.x] = 1.0f;
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_add(&map, x, 0, 0, 0);
        bulk_commit();
        bulk_wait_read<0>();
    }
}

__global__ void add_overwritten(const __grid_constant__ tensor_map map)
{
    __shared__ __align__(1024) float x[96];
    x[threadIdx.x] = 1.0f;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_add(&map, x, 0, 0, 0);
        bulk_commit();
        x[5] = 2.0f;
        bulk_wait_read<0>();
    }
}

__global__ void add_not_waited_for(const __grid_constant__ tensor_map map)
{
    __shared__ __align__(1024) float x[96];
    x[threadIdx.x] = 1.0f;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_add(&map, x, 0, 0, 0);
        bulk_commit();
    }
}

__global__ void add_to_halves(const __grid_constant__ tensor_map map)
{
    __shared__ __align__(1024) float x[96];
    x[threadIdx.x] = 1.0f;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_add(&map, x, 0, 0, 0);
        bulk_commit();
        bulk_wait_read<0>();
    }
}

static tensor_map map_of_halves(float *out)
{
    const uint64_t size[3] = { 64, 2, 1 }, stride[2] = { 128, 256 };
    const uint32_t box[3] = { 64, 2, 1 };
    tensor_map map;
    CHECK_CUDA(tensor_map_make(&map, (const __half *)out, 3, size, stride, box));
    return map;
}

// ---- matrices -----------------------------------------------------------------------------------

__global__ void matrices_out_of_step(void)
{
    __shared__ __align__(16) unsigned rows[1024];
    const unsigned r[4] = { 0, 0, 0, 0 };
    stmatrix(&rows[4 * (threadIdx.x % 32) + 1], r);
}

__global__ void matrices_in_global_memory(float *out)
{
    const unsigned r[1] = { 0 };
    stmatrix(out + threadIdx.x % 8 * 4, r);
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
    { "more_bytes_expected",
      [](arrays a) { more_bytes_expected<<<1, THREADS>>>(map_of(a.in), a.out); } },
    { "bytes_not_expected",
      [](arrays a) { bytes_not_expected<<<1, THREADS>>>(map_of(a.in), a.out); } },
    { "box_out_of_step", [](arrays a) { box_out_of_step<<<1, THREADS>>>(map_of(a.in), a.out); } },
    { "box_between_pieces",
      [](arrays a) { box_between_pieces<<<1, THREADS>>>(map_of(a.in), a.out); } },
    { "box_behind_variables",
      [](arrays a) { box_behind_variables<<<1, THREADS, BOX>>>(map_of(a.in), a.out); } },
    { "box_past_the_end", [](arrays a) { box_past_the_end<<<1, THREADS>>>(map_of(a.in), a.out); } },
    { "box_of_three_dimensions",
      [](arrays a) { box_of_three_dimensions<<<1, THREADS>>>(map_of(a.in), a.out); } },
    { "ends_with_a_box", [](arrays a) { ends_with_a_box<<<1, THREADS>>>(map_of(a.in), a.out); } },
    { "filled_too_early", [](arrays a) { filled_too_early<<<1, THREADS>>>(map_of(a.in), a.out); } },
    { "bulk_not_waited_for", [](arrays a) { bulk_not_waited_for<<<1, THREADS>>>(a.out); } },
    { "bulk_not_fenced", [](arrays a) { bulk_not_fenced<<<1, THREADS>>>(a.out); } },
    { "bulk_out_of_step", [](arrays a) { bulk_out_of_step<<<1, THREADS>>>(a.out); } },
    { "bulk_past_the_end", [](arrays a) { bulk_past_the_end<<<1, THREADS>>>(a.out); } },
    { "store_not_fenced", [](arrays a) { store_not_fenced<<<1, THREADS>>>(map_of_out(a.out)); } },
    { "store_without_a_barrier",
      [](arrays a) { store_without_a_barrier<<<1, THREADS>>>(map_of_out(a.out)); } },
    { "store_overwritten", [](arrays a) { store_overwritten<<<1, THREADS>>>(map_of_out(a.out)); } },
    { "store_not_waited_for",
      [](arrays a) { store_not_waited_for<<<1, THREADS>>>(map_of_out(a.out)); } },
    { "store_out_of_step", [](arrays a) { store_out_of_step<<<1, THREADS>>>(map_of_out(a.out)); } },
    { "store_to_two_dimensions",
      [](arrays a) { store_to_two_dimensions<<<1, THREADS>>>(map_of(a.in)); } },
    { "add_not_fenced", [](arrays a) { add_not_fenced<<<1, THREADS>>>(map_of_out(a.out)); } },
    { "add_overwritten", [](arrays a) { add_overwritten<<<1, THREADS>>>(map_of_out(a.out)); } },
    { "add_not_waited_for",
      [](arrays a) { add_not_waited_for<<<1, THREADS>>>(map_of_out(a.out)); } },
    { "add_to_halves", [](arrays a) { add_to_halves<<<1, THREADS>>>(map_of_halves(a.out)); } },
    { "matrices_out_of_step", [](arrays) { matrices_out_of_step<<<1, THREADS>>>(); } },
    { "matrices_in_global_memory",
      [](arrays a) { matrices_in_global_memory<<<1, THREADS>>>(a.out); } },
    { "map_of_half_a_row", [](arrays a) { map_with(a.in, 2, 128, 16, 2); } },
    { "map_of_a_large_box", [](arrays a) { map_with(a.in, 2, 128, 32, 257); } },
    { "map_with_an_odd_stride", [](arrays a) { map_with(a.in, 2, 120, 32, 2); } },
    { "map_from_an_odd_place", [](arrays a) { map_with(a.in + 1, 2, 128, 32, 2); } },
    { "map_of_nothing", [](arrays a) { map_with(a.in, 0, 128, 32, 2); } },
};

extern "C" bool LAUNCHER(tma_bug)(const char *name)
{
    return run_bug(bugs, sizeof bugs / sizeof *bugs, name);
}
