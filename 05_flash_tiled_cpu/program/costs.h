/*
 * What the last steps' time depends on: options, shapes, and what they are made of. Each part is
 * measured in about so many seconds.
 */
#ifndef FLASH_TILED_COSTS_H
#define FLASH_TILED_COSTS_H

#include "common/program/options.h"

#include <stddef.h>

/* The part "Options": N queries and keys with one option each. */
void bench_options(size_t N, double seconds, const struct options *options);

/* The part "Shapes": every kind of d and an odd length beside N, and one head on all threads. */
void bench_shapes(size_t N, double seconds, const struct options *options);

/* The part "Pieces": where the time of `overlap` goes, each piece alone. */
void bench_pieces(double seconds);

#endif
