#include "common/cuda/tests/kernels/bugs.cuh"
#include "common/cuda/turns.h"

static const unsigned WHOLE_WARP = 0xffffffff;

__global__ void barrier_in_two_branches(float *out)
{
    if (threadIdx.x < 32) {
        __syncthreads();
        out[threadIdx.x] = 1.0f;
    } else {
        __syncthreads();
        out[threadIdx.x] = 2.0f;
    }
}

__global__ void barrier_in_one_branch(float *out)
{
    if (threadIdx.x < 32)
        __syncthreads();
    out[threadIdx.x] = 1.0f;
}

__global__ void leaves_before_a_barrier(float *out, unsigned n)
{
    if (threadIdx.x >= n)
        return;
    out[threadIdx.x] = 1.0f;
    __syncthreads();
}

__global__ void loop_of_different_lengths(float *out)
{
    for (unsigned k = 0; k <= threadIdx.x / 32; k++)
        __syncthreads();
    out[threadIdx.x] = 1.0f;
}

__global__ void shuffle_after_leaving(float *out)
{
    if (threadIdx.x == 5)
        return;
    out[threadIdx.x] = __shfl_xor_sync(WHOLE_WARP, 1.0f, 1);
}

__global__ void shuffle_in_a_branch(float *out)
{
    float x = 1.0f;
    if (threadIdx.x % 2 == 1)
        x = __shfl_xor_sync(WHOLE_WARP, x, 1);
    out[threadIdx.x] = x;
}

__global__ void mask_without_the_caller(float *out)
{
    out[threadIdx.x] = __shfl_xor_sync(0x0000ffff, 1.0f, 1);
}

__global__ void reads_a_lane_outside_the_mask(float *out)
{
    if (threadIdx.x < 16)
        out[threadIdx.x] = __shfl_down_sync(0x0000ffff, 1.0f, 8);
}

__global__ void two_masks(float *out)
{
    const unsigned mask = threadIdx.x % 32 < 16 ? WHOLE_WARP : 0xfffffff0;
    if (threadIdx.x % 32 >= 4 || mask == WHOLE_WARP)
        __syncwarp(mask);
    out[threadIdx.x] = 1.0f;
}

__global__ void two_calls(float *out)
{
    if (threadIdx.x % 32 == 0)
        __syncwarp();
    else
        out[threadIdx.x] = float(__any_sync(WHOLE_WARP, 1));
}

__global__ void width_of_six(float *out)
{
    out[threadIdx.x] = __shfl_down_sync(WHOLE_WARP, 1.0f, 1, 6);
}

__global__ void barrier_and_shuffle(float *out)
{
    if (threadIdx.x == 40)
        __syncthreads();
    out[threadIdx.x] = __shfl_xor_sync(WHOLE_WARP, 1.0f, 1);
}

__global__ void shuffle_of_whole_warps(float *out)
{
    out[threadIdx.x] = __shfl_xor_sync(WHOLE_WARP, 1.0f, 1);
}

__global__ void turn_that_nobody_gives(unsigned *turn)
{
    if (threadIdx.x == 0)
        turn_wait(turn, 1);
}

__global__ void turn_that_is_over(unsigned *turn)
{
    if (threadIdx.x == 0) {
        turn_next(turn);
        turn_wait(turn, 0);
    }
}

static constexpr bug bugs[] = {
    { "barrier_in_two_branches", [](arrays a) { barrier_in_two_branches<<<1, THREADS>>>(a.out); } },
    { "barrier_in_one_branch", [](arrays a) { barrier_in_one_branch<<<1, THREADS>>>(a.out); } },
    { "leaves_before_a_barrier",
      [](arrays a) { leaves_before_a_barrier<<<1, THREADS>>>(a.out, 40); } },
    { "loop_of_different_lengths",
      [](arrays a) { loop_of_different_lengths<<<1, THREADS>>>(a.out); } },
    { "shuffle_after_leaving", [](arrays a) { shuffle_after_leaving<<<1, THREADS>>>(a.out); } },
    { "shuffle_in_a_branch", [](arrays a) { shuffle_in_a_branch<<<1, THREADS>>>(a.out); } },
    { "mask_without_the_caller", [](arrays a) { mask_without_the_caller<<<1, THREADS>>>(a.out); } },
    { "reads_a_lane_outside_the_mask",
      [](arrays a) { reads_a_lane_outside_the_mask<<<1, THREADS>>>(a.out); } },
    { "two_masks", [](arrays a) { two_masks<<<1, THREADS>>>(a.out); } },
    { "two_calls", [](arrays a) { two_calls<<<1, THREADS>>>(a.out); } },
    { "width_of_six", [](arrays a) { width_of_six<<<1, THREADS>>>(a.out); } },
    { "lanes_that_are_not_there", [](arrays a) { shuffle_of_whole_warps<<<1, 40>>>(a.out); } },
    { "barrier_and_shuffle", [](arrays a) { barrier_and_shuffle<<<1, THREADS>>>(a.out); } },
    { "turn_that_nobody_gives",
      [](arrays a) { turn_that_nobody_gives<<<1, THREADS>>>((unsigned *)a.in); } },
    { "turn_that_is_over", [](arrays a) { turn_that_is_over<<<1, THREADS>>>((unsigned *)a.in); } },
    { "barrier_on_the_host", [](arrays) { __syncthreads(); } },
};

extern "C" bool LAUNCHER(barrier_bug)(const char *name)
{
    return run_bug(bugs, sizeof bugs / sizeof *bugs, name);
}
