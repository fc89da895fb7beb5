/*
 * Ring attention, backward.      bytes sent by a rank: 8 B Hkv d (2 Nk - its successor's keys)
 *
 * Queries stay, with O, lse and dO; K and V travel. lse covers all keys, so P = e^{S - lse}. dK
 * and dV follow their keys one step later, each rank adds its own, and a last message returns
 * them: the ring fixes the order of the sums.
 */
#include "07_backward/machines/ring.h"

#include <string.h>

enum { SUMS_TAG = 1 };

size_t ring_sums(const struct ring *r, const struct part *part)
{
    return 2 * r->p.B * r->p.Hkv * part->rows * r->p.d;
}

static void add(float *sum, const float *x, size_t n)
{
    for (size_t k = 0; k < n; k++)
        sum[k] += x[k];
}

/* Adds to the queries' dQ, and to dK and dV of these keys, in `mine`. */
static void take_in(const struct ring *r, struct tensors in, struct keys keys, float *block,
                    float *dQ, float *mine)
{
    const struct attention *p = &r->p;
    const size_t rows = r->queries.rows, d = p->d;
    float *const dK = mine, *const dV = mine + ring_sums(r, &keys.part) / 2;
    struct block blocks[BLOCKS];
    const size_t count = blocks_of(p, &r->queries, &keys.part, blocks);
    for (size_t n = 0; n < p->B * p->H * count; n++) {
        const size_t head = n / count, b = head / p->H;
        struct block *const at = &blocks[n % count];
        const size_t i = head * rows + at->i;
        const size_t j = (b * p->Hkv + kv_head(p, head % p->H)) * keys.part.rows + at->j;
        const struct tensors of_block = {
            .Q = in.Q + i * d,
            .K = keys.K + j * d,
            .V = keys.V + j * d,
            .O = in.O + i * d,
            .lse = in.lse + i,
            .dO = in.dO + i * d,
            .dQ = block,
            .dK = block + at->p.Nq * d,
            .dV = block + (at->p.Nq + at->p.Nk) * d,
        };
        at->p.key_mask = keys.mask ? keys.mask + b * keys.part.rows + at->j : NULL;
        backward_complete(&at->p, r->size, of_block);
        add(dQ + i * d, of_block.dQ, at->p.Nq * d);
        add(dK + j * d, of_block.dK, at->p.Nk * d);
        add(dV + j * d, of_block.dV, at->p.Nk * d);
    }
}

static void send_sums(const struct ring *r, const float *sums, const struct part *part,
                      MPI_Request *request)
{
    MPI_Isend(sums, (int)ring_sums(r, part), MPI_FLOAT, (int)ring_after(r, 1), SUMS_TAG, r->comm,
              request);
}

static void receive_sums(const struct ring *r, float *sums, const struct part *part,
                         MPI_Request *request)
{
    MPI_Irecv(sums, (int)ring_sums(r, part), MPI_FLOAT, (int)ring_before(r, 1), SUMS_TAG, r->comm,
              request);
}

void ring_backward(const struct ring *r, struct tensors in, void *bytes, struct ring_room room,
                   float *dQ, float *dK_and_dV)
{
    const struct part own = part_of(r->p.Nk, r->rank, r->ranks);
    MPI_Request both[2], sums[2];  // of K and V; of dK and dV: receive, send
    void *at_hand = bytes;
    memset(dQ, 0, r->p.B * r->p.H * r->queries.rows * r->p.d * sizeof *dQ);
    for (size_t step = 0; step < r->ranks; step++) {
        const bool last = step == r->ranks - 1;
        const struct keys keys = ring_keys(r, ring_before(r, step), at_hand);
        const struct part next = part_of(r->p.Nk, ring_before(r, step + 1), r->ranks);
        float *const sum = room.sums[step % 2];
        memset(step == 0 ? sum : room.mine, 0, ring_sums(r, &keys.part) * sizeof *sum);
        if (!last)
            ring_exchange(r, at_hand, ring_keys_bytes(r, &keys.part), room.keys[step % 2],
                          ring_keys_bytes(r, &next), both);
        if (step > 0)
            receive_sums(r, sum, &keys.part, &sums[0]);
        take_in(r, in, keys, room.block, dQ, step == 0 ? sum : room.mine);
        if (step > 0) {
            MPI_Waitall(2, sums, MPI_STATUSES_IGNORE);
            add(sum, room.mine, ring_sums(r, &keys.part));
        }
        send_sums(r, sum, &keys.part, &sums[1]);
        if (!last)
            MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        at_hand = room.keys[step % 2];
    }
    receive_sums(r, dK_and_dV, &own, &sums[0]);
    MPI_Waitall(2, sums, MPI_STATUSES_IGNORE);
}
