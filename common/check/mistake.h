/*
 * The usual mistakes that doctor.h tries, as other problems or as changes to the keys of a query.
 */
#ifndef COMMON_MISTAKE_H
#define COMMON_MISTAKE_H

#include "common/check/doctor.h"
#include "common/check/rounding.h"

enum how {
    AS_IS,           // another problem, p
    EXCHANGED,       // Q, K, V and O are read as (B, N, H, d)
    STORED,          // only the result is stored so
    BY_MODULO,       // the key/value head is h mod Hkv
    CAPPED,          // masked keys have the score -softcap
    PADDED,          // keys after the last one, to the end of its tile, have the score 0
    NOT_RESCALED,    // O and l are not rescaled when a tile raises the maximum
    O_NOT_RESCALED,  // only O is not
    L_NOT_RESCALED,  // only l is not
    WITHOUT_M,       // lse is log l
    FACTOR,          // the right result times `factor`
};

struct mistake {
    char text[120];      // what the report prints
    struct attention p;  // the problem that it solves instead
    enum how how;
    size_t tile;  // keys of a tile: of PADDED to L_NOT_RESCALED
    double factor;
};

enum { MISTAKES = 64 };

/* Those that may explain this result, at most MISTAKES. */
size_t mistakes_of(const struct attention *p, enum result of, struct mistake *list);

/* What is expected of `factor` times a result. */
struct exact mistake_times(struct exact x, double factor);

/* Where row i of head h of Q begins, in elements. */
size_t mistake_query(const struct mistake *m, size_t b, size_t h, size_t i);

/* Row (b, h, i) of O and its lse, or of dQ, with the mistake; d + 1 elements, the last unused. */
void mistake_forward(const struct mistake *m, const struct attention_input *in, size_t b, size_t h,
                     size_t i, struct exact *O, struct exact *lse);
void mistake_query_gradient(const struct mistake *m, const struct doctor *x, size_t b, size_t h,
                            size_t i, struct exact *dQ);

#endif
