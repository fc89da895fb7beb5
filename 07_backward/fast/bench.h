#ifndef BACKWARD_BENCH_H
#define BACKWARD_BENCH_H

#include "common/lab/lab.h"

/* About `seconds` each, with complete on one thread and on all; also to --csv. */
void backward_ladder(const struct chapter *chapter, size_t N, double seconds,
                     const struct options *options);

#endif
