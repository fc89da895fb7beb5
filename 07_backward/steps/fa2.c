/*
 * FlashAttention-2, backward.       3 Nq d + Nq + 4 Nk d + Tc (4 Nq d + 2 Nq) accesses
 *
 * lse replaces m and l, so P needs no division. D is computed once, before the loops.
 *
 * Margin: FlashAttention-2 (arXiv 2307.08691), Algorithm 2. (Its line 9 loads an unused O_i, and it
 * leaves out the scale.)
 */
#include "07_backward/steps/fa2.h"

// clang-format off

void fa2_D(const struct backward_head *a, float *D)
{
    const size_t d = a->p->d;
    for (size_t i = 0; i < a->p->Nq; i++) {                                    // 4
        float sum = 0.0f;
        for (size_t k = 0; k < d; k++)
            sum += a->dO[i * d + k] * a->O[i * d + k];
        D[i] = sum;
    }
}

void fa2_load_queries(const struct backward_head *a, struct tile t, const float *D,
                      struct backward_memory *fast)
{
    const size_t d = a->p->d;
    tile_load(fast->Q, a->Q + t.i0 * d, t.rows * d);                           // 9
    tile_load(fast->dO, a->dO + t.i0 * d, t.rows * d);
    tile_load(fast->lse, a->lse + t.i0, t.rows);
    tile_load(fast->D, D + t.i0, t.rows);
}

void fa2_pairs(const struct backward_head *a, struct tile t, struct backward_memory *fast)
{
    tile_product(fast->P, fast->Q, fast->K, t, a->p->d);                       // 10
    tile_product(fast->dS, fast->dO, fast->V, t, a->p->d);                     // 13
    for (size_t n = 0; n < t.rows * t.cols; n++) {
        const size_t r = n / t.cols, i = t.i0 + r, j = t.j0 + n % t.cols;
        fast->P[n] = pair_weight(a, i, j, a->p->scale * fast->P[n], fast->lse[r]);  // 11
        fast->dS[n] = pair_dS(fast->P[n], fast->dS[n], fast->D[r]);            // 14
    }
}

static void fa2_tile(const struct backward_head *a, struct tile t, const float *D,
                     struct backward_memory *fast)
{
    const size_t d = a->p->d;
    fa2_load_queries(a, t, D, fast);                                           // 9
    fa2_pairs(a, t, fast);                                                     // 10, 11, 13, 14
    // BEGIN SOLUTION
    tile_add_to_keys(fast->dV, fast->P, fast->dO, t, d);                       // 12
    tile_load(fast->dQ, a->dQ + t.i0 * d, t.rows * d);                         // 15
    tile_scale(fast->dS, a->p->scale, t.rows * t.cols);
    tile_add_to_queries(fast->dQ, fast->dS, fast->K, t, d);
    tile_store(a->dQ + t.i0 * d, fast->dQ, t.rows * d);
    tile_add_to_keys(fast->dK, fast->dS, fast->Q, t, d);                       // 16
    // END SOLUTION
    // STUB: (void)d;
}

static void fa2_head(struct backward_head a, struct tile_size size, float *D,
                     struct backward_memory *fast)
{
    const size_t Nq = a.p->Nq, Nk = a.p->Nk, d = a.p->d;
    struct tile t = { 0 };
    for (size_t k = 0; k < Nq * d; k++)                                        // 3
        a.dQ[k] = 0.0f;
    fa2_D(&a, D);                                                              // 4
    for (t.j0 = 0; t.j0 < Nk; t.j0 += size.Bc) {                               // 5
        t.cols = min(size.Bc, Nk - t.j0);
        tile_load(fast->K, a.K + t.j0 * d, t.cols * d);                        // 6
        tile_load(fast->V, a.V + t.j0 * d, t.cols * d);
        tile_fill(fast->dK, 0.0f, t.cols * d);                                 // 7
        tile_fill(fast->dV, 0.0f, t.cols * d);
        for (t.i0 = 0; t.i0 < Nq; t.i0 += size.Br) {                           // 8
            t.rows = min(size.Br, Nq - t.i0);
            if (tile_is_attended(&a, t))
                fa2_tile(&a, t, D, fast);                                      // 9 to 16
        }
        tile_store(a.dK + t.j0 * d, fast->dK, t.cols * d);                     // 18
        tile_store(a.dV + t.j0 * d, fast->dV, t.cols * d);
    }
}

// clang-format on

void backward_fa2(const struct attention *p, struct tile_size size, struct tensors x)
{
    struct backward_memory fast = backward_memory_new(p, size);
    float *D = extra_slow("D", p->Nq);
    for (size_t n = 0; n < p->B * p->H; n++)
        fa2_head(backward_head_of(p, n, x), size, D, &fast);
    extra_free(D);
    backward_memory_free(&fast);
}
