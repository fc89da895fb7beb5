#include "common/cuda/tests/kernels/bugs.cuh"

__global__ void fill(float *out)
{
    out[threadIdx.x] = 1.0f;
}

template <int MOST> __global__ void __launch_bounds__((MOST), 2) bounded(float *out)
{
    out[threadIdx.x] = 1.0f;
}

static constexpr bug bugs[] = {
    { "block_too_large", [](arrays a) { fill<<<1, 2048>>>(a.out); } },
    { "empty_grid", [](arrays a) { fill<<<0, THREADS>>>(a.out); } },
    { "grid_too_high", [](arrays a) { fill<<<dim3(1, 70000), THREADS>>>(a.out); } },
    { "larger_than_its_bounds", [](arrays a) { bounded<32><<<1, THREADS>>>(a.out); } },
    { "too_much_shared", [](arrays a) { fill<<<1, THREADS, 100000>>>(a.out); } },
    { "launch_not_checked",
      [](arrays a) {
          fill<<<1, 2048>>>(a.out);
          CHECK_CUDA(cudaFree(a.in));
          CHECK_CUDA(cudaFree(a.out));
          exit(0);
      } },
    { "leak", [](arrays) { exit(0); } },
    { "copy_the_wrong_way",
      [](arrays a) {
          float host[THREADS];
          CHECK_CUDA(cudaMemcpy(host, a.out, sizeof host, cudaMemcpyHostToDevice));
      } },
    { "copy_too_long",
      [](arrays a) {
          float host[THREADS + 1] = {};
          CHECK_CUDA(cudaMemcpy(a.out, host, sizeof host, cudaMemcpyHostToDevice));
      } },
    { "set_too_much",
      [](arrays a) { CHECK_CUDA(cudaMemset(a.out, 0, THREADS * sizeof(float) + 1)); } },
    { "freed_twice",
      [](arrays a) {
          CHECK_CUDA(cudaFree(a.out));
          CHECK_CUDA(cudaFree(a.out));
      } },
    { "more_shared_than_there_is",
      [](arrays) {
          CHECK_CUDA(
              cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000));
      } },
};

extern "C" bool LAUNCHER(launch_bug)(const char *name)
{
    return run_bug(bugs, sizeof bugs / sizeof *bugs, name);
}
