/*
 * O = (scale Q K^T) V by tiles, and no softmax.                          2 Nq d + 2 Tr Nk d accesses
 *
 *     O_i = sum over j of (scale Q_i K_j^T) V_j
 *
 * Any Br and Bc give the same O. Tr = ceil(Nq / Br).
 */
#include "05_flash_tiled_cpu/steps/observe.h"

static void block_matmul_head(struct head a, struct tile_size size, struct fast_memory *fast)
{
    const size_t Nq = a.p->Nq, Nk = a.p->Nk, d = a.p->d;
    struct tile t = { 0 };
    for (t.i0 = 0; t.i0 < Nq; t.i0 += size.Br) {
        t.rows = min(size.Br, Nq - t.i0);
        tile_load(fast->Q, a.Q + t.i0 * d, t.rows * d);
        tile_fill(fast->O, 0.0f, t.rows * d);
        // BEGIN SOLUTION
        for (t.j0 = 0; t.j0 < Nk; t.j0 += size.Bc) {
            t.cols = min(size.Bc, Nk - t.j0);
            tile_load(fast->K, a.K + t.j0 * d, t.cols * d);
            tile_load(fast->V, a.V + t.j0 * d, t.cols * d);
            tile_scores(fast, t, d, a.p->scale);
            tile_add_product(fast, t, d);
        }
        // END SOLUTION
        // STUB: (void)Nk;
        tile_store(a.O + t.i0 * d, fast->O, t.rows * d);
    }
}

void block_matmul(const struct attention *p, struct tile_size size, struct tensors x)
{
    struct fast_memory fast = fast_new(p, size);
    for (size_t n = 0; n < p->B * p->H; n++)
        block_matmul_head(head_of(p, n, x), size, &fast);
    fast_free(&fast);
}
