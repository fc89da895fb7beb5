/* Each function of hopper.h except products (wgmma.cu). */
#include "common/cuda/tests/hoppers.h"
#include "common/cuda/tests/kernels/arrays.cuh"

#include "common/cuda/device.h"
#include "common/cuda/hopper.h"

// ---- TMA ----------------------------------------------------------------------------------------

struct start {
    int at[4];
};

template <int RANK>
__global__ void one_box(const __grid_constant__ tensor_map map, struct start from, unsigned bytes,
                        unsigned char *out)
{
    extern __shared__ __align__(1024) unsigned char fast[];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        mbarrier_init(&bar, 1);
        fence_async();
        mbarrier_arrive_expect(&bar, bytes);
        if (RANK == 2)
            tma_load(fast, &map, &bar, from.at[0], from.at[1]);
        else if (RANK == 3)
            tma_load(fast, &map, &bar, from.at[0], from.at[1], from.at[2]);
        else
            tma_load(fast, &map, &bar, from.at[0], from.at[1], from.at[2], from.at[3]);
    }
    __syncthreads();
    mbarrier_wait(&bar, 0);
    for (unsigned k = threadIdx.x; k < bytes; k += blockDim.x)
        out[k] = fast[k];
}

template <class T>
static void run_box(const struct box_test *t, const void *array, unsigned char *shared)
{
    size_t n = 1, bytes = sizeof(T);
    uint64_t stride[3];
    for (unsigned k = 0; k < t->rank; k++) {
        n *= t->size[k];
        bytes *= t->box[k];
        if (k < 3)
            stride[k] = n * sizeof(T);
    }
    T *A = there((const T *)array, n);
    unsigned char *S = there(shared, bytes);
    tensor_map map;
    CHECK_CUDA(tensor_map_make(&map, A, t->rank, t->size, stride, t->box));
    const struct start from = { { t->from[0], t->from[1], t->from[2], t->from[3] } };
    const unsigned size = (unsigned)bytes;
    if (t->rank == 2)
        one_box<2><<<1, 64, size>>>(map, from, size, S);
    else if (t->rank == 3)
        one_box<3><<<1, 64, size>>>(map, from, size, S);
    else
        one_box<4><<<1, 64, size>>>(map, from, size, S);
    CHECK_LAUNCH("one_box");
    back(shared, S, bytes);
    CHECK_CUDA(cudaFree(A));
}

extern "C" void LAUNCHER(box)(const struct box_test *t, const void *array, unsigned char *shared)
{
    if (t->floats)
        run_box<float>(t, array, shared);
    else
        run_box<__half>(t, array, shared);
}

/* Each block stores, or adds floats of, the box `in`. */
__global__ void one_stored_box(const __grid_constant__ tensor_map map, struct start to,
                               unsigned bytes, int floats, const unsigned char *in)
{
    extern __shared__ __align__(1024) unsigned char fast[];
    for (unsigned k = threadIdx.x; k < bytes; k += blockDim.x)
        fast[k] = in[k];
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        if (floats)
            tma_add(&map, (const float *)fast, to.at[0], to.at[1], to.at[2]);
        else
            tma_store(&map, fast, to.at[0], to.at[1], to.at[2]);
        bulk_commit();
        bulk_wait<0>();
    }
}

template <class T>
static void run_stored_box(const struct box_test *t, const unsigned char *shared, T *array)
{
    const size_t n = t->size[0] * t->size[1] * t->size[2];
    const uint64_t stride[2] = { sizeof(T) * t->size[0], sizeof(T) * t->size[0] * t->size[1] };
    const unsigned bytes = (unsigned)sizeof(T) * t->box[0] * t->box[1] * t->box[2];
    T *A = there(array, n);
    unsigned char *S = there(shared, bytes);
    const struct start to = { { t->from[0], t->from[1], t->from[2], 0 } };
    tensor_map map;
    CHECK_CUDA(tensor_map_make(&map, A, 3, t->size, stride, t->box));
    one_stored_box<<<t->floats ? 2 : 1, 64, bytes>>>(map, to, bytes, t->floats, S);
    CHECK_LAUNCH("one_stored_box");
    back(array, A, n);
    CHECK_CUDA(cudaFree(S));
}

