/*
 * FlashAttention, backward.                  Nq d + 4 Nk d + Tc (5 Nq d + 2 Nq) accesses
 *
 * K and V are in the outer loop: dQ_i is reloaded for every block of keys.
 *
 * Margin: FlashAttention (arXiv 2205.14135), Algorithm 4. We have no random state (line 1), and
 * clear no dK and dV (line 5): line 24 stores all of them.
 */
#include "07_backward/steps/tile.h"

// clang-format off

/* 1/(1 - p->dropout) if the pair is kept, else 0. */
static float dropout_factor(const struct backward_head *a, size_t i, size_t j)
{
    if (a->p->dropout_threshold == 0)
        return 1.0f;
    return dropout_keeps(a->p, a->b, a->h, i, j) ? (float)(1.0 / (1.0 - a->p->dropout)) : 0.0f;
}

/* Turns Q K^T into P_drop, and dP into dS, unscaled. */
static void fa1_pairs(const struct backward_head *a, struct tile t, struct backward_memory *fast)
{
    for (size_t n = 0; n < t.rows * t.cols; n++) {
        const size_t r = n / t.cols, i = t.i0 + r, j = t.j0 + n % t.cols;
        // BEGIN SOLUTION
        float P = pair_weight(a, i, j, a->p->scale * fast->P[n], fast->m[r]);  // 11, 12
        P = P == 0.0f ? 0.0f : P / fast->l[r];                                 // 13
        const float Z = dropout_factor(a, i, j);                               // 14
        fast->P[n] = P * Z;                                                    // 15
        fast->dS[n] = pair_dS(P, fast->dS[n] * Z, fast->D[r]);                 // 18, 20
        // END SOLUTION
        // STUB: (void)i, (void)j, (void)a, (void)fast, (void)dropout_factor;
    }
}

static void fa1_tile(const struct backward_head *a, struct tile t, struct backward_memory *fast)
{
    const size_t d = a->p->d;
    tile_load(fast->Q, a->Q + t.i0 * d, t.rows * d);                           // 10
    tile_load(fast->O, a->O + t.i0 * d, t.rows * d);
    tile_load(fast->dO, a->dO + t.i0 * d, t.rows * d);
    tile_load(fast->dQ, a->dQ + t.i0 * d, t.rows * d);
    tile_load(fast->l, a->l + t.i0, t.rows);
    tile_load(fast->m, a->m + t.i0, t.rows);
    tile_product(fast->P, fast->Q, fast->K, t, d);                             // 11
    tile_product(fast->dS, fast->dO, fast->V, t, d);                           // 17
    for (size_t r = 0; r < t.rows; r++) {                                      // 19
        fast->D[r] = 0.0f;
        for (size_t k = 0; k < d; k++)
            fast->D[r] += fast->dO[r * d + k] * fast->O[r * d + k];
    }
    fa1_pairs(a, t, fast);                                                     // 12 to 15, 18, 20
    tile_add_to_keys(fast->dV, fast->P, fast->dO, t, d);                       // 16
    tile_scale(fast->dS, a->p->scale, t.rows * t.cols);
    tile_add_to_queries(fast->dQ, fast->dS, fast->K, t, d);                    // 21
    tile_store(a->dQ + t.i0 * d, fast->dQ, t.rows * d);
    tile_add_to_keys(fast->dK, fast->dS, fast->Q, t, d);                       // 22
}

static void fa1_head(struct backward_head a, struct tile_size size, struct backward_memory *fast)
{
    const size_t Nq = a.p->Nq, Nk = a.p->Nk, d = a.p->d;
    struct tile t = { 0 };
    for (size_t k = 0; k < Nq * d; k++)                                        // 5
        a.dQ[k] = 0.0f;
    for (t.j0 = 0; t.j0 < Nk; t.j0 += size.Bc) {                               // 6
        t.cols = min(size.Bc, Nk - t.j0);
        tile_load(fast->K, a.K + t.j0 * d, t.cols * d);                        // 7
        tile_load(fast->V, a.V + t.j0 * d, t.cols * d);
        tile_fill(fast->dK, 0.0f, t.cols * d);                                 // 8
        tile_fill(fast->dV, 0.0f, t.cols * d);
        for (t.i0 = 0; t.i0 < Nq; t.i0 += size.Br) {                           // 9
            t.rows = min(size.Br, Nq - t.i0);
            if (tile_is_attended(&a, t))
                fa1_tile(&a, t, fast);                                         // 10 to 22
        }
        tile_store(a.dK + t.j0 * d, fast->dK, t.cols * d);                     // 24
        tile_store(a.dV + t.j0 * d, fast->dV, t.cols * d);
    }
}

// clang-format on

void backward_fa1(const struct attention *p, struct tile_size size, struct tensors x)
{
    struct backward_memory fast = backward_memory_new(p, size);
    for (size_t n = 0; n < p->B * p->H; n++)
        fa1_head(backward_head_of(p, n, x), size, &fast);
    backward_memory_free(&fast);
}
