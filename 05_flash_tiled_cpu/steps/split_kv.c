/*
 * Few queries, many keys.         dropout's accesses + (parts - 1) Nq d + parts Nq (2 d + 4)
 *
 * A model that writes a text asks one query at a time, and it sees all keys so far. One tile of
 * queries is work for one thread only. So the keys are cut in parts instead. Each part has m, l and O
 * of its own, as if there were no other keys, and chapter 03's merge joins them:
 *
 *     m = max(m_a, m_b)
 *     l = l_a e^{m_a - m} + l_b e^{m_b - m}
 *     O = O_a e^{m_a - m} + O_b e^{m_b - m}
 *
 * The parts do not have to know one another, so each can be a thread's, a warp's or a machine's.
 * ("Flash-decoding" by its authors: Dao, Haziza, Massa, Sizov, 2023.)
 */
#include "05_flash_tiled_cpu/steps/split_kv.h"

#include "03_online_softmax/softmax_state.h"
#include "05_flash_tiled_cpu/steps/dropout.h"
#include "05_flash_tiled_cpu/steps/fa2.h"

void part_join(struct part *a, const struct part *b, size_t d)
{
    // BEGIN SOLUTION
    const struct softmax_state state =
        softmax_merge((struct softmax_state){ a->m, a->l }, (struct softmax_state){ b->m, b->l });
    const float of_a = exp_minus(a->m, state.m), of_b = exp_minus(b->m, state.m);
    for (size_t k = 0; k < d; k++)
        a->o[k] = a->o[k] * of_a + b->o[k] * of_b;
    a->m = state.m;
    a->l = state.l;
    // END SOLUTION
    // STUB: (void)a, (void)b, (void)d;
}

void parts_keep(const struct parts *parts, size_t s, struct head a, struct tile t,
                const struct fast_memory *fast)
{
    const size_t d = a.p->d, first = (a.b * a.p->H + a.h) * a.p->Nq + t.i0;
    for (size_t r = 0; r < t.rows; r++) {
        const size_t n = (first + r) * parts->count + s;
        store(&parts->m[n], fast->m[r]);
        store(&parts->l[n], fast->l[r]);
        tile_store(parts->O + n * d, fast->O + r * d, d);
    }
}

void parts_finish(const struct parts *parts, struct head a, size_t i)
{
    const size_t d = a.p->d, first = ((a.b * a.p->H + a.h) * a.p->Nq + i) * parts->count;
    struct part whole = { .m = -INFINITY }, part;
    for (size_t n = first; n < first + parts->count; n++) {
        part.m = load(&parts->m[n]);
        part.l = load(&parts->l[n]);
        tile_load(part.o, parts->O + n * d, d);
        part_join(&whole, &part, d);
    }
    struct fast_memory row = { .m = &whole.m, .l = &whole.l, .O = whole.o };
    fa2_end(a, (struct tile){ .i0 = i, .rows = 1 }, &row);
}

void split_kv(const struct attention *p, struct tile_size size, const float *Q, const float *K,
              const float *V, float *O, float *lse)
{
    struct fast_memory fast = fast_new(p, size);
    struct parts parts = parts_new(p);
    for (size_t n = 0; n < p->B * p->H; n++) {
        const struct head a = head_of(p, n, Q, K, V, O, lse);
        struct tile t = { 0 };
        for (size_t s = 0; s < parts.count; s++)
            for (t.i0 = 0; t.i0 < p->Nq; t.i0 += size.Br) {
                t.rows = min(size.Br, p->Nq - t.i0);
                fa2_begin(a, t, &fast);
                dropout_see(a, t, parts_begin(&parts, p, s), parts_begin(&parts, p, s + 1), size.Bc,
                            &fast);
                parts_keep(&parts, s, a, t, &fast);
            }
        for (size_t i = 0; i < p->Nq; i++)
            parts_finish(&parts, a, i);
    }
    parts_free(&parts);
    fast_free(&fast);
}
