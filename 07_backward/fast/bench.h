#ifndef BACKWARD_BENCH_H
#define BACKWARD_BENCH_H

#include "common/lab/lab.h"

/* Times standard, fa2 and complete, about `seconds` each; also to --csv. */
void backward_ladder(const struct chapter *chapter, size_t N, double seconds,
                     const struct options *options);

#endif
