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

/* For a tile of queries: m and l (Br, count), O (Br, count, d). */
struct splits {
    size_t count;
    float *m, *l, *O;
};

static void store_split(const struct splits *splits, size_t s, struct tile t, size_t d,
                        const struct fast_memory *fast)
{
    for (size_t r = 0; r < t.rows; r++) {
        const size_t n = r * splits->count + s;
        splits->m[n] = fast->m[r];
        splits->l[n] = fast->l[r];
        tile_store(splits->O + n * d, fast->O + r * d, d);
    }
}

static void combine_row(const struct splits *splits, size_t r, struct head a, size_t i)
{
    const size_t d = a.p->d, first = r * splits->count;
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
    const size_t n = min(size.Br, p->Nq) * split_count(p);
    struct fast_memory fast = fast_new(p, size);
    struct splits splits = { split_count(p), extra_slow("split m", n), extra_slow("split l", n),
                             extra_slow("split O", n * p->d) };
    for (size_t head = 0; head < p->B * p->H; head++) {
        const struct head a = head_of(p, head, x);
        struct tile t = { 0 };
        for (t.i0 = 0; t.i0 < p->Nq; t.i0 += size.Br) {
            t.rows = min(size.Br, p->Nq - t.i0);
            for (size_t s = 0; s < splits.count; s++) {
                fa2_begin(a, t, &fast);
                dropout_process_keys(a, t, s * SPLIT_KEYS, min((s + 1) * SPLIT_KEYS, p->Nk),
                                     size.Bc, &fast);
                store_split(&splits, s, t, p->d, &fast);
            }
            for (size_t r = 0; r < t.rows; r++)
                combine_row(&splits, r, a, t.i0 + r);
        }
    }
    extra_free(splits.m);
    extra_free(splits.l);
    extra_free(splits.O);
    fast_free(&fast);
}
