/*
 * How fast the steps are, in about so many seconds a part.
 */
#ifndef BACKWARD_BENCH_H
#define BACKWARD_BENCH_H

#include "common/lab/lab.h"

/*
 * The ladder, one head of N queries and keys: standard, fa2, and complete on one thread, and on all. Its last line is the
 * machine. Written to --csv too. `chapter` is chapter 07.
 */
void backward_ladder(const struct chapter *chapter, size_t N, double seconds,
                     const struct options *options);

#endif
