/*
 * Hopper's instructions (compute capability 9.0, compiled for sm_90a): PTX on a GPU, emulated on a
 * CPU. Asynchronous units copy and multiply; threads issue work and wait for it.
 *
 *     mbarrier_init(bar, count)       bar, 8 bytes in shared memory, runs through phases 0, 1, …; a phase
 *                                     ends after `count` arrivals and all expected bytes
 *     mbarrier_arrive(bar)            one arrival
 *     mbarrier_arrive_expect(bar, n)  expects n more bytes in this phase, then arrives
 *     mbarrier_wait(bar, parity)      waits while the current phase has this parity, 0 or 1: for the end of
 *                                     phase n, parity n % 2; in phase 0, parity 1 does not wait
 *
 *     tensor_map_make<T>(&map, array, rank, size, stride, box)   on the host, for a parameter
 *                                     const __grid_constant__ tensor_map map; size[0] is the contiguous
 *                                     dimension, stride[k] the bytes between elements of dimension k + 1
 *     tma_load(to, &map, bar, x, y)   copies the box at (x, y) to shared memory and counts its bytes at bar;
 *                                     issued by one thread. Elements outside the array are 0. x is a
 *                                     multiple of 16 bytes. Also (x, y, z) and (x, y, z, w)
 *     tma_store(&map, from, x, y, z)  bulk copy: a box in shared memory, laid out as by tma_load, to the
 *                                     array; elements outside are dropped
 *     tma_add(&map, from, x, y, z)    bulk: adds a box of floats to the array, each float atomically
 *     bulk_add(to, from, bytes)       bulk: adds floats in shared memory to global memory, atomically
 *     bulk_commit(), bulk_wait<N>(), bulk_wait_read<N>()   as cp_async_commit and cp_async_wait; after
 *                                     bulk_wait_read the shared memory may be reused
 *     fence_async()                   makes this thread's writes to shared memory, including mbarriers,
 *                                     visible to the TMA and tensor cores
 *     fence_async_global()            makes global writes of other blocks that this thread has
 *                                     waited for (turns.h) visible to bulk copies
 *
 *     wgmma<T, MAJOR>(d, a, b, add)   D = A B, or D += A B: 64 x N, 64 x 16 and 16 x N, by four warps. d has
 *                                     N / 2 floats; a is four registers or wgmma_matrix(…), b is
 *                                     wgmma_matrix(…) with layout MAJOR. wgmma<T, MAJOR, A_MAJOR>(…) also
 *                                     gives a's layout
 *     wgmma_matrix(begin, leading, stride)   a matrix in dynamic shared memory and its strides in bytes
 *     wgmma_further(matrix, bytes)    the same matrix, advanced by `bytes`
 *     wgmma_fence()                   before the first product and after each commit: orders register
 *                                     accesses before the products
 *     wgmma_commit()                  groups the products issued so far
 *     wgmma_wait<N>(d, …)             waits until at most N committed groups run; then d, … may be used.
 *                                     Before that no thread may touch d or change a's registers. List a's
 *                                     registers after d, so that the compiler does not reuse them early
 *
 *     barrier_sync(id, threads)       waits at barrier id, 1 to 15, for `threads` threads in whole warps
 *     barrier_arrive(id, threads)     arrives there without waiting
 *     setmaxnreg_inc<N>(), setmaxnreg_dec<N>()   gives each thread of this warpgroup N registers
 *     elect_one()                     true in one lane of the warp
 *     stmatrix(row, r)                stores 1, 2 or 4 matrices of 8 x 8 to shared memory; the inverse of
 *                                     ldmatrix (tensor.h)
 *
 * A box has rows of 128 bytes, contiguous, aligned to 1024 bytes. Swizzle: the 16-byte chunk c of row r lies
 * at position c ^ r % 8, so that chunks c of eight rows lie in different banks. Layouts for wgmma:
 *
 *     K_MAJOR     a row is 64 elements of k; 8 rows are `stride` bytes apart; `leading` is unused
 *     MN_MAJOR    a row is 64 elements of m or n, one row per k; 8 rows are `stride` bytes apart,
 *                 64 columns `leading` bytes
 *
 * `begin` is at a row that is a multiple of 8; in K_MAJOR also 32, 64 or 96 bytes (16, 32 or 48 elements of
 * k) later. With w = warp in the warpgroup, g = lane / 4, t = lane % 4, a thread holds:
 *
 *     A   a[r], r < 4      row 16w + g + 8 (r % 2), columns 2t + 8 (r / 2) and the next
 *     D   d[e], e < N / 2  row 16w + g + 8 (e / 2 % 2), column 8 (e / 4) + 2t + e % 2
 *
 * PTX ISA, sections "mbarrier", "cp.async.bulk.tensor", "Asynchronous warpgroup level matrix instructions"
 * and "Tensors: swizzling modes". For other GPUs these compile, but trap.
 */
#ifndef COMMON_CUDA_HOPPER_H
#define COMMON_CUDA_HOPPER_H

enum wgmma_major { K_MAJOR, MN_MAJOR };

/* The supported N; wgmma_ptx.h has a row for each. */
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