extern "C" void LAUNCHER(stored_box)(const struct box_test *t, const unsigned char *shared,
                                     void *array)
{
    if (t->floats)
        run_stored_box(t, shared, (float *)array);
    else
        run_stored_box(t, shared, (__half *)array);
}

// ---- stmatrix -----------------------------------------------------------------------------------

/* Lane l has row order[l] of 64 rows of 8; register n holds halves 8 l + 2 n + 1 and the next. */
template <int N> __global__ void stored_matrices(const unsigned *order, unsigned short *out)
{
    __shared__ __align__(16) unsigned short rows[64][8];
    const unsigned lane = threadIdx.x;
    for (unsigned k = lane; k < 64 * 8; k += 32)
        rows[k / 8][k % 8] = 0;
    __syncthreads();
    unsigned r[N];
    for (unsigned n = 0; n < N; n++)
        r[n] = (8 * lane + 2 * n + 1) | (8 * lane + 2 * n + 2) << 16;
    stmatrix(rows[order[lane]], r);
    __syncthreads();
    for (unsigned k = lane; k < 64 * 8; k += 32)
        out[k] = rows[k / 8][k % 8];
}

extern "C" void LAUNCHER(stored_matrices)(int count, const unsigned order[32],
                                          unsigned short out[512])
{
    unsigned *O = there(order, 32);
    unsigned short *R = there(out, 512);
    if (count == 1)
        stored_matrices<1><<<1, 32>>>(O, R);
    else if (count == 2)
        stored_matrices<2><<<1, 32>>>(O, R);
    else
        stored_matrices<4><<<1, 32>>>(O, R);
    CHECK_LAUNCH("stored_matrices");
    back(out, R, 512);
    CHECK_CUDA(cudaFree(O));
}

// ---- mbarriers ----------------------------------------------------------------------------------

enum { STAGES = 3, ROWS = 8, BOX = ROWS * 128, CONSUMERS = 128 };

/*
 * Warp 4 fills three stages with boxes of 8 x 32 floats; four warps sum columns and release the
 * stages.
 */
__global__ void __launch_bounds__(160)
    ring(const __grid_constant__ tensor_map map, unsigned rounds, float *out)
{
    extern __shared__ __align__(1024) float floats[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    if (threadIdx.x == CONSUMERS) {
        for (int s = 0; s < STAGES; s++) {
            mbarrier_init(&full[s], 1);
            mbarrier_init(&empty[s], CONSUMERS);
        }
        fence_async();
    }
    __syncthreads();
    if (threadIdx.x >= CONSUMERS) {
        if (elect_one())
            for (unsigned n = 0; n < rounds; n++) {
                const unsigned s = n % STAGES;
                mbarrier_wait(&empty[s], n / STAGES % 2 ^ 1);  // at once in the first round
                mbarrier_arrive_expect(&full[s], BOX);
                tma_load(floats + s * BOX / 4, &map, &full[s], 0, (int)(ROWS * n));
            }
        return;
    }
    float sum = 0.0f;
    for (unsigned n = 0; n < rounds; n++) {
        const unsigned s = n % STAGES, column = threadIdx.x % 32;
        mbarrier_wait(&full[s], n / STAGES % 2);
        for (unsigned row = 0; row < ROWS; row++)
            sum += floats[s * BOX / 4 + row * 32 + ((column / 4 ^ row) * 4 + column % 4)];
        mbarrier_arrive(&empty[s]);
    }
    out[threadIdx.x] = sum;
}

extern "C" void LAUNCHER(ring)(unsigned rounds, const float *in, float *out)
{
    const size_t n = (size_t)rounds * ROWS * 32;
    const uint64_t size[2] = { 32, rounds * ROWS }, stride[1] = { 128 };
    const uint32_t box[2] = { 32, ROWS };
    float *I = there(in, n), *O = there(out, CONSUMERS);
    tensor_map map;
    CHECK_CUDA(tensor_map_make(&map, I, 2, size, stride, box));
    ring<<<1, CONSUMERS + 32, STAGES * BOX>>>(map, rounds, O);
    CHECK_LAUNCH("ring");
    back(out, O, CONSUMERS);
    CHECK_CUDA(cudaFree(I));
}

// ---- before and after the wait ------------------------------------------------------------------

#ifndef __CUDACC__  // on a GPU early values are undefined

/* The identity times 64 equal rows; both are also read too early. */
__global__ void __launch_bounds__(128) too_early(const __grid_constant__ tensor_map map, float *out)
{
    extern __shared__ __align__(1024) float floats[];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        mbarrier_init(&bar, 1);
        fence_async();
        mbarrier_arrive_expect(&bar, BOX);
        tma_load(floats, &map, &bar, 0, 0);
        out[0] = floats[0];
        mbarrier_wait(&bar, 0);
        out[1] = floats[0];
    }
    for (unsigned k = BOX / 4 + threadIdx.x; k < 4096; k += 128)
        floats[k] = __uint_as_float(0x3c003c00);  // two halves of 1
    fence_async();
    __syncthreads();
    float d[32];
    for (int e = 0; e < 32; e++)
        d[e] = 0.0f;
    wgmma_fence();
    wgmma<__half, K_MAJOR>(d, wgmma_matrix(floats + 2048, 0, 0), wgmma_matrix(floats + 2048, 0, 0),
                           true);
    wgmma_commit();
    if (threadIdx.x == 0)
        out[2] = d[0];
    wgmma_wait<0>(d);
    if (threadIdx.x == 0)
        out[3] = d[0];
}

