/*
 * How fast the steps are, in about so many seconds a part. `chapter` is chapter 05.
 */
#ifndef FLASH_TILED_BENCH_H
#define FLASH_TILED_BENCH_H

#include "common/lab/lab.h"

/*
 * The ladder, one head of N queries and keys, from S and P in memory to the last step. Then the parts "Options": N queries and
 * keys with one option each; "Shapes": every kind of d and an odd length beside N, and one head on all threads; "Pieces":
 * where the time of `overlap` goes, each piece alone. The last line is the machine. The ladder is written to --csv too.
 */
void bench_all(const struct chapter *chapter, size_t N, double seconds,
               const struct options *options);

/* The part "Fast": fa2, and the steps that make it fast (pages/fast.md). */
void bench_fast(const struct chapter *chapter, size_t N, double seconds,
                const struct options *options);

#endif
