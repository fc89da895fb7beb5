/*
 * Gradients of a modified score.                                                  fa2's accesses
 *
 *     S = score(x), x = Q K^T        dS = P (dP - D)        dx = dS score'(x)        dQ = dx K        dK = dx^T Q
 *
 * score'(x), which includes the scale, differs per pair, so it is applied before the products.
 */
#include "07_backward/steps/fa2.h"

static void softcap_pairs(const struct backward_head *a, struct tile t,
                          struct backward_memory *fast)
{
    tile_product(fast->P, fast->Q, fast->K, t, a->p->d);
    tile_product(fast->dS, fast->dO, fast->V, t, a->p->d);
    for (size_t n = 0; n < t.rows * t.cols; n++) {
        const size_t r = n / t.cols, i = t.i0 + r, j = t.j0 + n % t.cols;
        const double x = (double)fast->P[n];
        // BEGIN SOLUTION
        const float S = (float)score_of(a->p, a->b, a->h, i, j, x);
        const float slope = (float)score_slope(a->p, a->b, a->h, i, j, x);
        fast->P[n] = pair_weight(a, i, j, S, fast->lse[r]);
        const float dS = pair_dS(fast->P[n], fast->dS[n], fast->D[r]);
        fast->dS[n] = dS == 0.0f ? 0.0f : dS * slope;  // x of a masked pair may be NaN
        // END SOLUTION
        // STUB: (void)a, (void)r, (void)i, (void)j, (void)x;
    }
}

static void softcap_head(struct backward_head a, struct tile_size size, float *D,
                         struct backward_memory *fast)
{
    const size_t Nq = a.p->Nq, Nk = a.p->Nk, d = a.p->d;
    struct tile t = { 0 };
    for (size_t k = 0; k < Nq * d; k++)
        a.dQ[k] = 0.0f;
    fa2_D(&a, D);
    for (t.j0 = 0; t.j0 < Nk; t.j0 += size.Bc) {
        t.cols = min(size.Bc, Nk - t.j0);
        tile_load(fast->K, a.K + t.j0 * d, t.cols * d);
        tile_load(fast->V, a.V + t.j0 * d, t.cols * d);
        tile_fill(fast->dK, 0.0f, t.cols * d);
        tile_fill(fast->dV, 0.0f, t.cols * d);
        for (t.i0 = 0; t.i0 < Nq; t.i0 += size.Br) {
            t.rows = min(size.Br, Nq - t.i0);
            if (!tile_is_attended(&a, t))
                continue;
            fa2_load_queries(&a, t, D, fast);
            softcap_pairs(&a, t, fast);
            // BEGIN LATER tile
            tile_add_to_keys(fast->dV, fast->P, fast->dO, t, d);
            tile_load(fast->dQ, a.dQ + t.i0 * d, t.rows * d);
            tile_add_to_queries(fast->dQ, fast->dS, fast->K, t, d);
            tile_store(a.dQ + t.i0 * d, fast->dQ, t.rows * d);
            tile_add_to_keys(fast->dK, fast->dS, fast->Q, t, d);
            // END LATER
            // STUB: ;
        }
        tile_store(a.dK + t.j0 * d, fast->dK, t.cols * d);
        tile_store(a.dV + t.j0 * d, fast->dV, t.cols * d);
    }
}

void backward_softcap(const struct attention *p, struct tile_size size, struct tensors x)
{
    struct backward_memory fast = backward_memory_new(p, size);
    float *D = extra_slow("D", p->Nq);
    for (size_t n = 0; n < p->B * p->H; n++)
        softcap_head(backward_head_of(p, n, x), size, D, &fast);
    extra_free(D);
    backward_memory_free(&fast);
}
