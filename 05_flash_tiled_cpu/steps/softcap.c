/*
 * Modified scores.                                                        dropout's accesses
 *
 *     S = score(scale Q K^T)        for example softcap: C tanh(scale Q K^T / C)
 *
 * The score changes before the mask: C tanh(-inf / C) would be -C.
 */
#include "05_flash_tiled_cpu/steps/dropout.h"
#include "05_flash_tiled_cpu/steps/fa2.h"

static void softcap_process_tile(const struct head *a, struct tile t, enum tile_kind kind,
                                 struct fast_memory *fast)
{
    // BEGIN SOLUTION
    tile_scores(fast, t, a->p->d, 1.0f);  // score_of applies the scale
    for (size_t n = 0; n < t.rows * t.cols; n++) {
        const size_t i = t.i0 + n / t.cols, j = t.j0 + n % t.cols;
        fast->S[n] = (float)score_of(a->p, a->b, a->h, i, j, (double)fast->S[n]);
    }
    dropout_process_scores(a, t, kind, fast);
    // END SOLUTION
    // STUB: (void)a, (void)t, (void)kind, (void)fast;
}

static void softcap_process_keys(const struct head *a, struct tile t, size_t Bc,
                                 struct fast_memory *fast)
{
    const size_t d = a->p->d;
    for (t.j0 = 0; t.j0 < a->p->Nk; t.j0 += Bc) {
        t.cols = min(Bc, a->p->Nk - t.j0);
        // BEGIN LATER masks
        const enum tile_kind kind =
            tile_kind(a->p, a->b, a->h, t.i0, t.i0 + t.rows, t.j0, t.j0 + t.cols);
        if (kind == TILE_SKIPPED)
            continue;
        tile_load(fast->K, a->K + t.j0 * d, t.cols * d);
        tile_load(fast->V, a->V + t.j0 * d, t.cols * d);
        softcap_process_tile(a, t, kind, fast);
        // END LATER
        // STUB: (void)fast, (void)d, (void)softcap_process_tile;
    }
}

void softcap(const struct attention *p, struct tile_size size, struct tensors x)
{
    struct fast_memory fast = fast_new(p, size);
    for (size_t n = 0; n < p->B * p->H; n++) {
        const struct head a = head_of(p, n, x);
        struct tile t = { 0 };
        for (t.i0 = 0; t.i0 < p->Nq; t.i0 += size.Br) {
            t.rows = min(size.Br, p->Nq - t.i0);
            fa2_begin(a, t, &fast);
            softcap_process_keys(&a, t, size.Bc, &fast);
            fa2_end(a, t, &fast);
        }
    }
    fast_free(&fast);
}
