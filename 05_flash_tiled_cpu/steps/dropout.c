/*
 * Dropout.                                                              masks' accesses
 *
 *     O = Dropout(softmax(Mask(S))) V      each weight kept with probability 1 - p, times 1/(1 - p)
 *
 * l is summed before any weight is dropped. The mask would be as large as S, so decisions are
 * recomputed (dropout_keeps).
 */
#include "05_flash_tiled_cpu/steps/dropout.h"

#include "05_flash_tiled_cpu/steps/fa2.h"
#include "05_flash_tiled_cpu/steps/masks.h"
#include "05_flash_tiled_cpu/steps/observe.h"

static void apply_dropout(const struct head *a, struct tile t, struct fast_memory *fast)
{
    const struct attention *p = a->p;
    const float factor = (float)(1.0 / (1.0 - p->dropout));
    for (size_t r = 0; r < t.rows; r++)
        for (size_t c = 0; c < t.cols; c++) {
            const bool keep = dropout_keeps(p, a->b, a->h, t.i0 + r, t.j0 + c);
            fast->S[r * t.cols + c] *= keep ? factor : 0.0f;
        }
}

void dropout_process_scores(const struct head *a, struct tile t, enum tile_kind kind,
                            struct fast_memory *fast)
{
    // BEGIN LATER masks
    if (kind == TILE_PARTIAL)
        masks_apply(a, t, fast);
    observe(SCORED, a, t, fast);
    fa2_softmax(fast, t, a->p->d);
    // BEGIN SOLUTION
    if (a->p->dropout_threshold > 0)
        apply_dropout(a, t, fast);
    // END SOLUTION
    // STUB: (void)apply_dropout;
    if (kind == TILE_PARTIAL)
        masks_add_product(a, t, fast);
    else
        tile_add_product(fast, t, a->p->d);
    observe(DONE, a, t, fast);
    // END LATER
    // STUB: (void)apply_dropout, (void)a, (void)t, (void)kind, (void)fast;  // add what you wrote in masks.c here too
}

void dropout_process_keys(struct head a, struct tile t, size_t begin, size_t end, size_t Bc,
                          struct fast_memory *fast)
{
    const size_t d = a.p->d;
    for (t.j0 = begin; t.j0 < end; t.j0 += Bc) {
        t.cols = min(Bc, end - t.j0);
        // BEGIN LATER masks
        const enum tile_kind kind =
            tile_kind(a.p, a.b, a.h, t.i0, t.i0 + t.rows, t.j0, t.j0 + t.cols);
        if (kind == TILE_SKIPPED)
            continue;
        tile_load(fast->K, a.K + t.j0 * d, t.cols * d);
        tile_load(fast->V, a.V + t.j0 * d, t.cols * d);
        tile_scores(fast, t, d, a.p->scale);
        dropout_process_scores(&a, t, kind, fast);
        // END LATER
        // STUB: (void)fast, (void)d;  // and here
    }
}

void dropout(const struct attention *p, struct tile_size size, struct tensors x)
{
    struct fast_memory fast = fast_new(p, size);
    for (size_t n = 0; n < p->B * p->H; n++) {
        const struct head a = head_of(p, n, x);
        struct tile t = { 0 };
        for (t.i0 = 0; t.i0 < p->Nq; t.i0 += size.Br) {
            t.rows = min(size.Br, p->Nq - t.i0);
            fa2_begin(a, t, &fast);
            dropout_process_keys(a, t, 0, p->Nk, size.Bc, &fast);
            fa2_end(a, t, &fast);
        }
    }
    fast_free(&fast);
}
