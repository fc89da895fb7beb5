/*
 * What Hopper adds (compute capability 9.0, compiled for sm_90a), as functions: PTX for a GPU, and its meaning for a
 * CPU. Here copies and products are not made by threads but by units beside them, and a thread learns that one is done.
 *
 *     mbarrier_init(bar, count)       bar, of 8 bytes in shared memory, has phases, from number 0 on; each ends when `count`
 *                                     arrivals and all bytes that were expected have come
 *     mbarrier_arrive(bar)            one arrival
 *     mbarrier_arrive_expect(bar, n)  n bytes more are expected in this phase; then one arrival
 *     mbarrier_wait(bar, parity)      waits until the last phase of this parity, 0 or 1, is over; before phase 0 one of
 *                                     parity 1 is
 *
 *     tensor_map_make<T>(&map, array, rank, size, stride, box)   on the host, for a parameter
 *                                     const __grid_constant__ tensor_map map; size[0] is the dimension that lies together,
 *                                     stride[k] the bytes from one element of dimension k + 1 to the next
 *     tma_load(to, &map, bar, x, y)   a box of the array, from (x, y) on, comes to shared memory, and its bytes to bar; one thread
 *                                     asks. What is outside the array is 0. x elements are a multiple of 16 bytes.
 *                                     With (x, y, z), (x, y, z, w) in 3 and 4 dimensions
 *     tma_store(&map, from, x, y, z)  a box in shared memory, which lies there as tma_load leaves it, goes to the array, but for
 *                                     what of it is outside. It is a copy in bulk, as the next two:
 *     tma_add(&map, from, x, y, z)    a box of floats is added to the array, each float atomically
 *     bulk_add(to, from, bytes)       adds floats in shared memory to global memory, atomically
 *     bulk_commit(), bulk_wait<N>(), bulk_wait_read<N>()   as cp_async_commit and cp_async_wait; after the last the shared
 *                                     memory may be used again
 *     fence_async()                   what this thread has written in shared memory, mbarriers too, the units see from here on
 *     fence_async_global()            what other blocks have done in global memory before this thread awaited it (turns.h), copies
 *                                     in bulk see from here on
 *
 *     wgmma<T, MAJOR>(d, a, b, add)   D = A B, or D += A B, of 64 x N, 64 x 16 and 16 x N elements, by four warps; d has N / 2
 *                                     floats, a is four registers or wgmma_matrix(…), b is wgmma_matrix(…), and MAJOR says how
 *                                     b lies. wgmma<T, MAJOR, A_MAJOR>(…) also says how a lies
 *     wgmma_matrix(begin, leading, stride)   where a matrix begins in dynamic shared memory, and its steps in bytes
 *     wgmma_further(matrix, bytes)    the matrix with the same steps that begins so many bytes after it
 *     wgmma_fence()                   before the first product and after each commit: registers are as the products may take them
 *     wgmma_commit()                  the products so far are a group
 *     wgmma_wait<N>(d, …)             waits until at most the N groups last committed still run; d, … can be used then. Until
 *                                     then no thread may touch d, or change a's registers, which are named after d: so
 *                                     no compiler gives them to something else before
 *
 *     barrier_sync(id, threads)       waits until so many threads, whole warps, have come to barrier id, 1 to 15
 *     barrier_arrive(id, threads)     comes to it and does not wait
 *     setmaxnreg_inc<N>(), setmaxnreg_dec<N>()   the threads of this warpgroup have N registers each from here on
 *     elect_one()                     true in one lane of the warp
 *     stmatrix(row, r)                8 x 8 matrices, one, two or four, go to shared memory: as ldmatrix (tensor.h), but the other way
 *
 * A box has rows of 128 bytes, which lie together from a multiple of 1024 bytes on. 16 bytes are a piece, and piece c of row r
 * lies at place c ^ r % 8 of its row, so that eight rows' pieces c lie in different banks. wgmma finds them there:
 *
 *     K_MAJOR     a row is 64 elements of k; from 8 rows to the next 8 are `stride` bytes; `leading` is not used
 *     MN_MAJOR    a row is 64 elements of m or n, and there is a row for each k; from 8 rows to the next 8 are `stride`
 *                 bytes, from 64 columns to the next 64 `leading` bytes
 *
 * `begin` is at a row that is a multiple of 8, or, in K_MAJOR, 32, 64 or 96 bytes past one: 16, 32 or 48 elements of k. With w, g and t
 * a thread's warp in its four, lane / 4 and lane % 4, it has these elements:
 *
 *     A   a[r], r < 4      row 16w + g + 8 (r % 2), columns 2t + 8 (r / 2) and the next
 *     D   d[e], e < N / 2  row 16w + g + 8 (e / 2 % 2), column 8 (e / 4) + 2t + e % 2
 *
 * PTX ISA, sections "mbarrier", "cp.async.bulk.tensor", "Asynchronous warpgroup level matrix instructions" and "Tensors: swizzling
 * modes". For other GPUs than Hopper they compile, and trap.
 */
#ifndef COMMON_CUDA_HOPPER_H
#define COMMON_CUDA_HOPPER_H

enum wgmma_major { K_MAJOR, MN_MAJOR };

/* The N that have an instruction here; wgmma_ptx.h has a row for each. */
constexpr bool wgmma_makes(int N)
{
    return N == 64 || N == 80 || N == 96 || N == 128 || N == 176 || N == 192 || N == 256;
}

#ifdef __CUDACC__
#include "common/cuda/gpu/hopper_ptx.h"
#include "common/cuda/gpu/wgmma_ptx.h"
#else
#include "common/cuda/emulator/hopper_cpu.h"
#endif

#endif
