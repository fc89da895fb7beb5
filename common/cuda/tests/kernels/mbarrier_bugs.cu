#include "common/cuda/tests/kernels/hopper_bugs.cuh"

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

// ---- named barriers -----------------------------------------------------------------------------

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

/* barrier_arrive does not acquire the others' writes. */
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

static constexpr bug bugs[] = {
    { "phase_not_waited_for",
      [](arrays a) { phase_not_waited_for<<<1, THREADS>>>(map_of(a.in), a.out); } },
    { "wrong_parity", [](arrays a) { wrong_parity<<<1, THREADS>>>(map_of(a.in), a.out); } },
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
    { "named_barrier_of_two_sizes",
      [](arrays a) { named_barrier_of_two_sizes<<<1, THREADS>>>(a.out); } },
    { "named_barrier_missed", [](arrays a) { named_barrier_missed<<<1, THREADS>>>(a.out); } },
    { "named_barrier_zero", [](arrays a) { named_barrier_zero<<<1, THREADS>>>(a.out); } },
    { "arrives_and_reads", [](arrays a) { arrives_and_reads<<<1, THREADS>>>(a.out); } },
};

extern "C" bool LAUNCHER(mbarrier_bug)(const char *name)
{
    return run_bug(bugs, sizeof bugs / sizeof *bugs, name);
}
