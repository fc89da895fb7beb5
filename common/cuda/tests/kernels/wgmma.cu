/* A warpgroup's product of any type, size and layout. */
#include "common/cuda/tests/hoppers.h"
#include "common/cuda/tests/kernels/arrays.cuh"

#include "common/cuda/device.h"
#include "common/cuda/hopper.h"

#include <type_traits>

#define MORE_SHARED(kernel, bytes) \
    CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes))

template <class T, int R, wgmma_major A, wgmma_major B>
__device__ static inline void one_product(float (&d)[R], const struct product_test &t,
                                          unsigned char *fast, const unsigned *registers)
{
    const uint64_t b = wgmma_further(wgmma_matrix(fast, t.b_leading, t.b_stride), t.b_begin);
    unsigned a[4];
    for (int r = 0; r < 4; r++)
        a[r] = registers[4 * threadIdx.x + (unsigned)r];
    if (t.a_in_registers) {
        wgmma_fence();
        wgmma<T, B>(d, a, b, t.add);
        wgmma_commit();
        wgmma_wait<0>(d);
    } else {
        const uint64_t from = wgmma_matrix(fast + t.a_begin, t.a_leading, t.a_stride);
        wgmma_fence();
        wgmma<T, B, A>(d, from, b, t.add);
        wgmma_commit();
        wgmma_wait<0>(d);
    }
}

template <class T, int R>
__global__ void __launch_bounds__(128)
    one_wgmma(struct product_test t, const uint4 *image, const unsigned *registers, float *out)
{
    extern __shared__ __align__(1024) unsigned char fast[];
    for (unsigned k = threadIdx.x; k < IMAGE / 16; k += 128)
        ((uint4 *)fast)[k] = image[k];
    fence_async();
    __syncthreads();
    float d[R];
    for (int e = 0; e < R; e++)
        d[e] = out[threadIdx.x * R + (unsigned)e];
    if (t.a_columns && t.b_columns)
        one_product<T, R, MN_MAJOR, MN_MAJOR>(d, t, fast, registers);
    else if (t.a_columns)
        one_product<T, R, MN_MAJOR, K_MAJOR>(d, t, fast, registers);
    else if (t.b_columns)
        one_product<T, R, K_MAJOR, MN_MAJOR>(d, t, fast, registers);
    else
        one_product<T, R, K_MAJOR, K_MAJOR>(d, t, fast, registers);
    for (int e = 0; e < R; e++)
        out[threadIdx.x * R + (unsigned)e] = d[e];
}

template <class T, int R>
static void run_wgmma(const struct product_test *t, const uint4 *image, const unsigned *registers,
                      float *out)
{
    MORE_SHARED((one_wgmma<T, R>), IMAGE);
    one_wgmma<T, R><<<1, 128, IMAGE>>>(*t, image, registers, out);
    CHECK_LAUNCH("one_wgmma");
}

template <int... N>
static void run_sizes(const struct product_test *t, const uint4 *image, const unsigned *registers,
                      float *out)
{
    const auto one = [=](auto n) {
        if (t->n == n && t->bfloat)
            run_wgmma<__nv_bfloat16, n / 2>(t, image, registers, out);
        else if (t->n == n)
            run_wgmma<__half, n / 2>(t, image, registers, out);
    };
    (one(std::integral_constant<int, N>{}), ...);
}

extern "C" void LAUNCHER(wgmma)(const struct product_test *t, const unsigned char *image,
                                const unsigned *a_registers, float *d)
{
    const size_t count = 64 * (size_t)t->n;
    unsigned char *bytes = there(image, IMAGE);
    const uint4 *I = reinterpret_cast<const uint4 *>(bytes);
    unsigned *A = there(a_registers, 512);
    float *D = there(d, count);
    run_sizes<64, 80, 96, 128, 176, 192, 256>(t, I, A, D);
    back(d, D, count);
    CHECK_CUDA(cudaFree(A));
    CHECK_CUDA(cudaFree(bytes));
}
