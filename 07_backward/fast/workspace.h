#ifndef BACKWARD_WORKSPACE_H
#define BACKWARD_WORKSPACE_H

#include "07_backward/fast/keys.h"

struct workspace {
    float *room;  // holds all arrays but k
    struct keys *k;
    size_t groups;         // of the current tile of keys
    group_row *P;          // a row per query
    group_row *Z;          // dropout factors, or NULL
    group_row *dS;         // group g, query r at [g padded + r]
    group_row *dQ;         // panel n, query r at [n padded + r]
    visibility_row *mask;  // row: query, lane: key
    float *Q,
        *dO;         // copies with zeros for queries without keys, or NULL
    float *lse, *D;  // log2(e) lse, with +inf for -inf; D
};

struct workspace workspace_new(const struct attention *p, struct tile_size size);
void workspace_free(struct workspace *w);

/* A tile of queries from i0, padded with zeros to a multiple of ROWS. */
struct queries {
    const float *Q, *dO;
    size_t i0, rows, padded;
};

struct queries workspace_queries(struct workspace *w, const struct backward_head *a, const float *D,
                                 size_t i0, size_t rows);

/* P, dS, and additions to dK and dV for group g. */
void workspace_process(struct workspace *w, size_t g, const struct backward_head *a,
                       const struct queries *q);

/* Call after all groups: dQ = dS K, unscaled. */
void workspace_end(struct workspace *w, const struct queries *q, size_t d);

#endif
