#ifndef FLASH_TILED_BENCH_H
#define FLASH_TILED_BENCH_H

#include "common/lab/lab.h"

/* In about `seconds` per part: the ladder, also to --csv; then "Options", "Shapes" and "Pieces". */
void bench_all(const struct chapter *chapter, size_t N, double seconds,
               const struct options *options);

void bench_fast(const struct chapter *chapter, size_t N, double seconds,
                const struct options *options);

#endif
