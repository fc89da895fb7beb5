/*
 * Few queries, many keys.         dropout's accesses + (splits - 1) Nq d + splits Nq (2 d + 4)
 *
 * A tile of queries is work for only one thread, so we split the keys (complete: over
 * threads), and combine their m, l and O:
 *
 *     m = max(m_a, m_b)
 *     l = l_a e^{m_a - m} + l_b e^{m_b - m}
 *     O = O_a e^{m_a - m} + O_b e^{m_b - m}
 *
 * "Flash-Decoding": Dao, Haziza, Massa, Sizov, 2023.
 */
#include "05_flash_tiled_cpu/steps/split_kv.h"

#include "03_online_softmax/softmax_state.h"
#include "05_flash_tiled_cpu/steps/dropout.h"
#include "05_flash_tiled_cpu/steps/fa2.h"

void split_combine(struct split *a, const struct split *b, size_t d)
{
    // BEGIN SOLUTION
    const struct softmax_state state =
        softmax_merge((struct softmax_state){ a->m, a->l }, (struct softmax_state){ b->m, b->l });
    const float factor_a = exp_minus(a->m, state.m), factor_b = exp_minus(b->m, state.m);
    for (size_t k = 0; k < d; k++)
        a->o[k] = a->o[k] * factor_a + b->o[k] * factor_b;
    a->m = state.m;
    a->l = state.l;
    // END SOLUTION
    // STUB: (void)a, (void)b, (void)d;
}

void splits_store(const struct splits *splits, size_t s, struct head a, struct tile t,
                  const struct fast_memory *fast)
{
    const size_t d = a.p->d, first = (a.b * a.p->H + a.h) * a.p->Nq + t.i0;
    for (size_t r = 0; r < t.rows; r++) {
        const size_t n = (first + r) * splits->count + s;
        splits->m[n] = fast->m[r];
        splits->l[n] = fast->l[r];
        tile_store(splits->O + n * d, fast->O + r * d, d);
    }
}

void splits_finish(const struct splits *splits, struct head a, size_t i)
{
    const size_t d = a.p->d, first = ((a.b * a.p->H + a.h) * a.p->Nq + i) * splits->count;
    struct split whole = { .m = -INFINITY }, split;
    for (size_t n = first; n < first + splits->count; n++) {
        split.m = splits->m[n];
        split.l = splits->l[n];
        tile_load(split.o, splits->O + n * d, d);
        split_combine(&whole, &split, d);
    }
    struct fast_memory row = { .m = &whole.m, .l = &whole.l, .O = whole.o };
    fa2_end(a, (struct tile){ .i0 = i, .rows = 1 }, &row);
}

void split_kv(const struct attention *p, struct tile_size size, struct tensors x)
{
    struct fast_memory fast = fast_new(p, size);
    struct splits splits = splits_new(p);
    for (size_t n = 0; n < p->B * p->H; n++) {
        const struct head a = head_of(p, n, x);
        struct tile t = { 0 };
        for (size_t s = 0; s < splits.count; s++)
            for (t.i0 = 0; t.i0 < p->Nq; t.i0 += size.Br) {
                t.rows = min(size.Br, p->Nq - t.i0);
                fa2_begin(a, t, &fast);
                dropout_process_keys(a, t, splits_begin(&splits, p, s),
                                     splits_begin(&splits, p, s + 1), size.Bc, &fast);
                splits_store(&splits, s, a, t, &fast);
            }
        for (size_t i = 0; i < p->Nq; i++)
            splits_finish(&splits, a, i);
    }
    splits_free(&splits);
    fast_free(&fast);
}
