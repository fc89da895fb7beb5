/*
 * The pieces of `complete`, each timed alone: where its time goes.
 */
#ifndef BACKWARD_PIECES_H
#define BACKWARD_PIECES_H

#include "07_backward/steps/steps.h"

enum backward_piece {
    PIECE_LOOP,     // five products, if all their numbers were in the first cache
    PIECE_WEIGHTS,  // P and dS of numbers that are there
    PIECE_SEEN,     // what workspace_see does: four products, with P and dS among them
    PIECE_DQ,       // the fifth
    PIECE_KEYS,     // a group's K and V transposed, and its dK and dV back
    PIECE_WHOLE,    // all of `complete`, with whatever it has to fetch
    BACKWARD_PIECES
};

/* What each is, in words. */
extern const char *const backward_piece_names[BACKWARD_PIECES];

/* Queries and keys that the pieces work on again and again. */
enum { PIECE_QUERIES = 64, PIECE_NUMBER_OF_KEYS = 128 };

/*
 * share[k] becomes the time of piece k on one core, divided by what the multiply-adds of the five products
 * would take at the machine's peak, which takes its turn among them: those of its queries and keys, or of
 * all p's for PIECE_WHOLE. p has no option, d of 64 or more, and at least so many queries and keys. `out`
 * is left as `complete` fills it. Takes about so many seconds.
 */
void backward_pieces_measure(const struct attention *p, struct backward_input in,
                             struct gradients out, double seconds, double share[BACKWARD_PIECES]);

#endif
