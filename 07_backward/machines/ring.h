#ifndef BACKWARD_RING_H
#define BACKWARD_RING_H

#include "05_flash_tiled_cpu/machines/ring.h"
#include "07_backward/steps/steps.h"

/*
 * For the largest part: K and V of two travelling parts; their dK and dV, and this rank's
 * addition, (2, B, Hkv, rows, d); dQ, dK and dV of one block.
 */
struct ring_room {
    unsigned char *keys[2];
    float *sums[2], *mine, *block;
};

/*
 * This rank's dQ (B, H, rows, d), and its dK, then dV. `in` has Q, O, lse and dO, `bytes` its K
 * and V.
 */
void ring_backward(const struct ring *r, struct tensors in, void *bytes, struct ring_room room,
                   float *dQ, float *dK_and_dV);

/* Floats of dK and dV. */
size_t ring_sums(const struct ring *r, const struct part *part);

#endif
