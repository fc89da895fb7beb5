#ifndef COMMON_CUDA_HOPPER_CPU_H
#define COMMON_CUDA_HOPPER_CPU_H

#include "common/cuda/emulator/runtime.h"
#include "common/cuda/emulator/tensor_cpu.h"
#include "common/cuda/emulator/warp.h"

#include <cstdint>
#include <type_traits>

/* The driver's map is opaque; this is its content. */
struct tensor_map {
    const char *array;
    unsigned rank, element;  // bytes
    uint64_t size[4];        // in elements
    uint64_t stride[4];      // in bytes
    uint32_t box[4];         // in elements
};

namespace cpu
{

enum { BOX_ROW = 128, SWIZZLED = 1024 };  // bytes of one row, and of eight

void phase_init(void *bar, unsigned count, site at);
void phase_arrive(void *bar, unsigned bytes, const char *name, site at);
void phase_wait(void *bar, unsigned parity, site at);
void fence_units(site at);
void fence_global(site at);

cudaError_t map_make(tensor_map *map, const void *array, unsigned element, unsigned rank,
                     const uint64_t *size, const uint64_t *stride, const uint32_t *box, site at);
void tensor_load(void *to, const tensor_map *map, void *bar, unsigned rank, const int *from,
                 site at);
void tensor_store(const tensor_map *map, const void *from, const int *to, site at);
void tensor_reduce(const tensor_map *map, const float *from, const int *to, site at);
void bulk_reduce(float *to, const float *from, unsigned bytes, site at);
void bulk_committed(site at);
void bulk_waits(unsigned pending, bool only_read, site at);

template <class T> constexpr element element_for(void)
{
    static_assert(std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>,
                  "wgmma takes __half or __nv_bfloat16");
    return std::is_same_v<T, __half> ? HALF : BFLOAT16;
}

/* One thread's arguments; a is NULL if the matrix is in shared memory. */
struct product_call {
    element type;
    unsigned count;  // floats of d
    float *d;
    const unsigned *a;
    uint64_t a_matrix, b_matrix;
    bool a_columns, b_columns, add;
};
void product_begin(const product_call *call, site at);
void product_fence(site at);
void product_commit(site at);
void product_wait(unsigned pending, site at);
void product_over(const void *fragments, size_t bytes, unsigned pending, site at);
uint64_t product_matrix(const void *begin, unsigned leading, unsigned stride, site at);
uint64_t product_further(uint64_t matrix, unsigned bytes, site at);

void named_barrier(unsigned id, unsigned threads, bool waits, site at);
void set_registers(unsigned count, bool more, site at);

}  // namespace cpu

