/*
 * Chapter 04, whole. The one-pass row of flash_row.c for batches, heads and every mask.
 */
#ifndef FLASH_NO_TILING_H
#define FLASH_NO_TILING_H

#include "common/problem/attention.h"

/*
 * O (B, H, Nq, d) and, unless it is NULL, lse (B, H, Nq), for the problem p, which may have grouped
 * heads, Nq != Nk, causal, a window and masks, but no dropout; d at most 256. Keys that a query does
 * not see are not read for it. A query that sees none has O = 0 and lse = -inf. O may be Q.
 */
void flash_no_tiling(const struct attention *p, const float *Q, const float *K, const float *V,
                     float *O, float *lse);

/* The one query (b, h, i) of it: o has d elements, lse one. */
void flash_no_tiling_row(const struct attention *p, const float *Q, const float *K, const float *V,
                         size_t b, size_t h, size_t i, float *o, float *lse);

#endif
