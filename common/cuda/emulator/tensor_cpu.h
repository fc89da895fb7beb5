/*
 * tensor.h for a CPU. Products of 16-bit numbers are exact in double, where we sum and round once;
 * GPUs' last digits differ, even between generations.
 */
#ifndef COMMON_CUDA_TENSOR_CPU_H
#define COMMON_CUDA_TENSOR_CPU_H

#include "common/cuda/emulator/diagnostics/timeline.h"
#include "common/cuda/half.h"
#include "common/cuda/language.h"

#include <cmath>
#include <type_traits>

namespace cpu
{

/* All lanes of the warp pass their registers. */
enum element { HALF, BFLOAT16 };
void matrix_multiply(element type, int K, float *d, const unsigned *a, const unsigned *b, site at);

/* All lanes pass an address; `count` matrices are loaded or stored. */
void matrix_load(unsigned *r, unsigned count, bool transposed, const void *row, const char *name,
                 site at);
void matrix_store(void *row, const unsigned *r, unsigned count, site at);

void copy_async(void *to, const void *from, unsigned bytes, int given, site at);
void copy_commit(site at);
void copy_wait(unsigned pending, site at);

}  // namespace cpu

inline namespace CUDA_BUILD
{
template <class T>
__forceinline__ void mma(float *d, const unsigned *a, const unsigned *b, CUDA_SITE)
{
    static_assert(std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>,
                  "mma takes __half or __nv_bfloat16");
    cpu::matrix_multiply(std::is_same_v<T, __half> ? cpu::HALF : cpu::BFLOAT16, 16, d, a, b,
                         { file, line });
}

static __forceinline__ void mma_k8(float *d, const unsigned *a, unsigned b, CUDA_SITE)
{
    cpu::matrix_multiply(cpu::HALF, 8, d, a, &b, { file, line });
}

template <int N> __forceinline__ void ldmatrix(unsigned (&r)[N], const void *row, CUDA_SITE)
{
    static_assert(N == 1 || N == 2 || N == 4, "ldmatrix loads 1, 2 or 4 matrices");
    cpu::matrix_load(r, N, false, row, "ldmatrix", { file, line });
}

template <int N> __forceinline__ void ldmatrix_trans(unsigned (&r)[N], const void *row, CUDA_SITE)
{
    static_assert(N == 1 || N == 2 || N == 4, "ldmatrix loads 1, 2 or 4 matrices");
    cpu::matrix_load(r, N, true, row, "ldmatrix.trans", { file, line });
}

template <class T> __forceinline__ unsigned pack(float low, float high)
{
    return T(low).bits | unsigned(T(high).bits) << 16;
}

template <int BYTES>
__forceinline__ void cp_async(void *to, const void *from, int given = BYTES, CUDA_SITE)
{
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "cp.async copies 4, 8 or 16 bytes");
    cpu::copy_async(to, from, BYTES, given, { file, line });
}

static __forceinline__ void cp_async_commit(CUDA_SITE)
{
    cpu::copy_commit({ file, line });
}

template <int N> __forceinline__ void cp_async_wait(CUDA_SITE)
{
    static_assert(N >= 0, "cp.async.wait_group waits until at most N groups are under way");
    cpu::copy_wait(N, { file, line });
}

/* Rounded; inputs and results below 2^-126 become 0, as on a GPU. */
static inline float ex2(float x)
{
#ifdef CUDA_INSTRUMENTED
    cpu::timeline_exponential();
#endif
    const float y = exp2f(fabsf(x) < 0x1p-126f ? 0.0f : x);
    return y < 0x1p-126f ? 0.0f : y;
}

/* For x from 2^-126 to 2^126, where a GPU does not flush to 0. */
static inline float reciprocal(float x)
{
    return 1.0f / x;
}
}  // namespace CUDA_BUILD

#endif
