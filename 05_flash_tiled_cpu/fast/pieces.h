#ifndef FLASH_TILED_PIECES_H
#define FLASH_TILED_PIECES_H

#include <stddef.h>

enum piece {
    PIECE_BEGIN,
    PIECE_SCORES,
    PIECE_WEIGHTS,
    PIECE_OUTPUTS,
    PIECE_END,
    PIECE_SPLIT,  // only in complete
    PIECES
};

extern const char *const piece_names[PIECES];

/*
 * share[k] = time of piece k / time of both products at peak FMA rate, for full groups of queries.
 * PIECE_WEIGHTS excludes the scores, and rescaling: m is already the maximum.
 */
void pieces_measure(size_t N, size_t d, double seconds, double share[PIECES]);

#endif
