/*
 * The one loop in which nearly all time goes: a block of sums that stays in registers.
 *
 *     c(r, v) += sum over k of a(r, k) B(k, v)          r < ROWS, v < COLUMNS vectors
 *
 * a(r, k) is one number, spread over all lanes; B(k, v) a vector of one number for each query. Both of
 * attention's products are of this kind: in S^T = K Q^T the numbers are a key's elements, in O^T += V^T P^T
 * they are values'. Only the strides differ.
 *
 * Why these sizes: a multiply-add has its result after four clocks, and one or two can begin at each. So
 * up to eight sums have to be on their way. Each step loads COLUMNS vectors and ROWS single numbers for
 * ROWS x COLUMNS multiply-adds: the squarer the block, the fewer loads. And all of it has to fit into
 * the registers: 32 with AVX-512 and NEON, 16 with AVX2 and SSE.
 */
#ifndef FLASH_TILED_MICRO_KERNEL_H
#define FLASH_TILED_MICRO_KERNEL_H

#include "05_flash_tiled_cpu/fast/vec.h"

#if defined(__AVX512F__) || defined(__aarch64__)
enum { ROWS = 8, COLUMNS = 2 };
#elif defined(__AVX2__)
enum { ROWS = 4, COLUMNS = 3 };
#else
enum { ROWS = 4, COLUMNS = 2 };
#endif

struct block {
    vec at[ROWS][COLUMNS];
};

/* By value, so that the compiler sees that nobody else has the block's address. */
INLINE struct block block_product(struct block c, const float *a, ptrdiff_t row, ptrdiff_t step,
                                  const vec (*B)[COLUMNS], size_t n)
{
#pragma GCC unroll 4  // a jump for every four steps
    for (size_t k = 0; k < n; k++)
        for (int r = 0; r < ROWS; r++)
            for (int v = 0; v < COLUMNS; v++)
                c.at[r][v] += a[r * row + (ptrdiff_t)k * step] * B[k][v];
    return c;
}

/* The same for column v alone, where the others do not count. v is a constant, or the block leaves the registers. */
INLINE struct block column_product(int v, struct block c, const float *a, ptrdiff_t row,
                                   ptrdiff_t step, const vec (*B)[COLUMNS], size_t n)
{
#pragma GCC unroll 4
    for (size_t k = 0; k < n; k++)
        for (int r = 0; r < ROWS; r++)
            c.at[r][v] += a[r * row + (ptrdiff_t)k * step] * B[k][v];
    return c;
}

#endif
