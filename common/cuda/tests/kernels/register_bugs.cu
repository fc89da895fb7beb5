#include "common/cuda/tests/kernels/hopper_bugs.cuh"

__global__ void more_registers_than_there_are(float *out)
{
    setmaxnreg_inc<240>();
    out[threadIdx.x / 8] = 1.0f;
}

/* 128 x 32 + 256 x 240 = 65536 are the multiprocessor's, but the launch gave 384 x 168. */
__global__ void more_registers_than_were_given(float *out)
{
    if (threadIdx.x < 128)
        setmaxnreg_dec<32>();
    else
        setmaxnreg_inc<240>();
    out[threadIdx.x / 8] = 1.0f;
}

__global__ void fewer_registers_that_are_more(float *out)
{
    setmaxnreg_dec<240>();
    out[threadIdx.x / 8] = 1.0f;
}

static constexpr bug bugs[] = {
    { "more_registers_than_there_are",
      [](arrays a) { more_registers_than_there_are<<<1, 384>>>(a.out); } },
    { "more_registers_than_were_given",
      [](arrays a) { more_registers_than_were_given<<<1, 384>>>(a.out); } },
    { "fewer_registers_that_are_more",
      [](arrays a) { fewer_registers_that_are_more<<<1, 384>>>(a.out); } },
};

extern "C" bool LAUNCHER(register_bug)(const char *name)
{
    return run_bug(bugs, sizeof bugs / sizeof *bugs, name);
}
