/*
 * Masks.                    2 Nq d + Nq + 2 d for each key of each tile that is not skipped
 *
 * Kinds of tiles (attention.h):
 *
 *     SKIPPED   every pair is masked: K_j and V_j are not loaded
 *     PARTIAL   masked scores become -inf, so their weights are exactly 0
 *     FULL      fa2's inner step, unchanged
 *
 * FlashAttention's Algorithm 5 (arXiv 2205.14135), for any size of blocks.
 */
#include "05_flash_tiled_cpu/steps/masks.h"

#include "05_flash_tiled_cpu/steps/fa2.h"
#include "05_flash_tiled_cpu/steps/observe.h"

#include <math.h>

void masks_apply(const struct head *a, struct tile t, struct fast_memory *fast)
{
    for (size_t r = 0; r < t.rows; r++)
        for (size_t c = 0; c < t.cols; c++)
            if (!visible(a->p, a->b, a->h, t.i0 + r, t.j0 + c))
                fast->S[r * t.cols + c] = -INFINITY;
}

void masks_add_product(const struct head *a, struct tile t, struct fast_memory *fast)
{
    const size_t d = a->p->d;
    for (size_t r = 0; r < t.rows; r++)
        for (size_t c = 0; c < t.cols; c++) {
            if (!visible(a->p, a->b, a->h, t.i0 + r, t.j0 + c))
                continue;
            for (size_t k = 0; k < d; k++)
                fast->O[r * d + k] += fast->S[r * t.cols + c] * fast->V[c * d + k];
        }
}

static void masks_head(struct head a, struct tile_size size, struct fast_memory *fast)
{
    const size_t Nq = a.p->Nq, Nk = a.p->Nk, d = a.p->d;
    struct tile t = { 0 };
    for (t.i0 = 0; t.i0 < Nq; t.i0 += size.Br) {
        t.rows = min(size.Br, Nq - t.i0);
        fa2_begin(a, t, fast);
        for (t.j0 = 0; t.j0 < Nk; t.j0 += size.Bc) {
            t.cols = min(size.Bc, Nk - t.j0);
            // BEGIN SOLUTION
            const enum tile_kind kind =
                tile_kind(a.p, a.b, a.h, t.i0, t.i0 + t.rows, t.j0, t.j0 + t.cols);
            if (kind == TILE_SKIPPED)
                continue;
            tile_load(fast->K, a.K + t.j0 * d, t.cols * d);
            tile_load(fast->V, a.V + t.j0 * d, t.cols * d);
            tile_scores(fast, t, d, a.p->scale);
            if (kind == TILE_PARTIAL)
                masks_apply(&a, t, fast);
            observe(SCORED, &a, t, fast);
            fa2_softmax(fast, t, d);
            if (kind == TILE_PARTIAL)
                masks_add_product(&a, t, fast);
            else
                tile_add_product(fast, t, d);
            observe(DONE, &a, t, fast);
            // END SOLUTION
            // STUB: (void)d;
        }
        fa2_end(a, t, fast);
    }
}

void masks(const struct attention *p, struct tile_size size, struct tensors x)
{
    struct fast_memory fast = fast_new(p, size);
    for (size_t n = 0; n < p->B * p->H; n++)
        masks_head(head_of(p, n, x), size, &fast);
    fast_free(&fast);
}
