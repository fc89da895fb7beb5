/*
 * The pieces of `overlap`, each timed alone: where its time goes.
 */
#ifndef FLASH_TILED_PIECES_H
#define FLASH_TILED_PIECES_H

#include <stddef.h>

enum piece { PIECE_BEGIN, PIECE_SCORES, PIECE_WEIGHTS, PIECE_OUTPUTS, PIECE_END, PIECES };

/* What each is, in words. */
extern const char *const piece_names[PIECES];

/*
 * One group of queries past N keys with rows of d elements. share[k] becomes the time of piece k, divided
 * by what the multiply-adds of both products would take at the machine's peak, which takes its turn among
 * them. The weights are without the scores that they are made of. Takes about so many seconds.
 */
void pieces_measure(size_t N, size_t d, double seconds, double share[PIECES]);

#endif
