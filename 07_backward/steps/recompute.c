/*
 * Recomputation.                              6 d per unmasked pair + 4 Nq d + 2 Nk d + Nq accesses
 *
 * The forward pass keeps O and lse = m + ln l instead of P:
 *
 *     P_ij = e^{S_ij - lse_i}          D_i = sum over j of P_ij dP_ij = dO_i.O_i
 *
 * dO_i.O_i needs no pairs, so one pass is enough. dK and dV are updated in slow memory for every
 * pair, and cleared per query head, so Hkv = H.
 */
#include "07_backward/steps/tile.h"

/* x += factor y; x is in slow memory, y in fast memory. */
static void add_to(float *x, float factor, const float *y, size_t d)
{
    for (size_t k = 0; k < d; k++)
        x[k] += factor * y[k];
}

static void recompute_pair(const struct backward_head *a, size_t i, size_t j,
                           struct backward_memory *fast)
{
    const size_t d = a->p->d;
    const struct tile one = { .i0 = i, .rows = 1, .j0 = j, .cols = 1 };
    float x, dP;
    tile_load(fast->K, a->K + j * d, d);
    tile_load(fast->V, a->V + j * d, d);
    tile_product(&x, fast->Q, fast->K, one, d);
    tile_product(&dP, fast->dO, fast->V, one, d);
    // BEGIN SOLUTION
    const float P = pair_weight(a, i, j, a->p->scale * x, *fast->lse);
    const float dS = pair_dS(P, dP, *fast->D);
    add_to(a->dV + j * d, P, fast->dO, d);
    add_to(a->dK + j * d, a->p->scale * dS, fast->Q, d);
    tile_add_to_queries(fast->dQ, &dS, fast->K, one, d);
    // END SOLUTION
    // STUB: (void)x, (void)dP, (void)add_to;
}

static void recompute_query(const struct backward_head *a, size_t i, struct backward_memory *fast)
{
    const size_t d = a->p->d;
    tile_load(fast->Q, a->Q + i * d, d);
    tile_load(fast->O, a->O + i * d, d);
    tile_load(fast->dO, a->dO + i * d, d);
    tile_load(fast->lse, a->lse + i, 1);
    tile_fill(fast->dQ, 0.0f, d);
    *fast->D = 0.0f;
    for (size_t k = 0; k < d; k++)
        *fast->D += fast->dO[k] * fast->O[k];
    for (size_t j = 0; j < a->p->Nk; j++)
        if (visible(a->p, a->b, a->h, i, j))
            recompute_pair(a, i, j, fast);
    tile_scale(fast->dQ, a->p->scale, d);
    tile_store(a->dQ + i * d, fast->dQ, d);
}

void backward_recompute(const struct attention *p, struct tile_size size, struct tensors x)
{
    (void)size;
    struct backward_memory fast = backward_memory_new(p, (struct tile_size){ 1, 1 });
    for (size_t n = 0; n < p->B * p->H; n++) {
        const struct backward_head a = backward_head_of(p, n, x);
        for (size_t k = 0; k < p->Nk * p->d; k++) {
            a.dK[k] = 0.0f;
            a.dV[k] = 0.0f;
        }
        for (size_t i = 0; i < p->Nq; i++)
            recompute_query(&a, i, &fast);
    }
    backward_memory_free(&fast);
}
