#include "common/cuda/tests/kernels/bugs.cuh"

__global__ void global_past_the_end(const float *in, float *out, unsigned by)
{
    out[threadIdx.x + by] = in[threadIdx.x];
}

__global__ void global_read_past_the_end(const float *in, float *out)
{
    out[threadIdx.x] = in[threadIdx.x + 1];
}

__global__ void global_before_the_beginning(const float *in, float *out)
{
    out[threadIdx.x] = *(in + threadIdx.x - 1);
}

__global__ void global_written_before_the_beginning(float *out)
{
    float *before = out - 1;
    before[threadIdx.x] = 1.0f;
}

__global__ void dynamic_shared_past_the_end(float *out)
{
    extern __shared__ float tile[];
    tile[threadIdx.x + 1] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x + 1];
}

__global__ void shared_past_the_end(float *out)
{
    __shared__ float sums[THREADS], row[THREADS];
    float *next = sums + 1;
    row[threadIdx.x] = 0.0f;
    next[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = row[threadIdx.x] + sums[threadIdx.x > 0 ? threadIdx.x : 1];
}

__global__ void shared_far_past_the_end(float *out)
{
    extern __shared__ float tile[];
    tile[threadIdx.x + 1000] = 1.0f;
    out[threadIdx.x] = 1.0f;
}

__global__ void misaligned_vector(float *out)
{
    *(float4 *)(out + 1) = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

__device__ __attribute__((noinline)) float deep(int depth)
{
    volatile float frame[64];
    frame[depth % 64] = float(depth);
    return depth > 0 ? deep(depth - 1) + frame[depth % 64] : frame[0];
}

__global__ void recursion_without_end(float *out)
{
    out[threadIdx.x] = deep(1000000);
}

__global__ void shared_never_written(float *out)
{
    __shared__ float sums[THREADS];
    if (threadIdx.x < THREADS - 1)
        sums[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = sums[threadIdx.x];
}

struct two_pointers {
    const float *in;
    float *out;
};

__global__ void copy_by_struct(two_pointers p)
{
    p.out[threadIdx.x] = p.in[threadIdx.x];
}

__global__ void neighbours_local_variable(float *out)
{
    __shared__ const float *place;
    const float mine = float(threadIdx.x);
    if (threadIdx.x == 0)
        place = &mine;
    __syncthreads();
    out[threadIdx.x] = *place;
    __syncthreads();
}

static volatile int calls;

__global__ void writes_a_host_variable(float *out)
{
    calls = 1;
    out[threadIdx.x] = 1.0f;
}

__global__ void allocates(float **out)
{
    CHECK_CUDA(cudaMalloc(out, 4));
}

__global__ void too_many_variables(float *out)
{
    __shared__ float large[12 * 1024], more[THREADS];
    large[threadIdx.x] = more[threadIdx.x] = 1.0f;
    out[threadIdx.x] = large[threadIdx.x] + more[threadIdx.x];
}

/* Called several times, so that the compiler may outline the atomic. */
template <int N> __device__ void set_bits(unsigned *bits)
{
#pragma GCC unroll 1
    for (unsigned bit = 0; bit < N; bit++)
        atomicOr(&bits[bit / 32], 1u << bit % 32);
}

__global__ void atomics_before_a_beginning(float *out)
{
    __shared__ unsigned bits[2];
    set_bits<64>(bits);
    set_bits<40>(bits);
    set_bits<32>(bits);
    set_bits<16>(bits);
    set_bits<8>(bits);
    out[threadIdx.x] = float(bits[0]);
}

__global__ void waits_for_a_flag(float *out)
{
    __shared__ int flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x == 1)
        atomicExch(&flag, 1);
    while (threadIdx.x == 0 && atomicAdd(&flag, 0) == 0)
        ;
    out[threadIdx.x] = 1.0f;
}

/* The compiler could keep a non-volatile value in a register. */
__global__ void waits_without_looking(float *out)
{
    volatile float *const first = out;
    if (threadIdx.x > 0)
        first[0] = 1.0f;
    while (threadIdx.x == 0 && first[0] != 1.0f)
        ;
}

static constexpr bug bugs[] = {
    { "waits_for_a_flag", [](arrays a) { waits_for_a_flag<<<1, THREADS>>>(a.out); } },
    { "waits_without_looking", [](arrays a) { waits_without_looking<<<1, THREADS>>>(a.out); } },
    { "atomics_before_a_beginning",
      [](arrays a) { atomics_before_a_beginning<<<1, THREADS>>>(a.out); } },
    { "global_just_past_the_end",
      [](arrays a) {
          float *ten;
          CHECK_CUDA(cudaMalloc(&ten, 10 * sizeof *ten));
          cuda_name(ten, "ten");
          global_past_the_end<<<1, 10>>>(a.in, ten, 1);
      } },
    { "global_past_the_end",
      [](arrays a) { global_past_the_end<<<1, THREADS>>>(a.in, a.out, 1); } },
    { "global_far_past_the_end",
      [](arrays a) { global_past_the_end<<<1, THREADS>>>(a.in, a.out, 200); } },
    { "global_read_past_the_end",
      [](arrays a) { global_read_past_the_end<<<1, THREADS>>>(a.in, a.out); } },
    { "global_before_the_beginning",
      [](arrays a) { global_before_the_beginning<<<1, THREADS>>>(a.in, a.out); } },
    { "global_written_before_the_beginning",
      [](arrays a) { global_written_before_the_beginning<<<1, THREADS>>>(a.out); } },
    { "dynamic_shared_past_the_end",
      [](arrays a) {
          dynamic_shared_past_the_end<<<1, THREADS, THREADS * sizeof(float)>>>(a.out);
      } },
    { "shared_past_the_end", [](arrays a) { shared_past_the_end<<<1, THREADS>>>(a.out); } },
    { "shared_far_past_the_end",
      [](arrays a) { shared_far_past_the_end<<<1, THREADS, THREADS * sizeof(float)>>>(a.out); } },
    { "misaligned_vector", [](arrays a) { misaligned_vector<<<1, 1>>>(a.out); } },
    { "recursion_without_end", [](arrays a) { recursion_without_end<<<1, THREADS>>>(a.out); } },
    { "shared_never_written", [](arrays a) { shared_never_written<<<1, THREADS>>>(a.out); } },
    { "host_pointer",
      [](arrays a) {
          float here = 0.0f;
          global_read_past_the_end<<<1, 1>>>(&here, a.out);
      } },
    { "host_pointer_in_a_struct",
      [](arrays a) {
          float *here = new float[THREADS]();
          copy_by_struct<<<1, THREADS>>>({ here, a.out });
          delete[] here;
      } },
    { "null_pointer",
      [](arrays a) {
          copy_by_struct<<<1, THREADS>>>({ nullptr, a.out });
      } },
    { "freed_memory",
      [](arrays a) {
          float *gone;
          CHECK_CUDA(cudaMalloc(&gone, THREADS * sizeof *gone));
          CHECK_CUDA(cudaFree(gone));
          copy_by_struct<<<1, THREADS>>>({ gone, a.out });
      } },
    { "host_reads_device", [](arrays a) { printf("%g\n", double(a.in[3])); } },
    { "neighbours_local_variable",
      [](arrays a) { neighbours_local_variable<<<1, THREADS>>>(a.out); } },
    { "writes_a_host_variable", [](arrays a) { writes_a_host_variable<<<1, 1>>>(a.out); } },
    { "allocates_in_a_kernel", [](arrays a) { allocates<<<1, 1>>>((float **)a.out); } },
    { "too_many_variables", [](arrays a) { too_many_variables<<<1, THREADS>>>(a.out); } },
};

extern "C" bool LAUNCHER(memory_bug)(const char *name)
{
    return run_bug(bugs, sizeof bugs / sizeof *bugs, name);
}
