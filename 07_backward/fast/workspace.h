/*
 * The fast memory of a thread, and what it does with a tile of queries and a group of keys.
 */
#ifndef BACKWARD_WORKSPACE_H
#define BACKWARD_WORKSPACE_H

#include "07_backward/fast/keys.h"

/* A tile of keys in groups, and what a tile of queries needs. */
struct workspace {
    float *room;  // all of what follows but k itself
    struct keys *k;
    size_t groups;  // that the tile at hand has
    group_row *P;   // of one group, a row for each query
    group_row *Z;   // the same; NULL without dropout
    group_row *dS;  // of all groups: group g, query r at [g rows + r]
    group_row *dQ;  // panel n, query r at [n rows + r]
    visibility_row *seen;
    float *Q,
        *dO;  // copies: whole blocks of rows, zeros where a query attends to nothing; NULL if none is needed
    float *lse, *D;
};

/* Room for the problem in tiles of this size. */
struct workspace workspace_new(const struct attention *p, struct tile_size size);
void workspace_free(struct workspace *w);

/* A tile of queries as the products want it: whole blocks of rows, zeros after the last. */
struct queries {
    const float *Q, *dO;
    size_t i0, rows, padded;
};

/* The queries i0 … i0 + rows - 1 of the head; D is the head's. */
struct queries workspace_queries(struct workspace *w, const struct backward_head *a, const float *D,
                                 size_t i0, size_t rows);

/* fa2's inner step: dK and dV of group g take note of these queries, and dS is worked out. */
void workspace_see(struct workspace *w, size_t g, const struct backward_head *a,
                   const struct queries *q);

/*
 * When all groups have been seen: dQ = dS K, without the scale. The sum goes over all of them before it
 * leaves the registers.
 */
void workspace_end(struct workspace *w, const struct queries *q, size_t d);

#endif
