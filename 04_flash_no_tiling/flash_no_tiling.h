#ifndef FLASH_NO_TILING_H
#define FLASH_NO_TILING_H

#include "common/problem/attention.h"

/*
 * O (B, H, Nq, d) and, unless it is NULL, lse (B, H, Nq), for the problem p: grouped heads, Nq !=
 * Nk, causal, a window and masks, but no dropout or softcap; d at most 256. Masked keys are not
 * read. A query without keys has O = 0 and lse = -inf. O may be Q.
 */
void flash_no_tiling(const struct attention *p, const float *Q, const float *K, const float *V,
                     float *O, float *lse);

/* The row of query (b, h, i): o has d elements, lse one. */
void flash_no_tiling_row(const struct attention *p, const float *Q, const float *K, const float *V,
                         size_t b, size_t h, size_t i, float *o, float *lse);

#endif
