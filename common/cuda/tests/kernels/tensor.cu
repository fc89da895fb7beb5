/* Each function of tensor.h on its own. */
#include "common/cuda/tests/kernels/arrays.cuh"
#include "common/cuda/tests/tensors.h"

#include "common/cuda/device.h"

// ---- mma ----------------------------------------------------------------------------------------

template <class T, bool K8>
__global__ void products(const unsigned *a, const unsigned *b, float *d, unsigned count)
{
    const unsigned lane = threadIdx.x;
    for (unsigned n = 0; n < count; n++, a += 128, b += 64, d += 128) {
        unsigned A[4], B[2];
        float D[4];
        for (unsigned r = 0; r < 4; r++)
            A[r] = a[4 * lane + r];
        for (unsigned r = 0; r < 2; r++)
            B[r] = b[2 * lane + r];
        for (unsigned e = 0; e < 4; e++)
            D[e] = d[4 * lane + e];
        if (K8)
            mma_k8(D, A, B[0]);
        else
            mma<T>(D, A, B);
        for (unsigned e = 0; e < 4; e++)
            d[4 * lane + e] = D[e];
    }
}

extern "C" void LAUNCHER(products)(enum factors factors, const unsigned *a, const unsigned *b,
                                   float *d, unsigned count)
{
    unsigned *A = there(a, 128 * count), *B = there(b, 64 * count);
    float *D = there(d, 128 * count);
    if (factors == BFLOATS)
        products<__nv_bfloat16, false><<<1, 32>>>(A, B, D, count);
    else if (factors == HALVES)
        products<__half, false><<<1, 32>>>(A, B, D, count);
    else
        products<__half, true><<<1, 32>>>(A, B, D, count);
    CHECK_LAUNCH("products");
    back(d, D, 128 * count);
    CHECK_CUDA(cudaFree(A));
    CHECK_CUDA(cudaFree(B));
}

// ---- ldmatrix -----------------------------------------------------------------------------------

/* Lane l has row order[l] of 64 rows of 8; writes its registers one after the other. */
template <int N, bool TRANS>
__global__ void matrices(const unsigned short *x, const unsigned *order, unsigned *out)
{
    __shared__ __align__(16) unsigned short rows[64][8];
    const unsigned lane = threadIdx.x;
    for (unsigned k = lane; k < 64 * 8; k += 32)
        rows[k / 8][k % 8] = x[k];
    __syncthreads();
    unsigned r[N];
    if (TRANS)
        ldmatrix_trans(r, rows[order[lane]]);
    else
        ldmatrix(r, rows[order[lane]]);
    for (int n = 0; n < N; n++)
        out[lane * N + unsigned(n)] = r[n];
}

extern "C" void LAUNCHER(matrices)(int count, int trans, const unsigned short x[512],
                                   const unsigned order[32], unsigned *out)
{
    unsigned short *X = there(x, 512);
    unsigned *O = there(order, 32), *R = there(out, 32 * size_t(count));
    if (count == 1 && !trans)
        matrices<1, false><<<1, 32>>>(X, O, R);
    else if (count == 1)
        matrices<1, true><<<1, 32>>>(X, O, R);
    else if (count == 2 && !trans)
        matrices<2, false><<<1, 32>>>(X, O, R);
    else if (count == 2)
        matrices<2, true><<<1, 32>>>(X, O, R);
    else if (!trans)
        matrices<4, false><<<1, 32>>>(X, O, R);
    else
        matrices<4, true><<<1, 32>>>(X, O, R);
    CHECK_LAUNCH("matrices");
    back(out, R, 32 * size_t(count));
    CHECK_CUDA(cudaFree(X));
    CHECK_CUDA(cudaFree(O));
}

// ---- copies -------------------------------------------------------------------------------------

/* Each thread copies `given` of BYTES bytes. */
template <int BYTES> __global__ void async_copies(const char *in, char *out, int given)
{
    __shared__ __align__(16) char x[64 * BYTES];
    char *const mine = x + threadIdx.x * BYTES;
    for (int k = 0; k < BYTES; k++)
        mine[k] = 77;
    cp_async<BYTES>(mine, in + threadIdx.x * BYTES, given);
    cp_async_commit();
    cp_async_wait<0>();
    for (int k = 0; k < BYTES; k++)
        out[threadIdx.x * BYTES + unsigned(k)] = mine[k];
}

extern "C" void LAUNCHER(async_copies)(int bytes, const char *in, char *out, int given)
{
    const size_t n = 64 * size_t(bytes);
    char *from = there(in, n), *to = there(out, n);
    if (bytes == 4)
        async_copies<4><<<1, 64>>>(from, to, given);
    else if (bytes == 8)
        async_copies<8><<<1, 64>>>(from, to, given);
    else
        async_copies<16><<<1, 64>>>(from, to, given);
    CHECK_LAUNCH("async_copies");
    back(out, to, n);
    CHECK_CUDA(cudaFree(from));
}

/* Five groups of one copy each, the fourth empty; waits for all but N. */
template <int N> __global__ void groups(const float4 *in, float *out)
{
    __shared__ float4 x[5];
    for (int k = 0; k < 5; k++)
        x[k] = make_float4(-1.0f, -1.0f, -1.0f, -1.0f);
    for (int k = 0; k < 5; k++) {
        if (k != 3)
            cp_async<16>(&x[k], &in[k]);
        cp_async_commit();
    }
    cp_async_wait<N>();
    for (int k = 0; k < 5; k++)
        out[k] = x[k].y;
    cp_async_wait<0>();
    for (int k = 0; k < 5; k++)
        out[5 + k] = x[k].y;
}

extern "C" void LAUNCHER(groups)(int pending, const float in[20], float out[10])
{
    float4 *from = there(reinterpret_cast<const float4 *>(in), 5);
    float *to = there(out, 10);
    if (pending == 0)
        groups<0><<<1, 1>>>(from, to);
    else if (pending == 1)
        groups<1><<<1, 1>>>(from, to);
    else if (pending == 2)
        groups<2><<<1, 1>>>(from, to);
    else
        groups<9><<<1, 1>>>(from, to);
    CHECK_LAUNCH("groups");
    back(out, to, 10);
    CHECK_CUDA(cudaFree(from));
}

// ---- conversions --------------------------------------------------------------------------------

__global__ void conversions(const float *x, float *powers, float *inverses, unsigned *halves,
                            unsigned *bfloats)
{
    const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
    powers[k] = ex2(x[k]);
    inverses[k] = reciprocal(x[k]);
    halves[k] = pack<__half>(x[k], -2.0f);
    bfloats[k] = pack<__nv_bfloat16>(x[k], -2.0f);
}

extern "C" void LAUNCHER(conversions)(const float *x, unsigned count, float *powers,
                                      float *inverses, unsigned *halves, unsigned *bfloats)
{
    float *X = there(x, count), *P = there(powers, count), *I = there(inverses, count);
    unsigned *H = there(halves, count), *B = there(bfloats, count);
    conversions<<<count / 32, 32>>>(X, P, I, H, B);
    CHECK_LAUNCH("conversions");
    back(powers, P, count);
    back(inverses, I, count);
    back(halves, H, count);
    back(bfloats, B, count);
    CHECK_CUDA(cudaFree(X));
}

#ifdef __CUDACC__
extern "C" int LAUNCHER(capability)(void)
{
    int count = 0, major = 0, minor = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0)
        return 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    CHECK_CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
    return 10 * major + minor;
}
#endif
