/*
 * The backward pass on several machines.
 */
#ifndef BACKWARD_RING_H
#define BACKWARD_RING_H

#include "05_flash_tiled_cpu/machines/ring.h"
#include "07_backward/steps/steps.h"

/*
 * Rooms for what a rank does not keep: K and V of two parts that travel; dK and dV of two parts that travel, and what this rank
 * adds to them, (2, B, Hkv, rows, d) each; and dQ, dK and dV of one block. All are for the largest part.
 */
struct ring_room {
    unsigned char *keys[2];
    float *sums[2], *mine, *block;
};

/*
 * The gradients by this rank's queries, (B, H, rows, d), and by its keys and values, one after the other. `in` has what belongs
 * to the queries: Q, O, lse and dO. `bytes` has this rank's own K and V.
 */
void ring_backward(const struct ring *r, struct tensors in, void *bytes, struct ring_room room,
                   float *dQ, float *dK_and_dV);

/* The elements of a part's dK and dV. */
size_t ring_sums(const struct ring *r, const struct part *part);

#endif
