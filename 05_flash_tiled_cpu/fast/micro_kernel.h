/*
 * A block of sums in registers.
 *
 *     c(r, v) += sum over k of a(r, k) B(k, v)          r < ROWS, v < COLUMNS vectors
 *
 * a(r, k) = a[r row + k stride] is broadcast. A multiply-add takes four cycles and two start per
 * cycle, so eight sums must be in flight. The closer ROWS is to COLUMNS, the fewer loads; the block
 * must fit 32 registers (AVX-512, NEON) or 16.
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

/* By value, so that no pointer aliases the block. */
INLINE struct block block_product(struct block c, const float *a, ptrdiff_t row, ptrdiff_t stride,
                                  const vec (*B)[COLUMNS], size_t n)
{
#pragma GCC unroll 4
    for (size_t k = 0; k < n; k++)
        for (int r = 0; r < ROWS; r++)
            for (int v = 0; v < COLUMNS; v++)
                c.at[r][v] += a[r * row + (ptrdiff_t)k * stride] * B[k][v];
    return c;
}

/* For column v alone, a constant: indexing by a variable would spill the block. */
INLINE struct block column_product(int v, struct block c, const float *a, ptrdiff_t row,
                                   ptrdiff_t stride, const vec (*B)[COLUMNS], size_t n)
{
#pragma GCC unroll 4
    for (size_t k = 0; k < n; k++)
        for (int r = 0; r < ROWS; r++)
            c.at[r][v] += a[r * row + (ptrdiff_t)k * stride] * B[k][v];
    return c;
}

#endif