extern "C" void LAUNCHER(too_early)(const float in[256], float out[4])
{
    const uint64_t size[2] = { 32, 8 }, stride[1] = { 128 };
    const uint32_t box[2] = { 32, 8 };
    float *I = there(in, 256), *O = there(out, 4);
    tensor_map map;
    CHECK_CUDA(tensor_map_make(&map, I, 2, size, stride, box));
    too_early<<<1, 128, 16384>>>(map, O);
    CHECK_LAUNCH("too_early");
    back(out, O, 4);
    CHECK_CUDA(cudaFree(I));
}
#endif

// ---- sums in bulk -------------------------------------------------------------------------------

/* Each of 64 threads adds 4 floats twice, reusing its shared memory. */
__global__ void bulk(float *out)
{
    __shared__ float4 x[64];
    for (int n = 1; n <= 2; n++) {
        const float v = (float)n;
        x[threadIdx.x] = make_float4(v, 2.0f * v, 3.0f * v, 4.0f * v);
        fence_async();
        bulk_add(out + 4 * threadIdx.x, &x[threadIdx.x].x, 16);
        bulk_commit();
        bulk_wait_read<0>();
    }
    bulk_wait<0>();
}

extern "C" void LAUNCHER(bulk)(float out[256])
{
    float *O = there(out, 256);
    bulk<<<16, 64>>>(O);
    CHECK_LAUNCH("bulk");
    back(out, O, 256);
}

// ---- named barriers, registers, elections -------------------------------------------------------

/* Warpgroups 0 and 1 take four turns each, at barriers 1 and 2. */
__global__ void __launch_bounds__(384, 1) turns(unsigned *order, unsigned *elected)
{
    __shared__ unsigned n;
    const unsigned group = threadIdx.x / 128;
    if (threadIdx.x == 0)
        n = 0;
    __syncthreads();
    if (group == 2) {
        setmaxnreg_dec<24>();
        if (elect_one())
            atomicAdd(elected, 1u);
        return;
    }
    setmaxnreg_inc<240>();
    if (group == 1)
        barrier_arrive(1, 256);
    for (int round = 0; round < 4; round++) {
        barrier_sync(1 + group, 256);
        if (threadIdx.x % 128 == 0)
            order[n++] = group;
        if (group == 0 || round < 3)
            barrier_arrive(2 - group, 256);
    }
}

extern "C" void LAUNCHER(turns)(unsigned order[8], unsigned *elected)
{
    unsigned *O = there(order, 8), *E = there(elected, 1);
    turns<<<1, 384>>>(O, E);
    CHECK_LAUNCH("turns");
    back(order, O, 8);
    back(elected, E, 1);
}
