/*
 * The fast memory of a thread, and what it does with a tile of queries and a group of keys.
 */
#ifndef BACKWARD_WORKPLACE_H
#define BACKWARD_WORKPLACE_H

#include "keys.h"

/* A tile of keys in groups, and of a tile of queries what one group needs. */
struct workplace {
    struct keys *k;
    group_row *P, *dS, *Z;  // a row for each query
    group_row *dQ;          // panel n, query r at [n rows + r]
    group_row *rows;        // as in struct keys, without the keys that nobody sees
    seen_row *seen;
    float *Q, *dO, *L, *D;  // the last queries, filled up to a multiple of ROWS
};

/* Room for tiles of this size, of rows with d elements. */
struct workplace workplace_new(struct tile_size size, size_t d);
void workplace_free(struct workplace *w, struct tile_size size);

/* A tile of queries as the products want it: whole blocks of rows, zeros behind the last. */
struct queries {
    const float *Q, *dO;
    size_t i0, rows, padded;
};

/* The queries i0 … i0 + rows - 1 of the head, whose dQ is 0; D is the head's. */
struct queries workplace_queries(struct workplace *w, const struct backward_head *a, const float *D,
                                 size_t i0, size_t rows);

/* fa2's inner step: dK and dV of the group, and dQ in the workplace, take note of these queries. */
void workplace_see(struct workplace *w, struct keys *k, const struct backward_head *a,
                   const struct queries *q);

#endif
