/*
 * Ring attention.                          bytes sent by a rank: 8 B Hkv d (Nk - its successor's keys)
 *
 * In step s rank r computes on the keys of rank r - s, while they are sent on and those of r - s -
 * 1 arrive. Chapter 03's merge adds a part as (lse, 1), because e^lse is the sum of all its e^x.
 *
 * Liu, Zaharia, Abbeel, "Ring Attention with Blockwise Transformers", arXiv 2310.01889.
 */
#include "05_flash_tiled_cpu/machines/ring.h"

#include "03_online_softmax/softmax_state.h"
#include "05_flash_tiled_cpu/steps/steps.h"

size_t ring_keys_bytes(const struct ring *r, const struct part *part)
{
    return r->p.B * part->rows * (2 * r->p.Hkv * r->p.d * sizeof(float) + (r->masked ? 1 : 0));
}

struct keys ring_keys(const struct ring *r, size_t owner, void *bytes)
{
    const struct part part = part_of(r->p.Nk, owner, r->ranks);
    const size_t elements = r->p.B * r->p.Hkv * part.rows * r->p.d;
    float *K = bytes, *V = K + elements;
    return (struct keys){ part, K, V, r->masked ? (uint8_t *)(V + elements) : NULL };
}

size_t ring_before(const struct ring *r, size_t distance)
{
    return (r->rank + r->ranks - distance) % r->ranks;
}

size_t ring_after(const struct ring *r, size_t distance)
{
    return (r->rank + distance) % r->ranks;
}

void ring_exchange(const struct ring *r, const void *from, size_t from_bytes, void *to,
                   size_t to_bytes, MPI_Request both[2])
{
    MPI_Irecv(to, (int)to_bytes, MPI_BYTE, (int)ring_before(r, 1), 0, r->comm, &both[0]);
    MPI_Isend(from, (int)from_bytes, MPI_BYTE, (int)ring_after(r, 1), 0, r->comm, &both[1]);
}

static struct softmax_state state_of(float lse)
{
    return (struct softmax_state){ lse, lse == -INFINITY ? 0.0f : 1.0f };
}

/* A query's O and lse take in other keys. */
static void merge(float *O, float *lse, const float *other_O, float other_lse, size_t d)
{
    const struct softmax_state mine = state_of(*lse), other = state_of(other_lse);
    const struct softmax_state both = softmax_merge(mine, other);
    const float of_mine = softmax_share(mine, both), of_other = softmax_share(other, both);
    for (size_t k = 0; k < d; k++)
        O[k] = of_mine * O[k] + of_other * other_O[k];
    *lse = both.m + logf(both.l);
}

/* Adds keys to O and lse, block by block. */
static void take_in(const struct ring *r, const float *Q, struct keys keys, float *block_O,
                    float *O, float *lse)
{
    const struct attention *p = &r->p;
    const size_t rows = r->queries.rows, d = p->d;
    float *const block_lse = block_O + rows * d;
    struct block block[BLOCKS];
    const size_t blocks = blocks_of(p, &r->queries, &keys.part, block);
    for (size_t n = 0; n < p->B * p->H * blocks; n++) {
        const size_t head = n / blocks, b = head / p->H;
        struct block *const at = &block[n % blocks];
        const size_t i = head * rows + at->i;
        const size_t j = (b * p->Hkv + kv_head(p, head % p->H)) * keys.part.rows + at->j;
        at->p.key_mask = keys.mask ? keys.mask + b * keys.part.rows + at->j : NULL;
        complete(&at->p, r->size,
                 (struct tensors){ .Q = Q + i * d,
                                   .K = keys.K + j * d,
                                   .V = keys.V + j * d,
                                   .O = block_O,
                                   .lse = block_lse });
        for (size_t row = 0; row < at->p.Nq; row++)
            merge(&O[(i + row) * d], &lse[i + row], &block_O[row * d], block_lse[row], d);
    }
}

void ring_forward(const struct ring *r, const float *Q, void *bytes, unsigned char *travelling[2],
                  float *block, float *O, float *lse)
{
    const size_t rows = r->p.B * r->p.H * r->queries.rows;
    void *at_hand = bytes;
    for (size_t k = 0; k < rows * r->p.d; k++)
        O[k] = 0.0f;
    for (size_t k = 0; k < rows; k++)
        lse[k] = -INFINITY;
    for (size_t step = 0; step < r->ranks; step++) {
        const bool last = step == r->ranks - 1;
        const struct keys keys = ring_keys(r, ring_before(r, step), at_hand);
        const struct part next = part_of(r->p.Nk, ring_before(r, step + 1), r->ranks);
        MPI_Request both[2];
        if (!last)
            ring_exchange(r, at_hand, ring_keys_bytes(r, &keys.part), travelling[step % 2],
                          ring_keys_bytes(r, &next), both);
        take_in(r, Q, keys, block, O, lse);
        if (!last)
            MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        at_hand = travelling[step % 2];
    }
}
