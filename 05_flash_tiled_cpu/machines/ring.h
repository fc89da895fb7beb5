#ifndef MACHINES_RING_H
#define MACHINES_RING_H

#include "05_flash_tiled_cpu/machines/program/part.h"

#include <mpi.h>

/* The whole problem; p has no key mask, even if `masked`. */
struct ring {
    struct attention p;
    bool masked;
    struct tile_size size;
    MPI_Comm comm;
    size_t rank, ranks;
    struct part queries;
};

/* A part's K and V (B, Hkv, rows, d), and mask (B, rows) or NULL, adjacent in memory. */
struct keys {
    struct part part;
    float *K, *V;
    uint8_t *mask;
};

/* The keys of rank `owner` in `bytes`; a part's size. */
struct keys ring_keys(const struct ring *r, size_t owner, void *bytes);
size_t ring_keys_bytes(const struct ring *r, const struct part *part);

size_t ring_before(const struct ring *r, size_t distance);
size_t ring_after(const struct ring *r, size_t distance);

/* Starts sending to the next rank and receiving from the one before; MPI_Waitall ends both. */
void ring_exchange(const struct ring *r, const void *from, size_t from_bytes, void *to,
                   size_t to_bytes, MPI_Request both[2]);

/*
 * O (B, H, rows, d) and lse (B, H, rows) of queries Q. `bytes` has this rank's K and V; both
 * `travelling` fit the largest part; `block` is scratch, (d + 1) floats per query.
 */
void ring_forward(const struct ring *r, const float *Q, void *bytes, unsigned char *travelling[2],
                  float *block, float *O, float *lse);

#endif
