/*
 * Two passes.       5 Nq d + 3 Nq + 4 Nk d + Tc (2 Nq d + 2 Nq) + 2 Tr Nk d accesses
 *
 * One pass has keys in the outer loop, for dK and dV, one queries, for dQ. Outer iterations are
 * independent, and every sum's order is fixed, but both passes compute S and dP: 7 products, not 5.
 */
#include "07_backward/steps/fa2.h"

static void split_keys(const struct backward_head *a, struct tile_size size, const float *D,
                       struct backward_memory *fast)
{
    const size_t d = a->p->d;
    struct tile t = { 0 };
    for (t.j0 = 0; t.j0 < a->p->Nk; t.j0 += size.Bc) {
        t.cols = min(size.Bc, a->p->Nk - t.j0);
        tile_load(fast->K, a->K + t.j0 * d, t.cols * d);
        tile_load(fast->V, a->V + t.j0 * d, t.cols * d);
        tile_fill(fast->dK, 0.0f, t.cols * d);
        tile_fill(fast->dV, 0.0f, t.cols * d);
        for (t.i0 = 0; t.i0 < a->p->Nq; t.i0 += size.Br) {
            t.rows = min(size.Br, a->p->Nq - t.i0);
            if (!tile_is_attended(a, t))
                continue;
            fa2_load_queries(a, t, D, fast);
            fa2_pairs(a, t, fast);
            tile_add_to_keys(fast->dV, fast->P, fast->dO, t, d);
            tile_add_to_keys(fast->dK, fast->dS, fast->Q, t, d);
        }
        tile_scale(fast->dK, a->p->scale, t.cols * d);
        tile_store(a->dK + t.j0 * d, fast->dK, t.cols * d);
        tile_store(a->dV + t.j0 * d, fast->dV, t.cols * d);
    }
}

static void split_queries(const struct backward_head *a, struct tile_size size, const float *D,
                          struct backward_memory *fast)
{
    const size_t d = a->p->d;
    struct tile t = { 0 };
    for (t.i0 = 0; t.i0 < a->p->Nq; t.i0 += size.Br) {
        t.rows = min(size.Br, a->p->Nq - t.i0);
        fa2_load_queries(a, t, D, fast);
        tile_fill(fast->dQ, 0.0f, t.rows * d);
        for (t.j0 = 0; t.j0 < a->p->Nk; t.j0 += size.Bc) {
            t.cols = min(size.Bc, a->p->Nk - t.j0);
            if (!tile_is_attended(a, t))
                continue;
            tile_load(fast->K, a->K + t.j0 * d, t.cols * d);
            tile_load(fast->V, a->V + t.j0 * d, t.cols * d);
            fa2_pairs(a, t, fast);
            tile_add_to_queries(fast->dQ, fast->dS, fast->K, t, d);
        }
        tile_scale(fast->dQ, a->p->scale, t.rows * d);
        tile_store(a->dQ + t.i0 * d, fast->dQ, t.rows * d);
    }
}

void backward_split(const struct attention *p, struct tile_size size, struct tensors x)
{
    struct backward_memory fast = backward_memory_new(p, size);
    float *D = extra_slow("D", p->Nq);
    for (size_t n = 0; n < p->B * p->H; n++) {
        const struct backward_head a = backward_head_of(p, n, x);
        fa2_D(&a, D);
        split_keys(&a, size, D, &fast);
        split_queries(&a, size, D, &fast);
    }
    extra_free(D);
    backward_memory_free(&fast);
}
