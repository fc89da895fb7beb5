#ifndef FLASH_TILED_BENCH_H
#define FLASH_TILED_BENCH_H

#include "common/lab/lab.h"

/*
 * The ladder, also to --csv: `seconds` per case. "Options", "Shapes" and "Pieces": 0.4, 1 and 0.2
 * of it.
 */
void bench_all(const struct chapter *chapter, size_t N, double seconds,
               const struct options *options);

/* "Fast", for `seconds` in all. */
void bench_fast(const struct chapter *chapter, size_t N, double seconds,
                const struct options *options);

#endif