inline namespace CUDA_BUILD
{
static inline void mbarrier_init(uint64_t *bar, unsigned count, CUDA_SITE)
{
    cpu::phase_init(bar, count, { file, line });
}

static inline void mbarrier_arrive(uint64_t *bar, CUDA_SITE)
{
    cpu::phase_arrive(bar, 0, "mbarrier_arrive()", { file, line });
}

static inline void mbarrier_arrive_expect(uint64_t *bar, unsigned bytes, CUDA_SITE)
{
    cpu::phase_arrive(bar, bytes, "mbarrier_arrive_expect()", { file, line });
}

static inline void mbarrier_wait(uint64_t *bar, unsigned parity, CUDA_SITE)
{
    cpu::phase_wait(bar, parity, { file, line });
}

static inline void fence_async(CUDA_SITE)
{
    cpu::fence_units({ file, line });
}

static inline void fence_async_global(CUDA_SITE)
{
    cpu::fence_global({ file, line });
}

template <class T>
static inline cudaError_t tensor_map_make(tensor_map *map, const T *array, unsigned rank,
                                          const uint64_t *size, const uint64_t *stride,
                                          const uint32_t *box, CUDA_SITE)
{
    static_assert(std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16> ||
                      std::is_same_v<T, float>,
                  "a tensor map is of __half, __nv_bfloat16 or float");
    return cpu::map_make(map, array, sizeof(T), rank, size, stride, box, { file, line });
}

static inline void tma_load(void *to, const tensor_map *map, uint64_t *bar, int x, int y, CUDA_SITE)
{
    const int from[4] = { x, y, 0, 0 };
    cpu::tensor_load(to, map, bar, 2, from, { file, line });
}

static inline void tma_load(void *to, const tensor_map *map, uint64_t *bar, int x, int y, int z,
                            CUDA_SITE)
{
    const int from[4] = { x, y, z, 0 };
    cpu::tensor_load(to, map, bar, 3, from, { file, line });
}

static inline void tma_load(void *to, const tensor_map *map, uint64_t *bar, int x, int y, int z,
                            int w, CUDA_SITE)
{
    const int from[4] = { x, y, z, w };
    cpu::tensor_load(to, map, bar, 4, from, { file, line });
}

static inline void tma_store(const tensor_map *map, const void *from, int x, int y, int z,
                             CUDA_SITE)
{
    const int to[4] = { x, y, z, 0 };
    cpu::tensor_store(map, from, to, { file, line });
}

static inline void tma_add(const tensor_map *map, const float *from, int x, int y, int z, CUDA_SITE)
{
    const int to[4] = { x, y, z, 0 };
    cpu::tensor_reduce(map, from, to, { file, line });
}

static inline void bulk_add(float *to, const float *from, unsigned bytes, CUDA_SITE)
{
    cpu::bulk_reduce(to, from, bytes, { file, line });
}

static inline void bulk_commit(CUDA_SITE)
{
    cpu::bulk_committed({ file, line });
}

template <int N> static inline void bulk_wait(CUDA_SITE)
{
    cpu::bulk_waits(N, false, { file, line });
}

template <int N> static inline void bulk_wait_read(CUDA_SITE)
{
    cpu::bulk_waits(N, true, { file, line });
}

// ---- wgmma --------------------------------------------------------------------------------------

static inline uint64_t wgmma_matrix(const void *begin, unsigned leading, unsigned stride, CUDA_SITE)
{
    return cpu::product_matrix(begin, leading, stride, { file, line });
}

static inline uint64_t wgmma_further(uint64_t matrix, unsigned bytes, CUDA_SITE)
{
    return cpu::product_further(matrix, bytes, { file, line });
}

template <class T, wgmma_major MAJOR, wgmma_major A_MAJOR = K_MAJOR, int R>
static inline void wgmma(float (&d)[R], uint64_t a, uint64_t b, bool add, CUDA_SITE)
{
    static_assert(wgmma_makes(2 * R), "wgmma is for N = 64, 80, 96, 128, 176, 192 and 256 here");
    const cpu::product_call call = {
        cpu::element_for<T>(), R, d, nullptr, a, b, A_MAJOR == MN_MAJOR, MAJOR == MN_MAJOR, add
    };
    cpu::product_begin(&call, { file, line });
}

template <class T, wgmma_major MAJOR, int R>
static inline void wgmma(float (&d)[R], const unsigned (&a)[4], uint64_t b, bool add, CUDA_SITE)
{
    static_assert(wgmma_makes(2 * R), "wgmma is for N = 64, 80, 96, 128, 176, 192 and 256 here");
    const cpu::product_call call = { cpu::element_for<T>(), R,  d, a, 0, b, false,
                                     MAJOR == MN_MAJOR,     add };
    cpu::product_begin(&call, { file, line });
}

static inline void wgmma_fence(CUDA_SITE)
{
    cpu::product_fence({ file, line });
}

static inline void wgmma_commit(CUDA_SITE)
{
    cpu::product_commit({ file, line });
}

template <int N> static inline void wgmma_wait(CUDA_SITE)
{
    cpu::product_wait(N, { file, line });
}

template <int N, class D> static inline void wgmma_wait(D &d, CUDA_SITE)
{
    cpu::product_wait(N, { file, line });
    cpu::product_over(d, sizeof d, N, { file, line });
}

template <int N, class D, class A> static inline void wgmma_wait(D &d, A &a, CUDA_SITE)
{
    wgmma_wait<N>(d, file, line);
    cpu::product_over(a, sizeof a, N, { file, line });
}

template <int N, class D, class E, class A>
static inline void wgmma_wait(D &d, E &other, A &a, CUDA_SITE)
{
    wgmma_wait<N>(d, other, file, line);
    cpu::product_over(a, sizeof a, N, { file, line });
}

// ---- barriers, registers, lanes -----------------------------------------------------------------

static inline void barrier_sync(unsigned id, unsigned threads, CUDA_SITE)
{
    cpu::named_barrier(id, threads, true, { file, line });
}

static inline void barrier_arrive(unsigned id, unsigned threads, CUDA_SITE)
{
    cpu::named_barrier(id, threads, false, { file, line });
}

template <int N> static inline void setmaxnreg_inc(CUDA_SITE)
{
    static_assert(N >= 24 && N <= 256 && N % 8 == 0, "setmaxnreg takes a multiple of 8, 24 to 256");
    cpu::set_registers(N, true, { file, line });
}

template <int N> static inline void setmaxnreg_dec(CUDA_SITE)
{
    static_assert(N >= 24 && N <= 256 && N % 8 == 0, "setmaxnreg takes a multiple of 8, 24 to 256");
    cpu::set_registers(N, false, { file, line });
}

static inline bool elect_one(CUDA_SITE)
{
    cpu::warp_meet(0xffffffff, "elect_one()", { file, line }, nullptr, [](void **, unsigned) {});
    return cpu::self->lane == 0;
}

template <int N> static inline void stmatrix(void *row, const unsigned (&r)[N], CUDA_SITE)
{
    static_assert(N == 1 || N == 2 || N == 4, "stmatrix stores 1, 2 or 4 matrices");
    cpu::matrix_store(row, r, N, { file, line });
}
}  // namespace CUDA_BUILD

#endif
