/*
 * Where the time of `complete` goes.
 */
#ifndef BACKWARD_COSTS_H
#define BACKWARD_COSTS_H

#include <stddef.h>

/*
 * The part "Pieces": each piece of `complete` alone, and all of it with N queries and keys, or 128 if that is more; one
 * thread, d = 64 and 128, about so many seconds in all.
 */
void bench_pieces(size_t N, double seconds);

#endif
