#ifndef FLASH_TILED_PIECES_H
#define FLASH_TILED_PIECES_H

#include <stddef.h>

enum piece { PIECE_BEGIN, PIECE_SCORES, PIECE_WEIGHTS, PIECE_OUTPUTS, PIECE_END, PIECES };

extern const char *const piece_names[PIECES];

/*
 * share[k] is piece k's time over that of both products' multiply-adds at peak speed. PIECE_WEIGHTS
 * excludes the scores.
 */
void pieces_measure(size_t N, size_t d, double seconds, double share[PIECES]);

#endif
