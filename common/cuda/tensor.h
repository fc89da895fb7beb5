/*
 * Instructions for tensor cores: PTX on a GPU, emulated on a CPU.
 *
 *     mma<T>(d, a, b)             D += A B, of 16 x 8, 16 x 16 and 16 x 8 elements, by a whole warp
 *     mma_k8(d, a, b)             D += A B, of 16 x 8, 16 x 8 and 8 x 8 elements of __half
 *     ldmatrix(r, row)            loads one, two or four 8 x 8 matrices from shared memory: r[1], r[2] or r[4]
 *     ldmatrix_trans(r, row)      the same, transposed
 *     pack<T>(low, high)          two floats rounded to T, in one register
 *     ex2(x)                      2^x, approximately
 *     reciprocal(x)               1 / x, approximately, for x from 2^-126 to 2^126
 *     cp_async<16>(to, from, n)   copies n bytes from global to shared memory, then zeros up to 16 (or
 *                                 8, or 4); asynchronous
 *     cp_async_commit()           groups the copies issued so far
 *     cp_async_wait<N>()          waits until at most N committed groups are pending
 *
 * T is __half or __nv_bfloat16. A register holds two, the first in its lower half. A matrix is spread
 * over the registers of all lanes; with g = lane / 4 and t = lane % 4, a lane holds:
 *
 *     A   a[r], r < 4    row g + 8 (r % 2), columns 2t + 8 (r / 2) and the next
 *     B   b[r], r < 2    rows 2t + 8 r and the next, column g
 *     D   d[e], e < 4    row g + 8 (e / 2), column 2t + e % 2
 *     ldmatrix   r[m]    of matrix m: row g, columns 2t and 2t + 1; transposed: rows 2t and 2t + 1, column g
 *
 * mma_k8 has a[0], a[1] and one register b. For ldmatrix, lanes 8m to 8m + 7 give the addresses of the rows of matrix m, aligned to 16 bytes.
 *
 * PTX ISA, sections "Matrix Fragments for mma.m16n8k16 with floating point type" (and m16n8k8), "ldmatrix" and "cp.async".
 * mma and cp_async need compute capability 8.0; for 7.5 they compile, but trap.
 */
#ifndef COMMON_CUDA_TENSOR_H
#define COMMON_CUDA_TENSOR_H

#ifdef __CUDACC__
#include "common/cuda/gpu/tensor_ptx.h"
#else
#include "common/cuda/emulator/tensor_cpu.h"
#endif

#endif
