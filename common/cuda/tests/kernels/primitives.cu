#include "common/cuda/tests/primitives.h"

#include "common/cuda/device.h"

static const unsigned WHOLE_WARP = 0xffffffff;

__device__ static unsigned shuffled(enum primitive which, unsigned x, int by, int width)
{
    switch (which) {
    case SHFL:
        return __shfl_sync(WHOLE_WARP, x, by, width);
    case SHFL_UP:
        return __shfl_up_sync(WHOLE_WARP, x, unsigned(by), width);
    case SHFL_DOWN:
        return __shfl_down_sync(WHOLE_WARP, x, unsigned(by), width);
    default:
        return __shfl_xor_sync(WHOLE_WARP, x, by, width);
    }
}

__device__ static unsigned reduced(enum primitive which, unsigned x, unsigned mask)
{
    switch (which) {
    case VOTE_ALL:
        return unsigned(__all_sync(mask, int(x)));
    case VOTE_ANY:
        return unsigned(__any_sync(mask, int(x)));
    case BALLOT:
        return __ballot_sync(mask, int(x));
    case MATCH_ANY:
        return __match_any_sync(mask, x);
    case REDUCE_ADD:
        return __reduce_add_sync(mask, x);
    case REDUCE_MIN:
        return __reduce_min_sync(mask, x);
    case REDUCE_MAX:
        return __reduce_max_sync(mask, x);
    case REDUCE_MIN_SIGNED:
        return unsigned(__reduce_min_sync(mask, int(x)));
    case REDUCE_MAX_SIGNED:
        return unsigned(__reduce_max_sync(mask, int(x)));
    case REDUCE_AND:
        return __reduce_and_sync(mask, x);
    case REDUCE_OR:
        return __reduce_or_sync(mask, x);
    case REDUCE_XOR:
        return __reduce_xor_sync(mask, x);
    case BARRIER_COUNT:
        return unsigned(__syncthreads_count(int(x)));
    case BARRIER_AND:
        return unsigned(__syncthreads_and(int(x)));
    default:
        return unsigned(__syncthreads_or(int(x)));
    }
}

__global__ void of_a_block(enum primitive which, const unsigned *in, unsigned *out, int by,
                           int width, unsigned mask)
{
    const unsigned x = in[threadIdx.x];
    if (which <= SHFL_XOR)
        out[threadIdx.x] = shuffled(which, x, by, width);
    else if (which >= BARRIER_COUNT || (mask >> threadIdx.x % 32 & 1))
        out[threadIdx.x] = reduced(which, x, mask);
}

extern "C" void LAUNCHER(primitive)(enum primitive which, const unsigned *in, unsigned *out,
                                    unsigned n, int by, int width, unsigned mask)
{
    unsigned *from, *to;
    CHECK_CUDA(cudaMalloc(&from, n * sizeof *in));
    CHECK_CUDA(cudaMalloc(&to, n * sizeof *in));
    CHECK_CUDA(cudaMemcpy(from, in, n * sizeof *in, cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemcpy(to, out, n * sizeof *in, cudaMemcpyHostToDevice));
    of_a_block<<<1, n>>>(which, from, to, by, width, mask);
    CHECK_LAUNCH("of_a_block");
    CHECK_CUDA(cudaMemcpy(out, to, n * sizeof *in, cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaFree(from));
    CHECK_CUDA(cudaFree(to));
}

// ---- where a thread is --------------------------------------------------------------------------

__global__ void coordinates(uint3 *out)
{
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    uint3 *mine = out + 2 * (block * blockDim.x * blockDim.y * blockDim.z + thread);
    mine[0] = threadIdx;
    mine[1] = blockIdx;
}

/* A grid of 2 x 3 x 4 blocks of 5 x 6 x 7 threads; six numbers each. */
extern "C" void LAUNCHER(coordinates)(unsigned *out)
{
    const size_t bytes = COORDINATES * sizeof *out;
    uint3 *places;
    CHECK_CUDA(cudaMalloc(&places, bytes));
    coordinates<<<dim3(2, 3, 4), dim3(5, 6, 7)>>>(places);
    CHECK_LAUNCH("coordinates");
    CHECK_CUDA(cudaMemcpy(out, places, bytes, cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaFree(places));
}

// ---- atomics ------------------------------------------------------------------------------------

struct atomic_results {
    int sum, least, most, all, any, parity, taken, swapped;
    unsigned down;
    unsigned long long wide;
    float real;
    double fine;
};

__global__ void atomics(atomic_results *r)
{
    const int k = int(blockIdx.x * blockDim.x + threadIdx.x);
    atomicAdd(&r->sum, k);
    atomicMin(&r->least, -k);
    atomicMax(&r->most, k);
    atomicAnd(&r->all, ~(1 << k % 7));
    atomicOr(&r->any, 1 << k % 7);
    atomicXor(&r->parity, k);
    atomicSub(&r->down, 2u);
    atomicAdd(&r->wide, 1ull << 33);
    atomicAdd(&r->real, 0.5f);
    atomicAdd(&r->fine, 0.25);
    if (atomicExch(&r->taken, 1) == 0)
        atomicAdd(&r->taken, 10);
    int old = r->swapped, found;  // any operation by compare-and-swap
    while ((found = atomicCAS(&r->swapped, old, (old * 3 + 1) & 0xffff)) != old)
        old = found;
}

extern "C" void LAUNCHER(atomics)(double out[12])
{
    atomic_results r = {}, *there;
    r.all = -1;
    CHECK_CUDA(cudaMalloc(&there, sizeof r));
    CHECK_CUDA(cudaMemcpy(there, &r, sizeof r, cudaMemcpyHostToDevice));
    atomics<<<8, 128>>>(there);
    CHECK_LAUNCH("atomics");
    CHECK_CUDA(cudaMemcpy(&r, there, sizeof r, cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaFree(there));
    const double results[12] = { double(r.sum),   double(r.least),   double(r.most),
                                 double(r.all),   double(r.any),     double(r.parity),
                                 double(r.taken), double(r.swapped), double(r.down),
                                 double(r.wide),  double(r.real),    r.fine };
    for (int k = 0; k < 12; k++)
        out[k] = results[k];
}

// ---- arithmetic ---------------------------------------------------------------------------------

__global__ void arithmetic(float x, float y, float *out)
{
    const float results[FUNCTIONS] = {
        __expf(x),
        exp2f(x),
        __logf(x),
        __log2f(x),
        rsqrtf(x),
        fmaf(x, y, 1.0f),
        fmaxf(x, y),
        fminf(x, y),
        __uint_as_float(__float_as_uint(y)),
        max(x, y),
        float(min(3, int(x))),
    };
    for (int k = 0; k < FUNCTIONS; k++)
        out[k] = results[k];
}

extern "C" void LAUNCHER(arithmetic)(float x, float y, float out[FUNCTIONS])
{
    float *there;
    CHECK_CUDA(cudaMalloc(&there, FUNCTIONS * sizeof *there));
    CHECK_CUDA(cudaMemset(there, 0, FUNCTIONS * sizeof *there));
    arithmetic<<<1, 1>>>(x, y, there);
    CHECK_LAUNCH("arithmetic");
    CHECK_CUDA(cudaMemcpy(out, there, FUNCTIONS * sizeof *there, cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaFree(there));
}
