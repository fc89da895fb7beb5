/*
 * FlashAttention-2.                                               2 Nq d + Nq + 2 Tr Nk d accesses
 *
 * The loops are swapped: a tile of queries stays in fast memory while we stream all keys. O is
 * divided by l only at the end.
 *
 * Margin: Dao, "FlashAttention-2", arXiv 2307.08691, Algorithm 1. Its line 10
 * prints diag(e^{m_old - m_new})^-1, an inverse, by mistake.
 */
#include "05_flash_tiled_cpu/steps/fa2.h"

#include "03_online_softmax/softmax_state.h"
#include "05_flash_tiled_cpu/steps/observe.h"

// clang-format off

/* K and V are loaded for every tile of queries, so Br must be large. */
struct tile_size fa2_size(size_t M, size_t d)
{
    const struct tile_size size = fa1_size(M, d);
    return (struct tile_size){ .Br = size.Bc, .Bc = size.Br };
}

void fa2_begin(struct head a, struct tile t, struct fast_memory *fast)
{
    const size_t d = a.p->d;
    tile_load(fast->Q, a.Q + t.i0 * d, t.rows * d);                          // 4
    tile_fill(fast->O, 0.0f, t.rows * d);                                    // 5
    tile_fill(fast->l, 0.0f, t.rows);
    tile_fill(fast->m, -INFINITY, t.rows);
}

void fa2_softmax(struct fast_memory *fast, struct tile t, size_t d)
{
    for (size_t r = 0; r < t.rows; r++) {
        float *S = fast->S + r * t.cols, *O = fast->O + r * d, *m = &fast->m[r], *l = &fast->l[r];
        // BEGIN SOLUTION
        float m_new = *m, sum = 0.0f;
        for (size_t c = 0; c < t.cols; c++)                                  // 9
            m_new = fmaxf(m_new, S[c]);
        for (size_t c = 0; c < t.cols; c++) {
            S[c] = exp_minus(S[c], m_new);
            sum += S[c];
        }
        const float rescale = exp_minus(*m, m_new);
        *l = *l * rescale + sum;
        for (size_t k = 0; k < d; k++)                                       // 10
            O[k] *= rescale;
        *m = m_new;
        // END SOLUTION
        // STUB: (void)S, (void)O, (void)m, (void)l;
    }
}

void fa2_end(struct head a, struct tile t, struct fast_memory *fast)
{
    const size_t d = a.p->d;
    for (size_t r = 0; r < t.rows; r++) {
        const float l = fast->l[r], divisor = l == 0.0f ? 1.0f : l;
        for (size_t k = 0; k < d; k++)                                       // 12
            fast->O[r * d + k] /= divisor;
        if (a.lse)
            a.lse[t.i0 + r] = fast->m[r] + logf(l);                          // 13, 15
    }
    tile_store(a.O + t.i0 * d, fast->O, t.rows * d);                         // 14
}

static void fa2_head(struct head a, struct tile_size size, struct fast_memory *fast)
{
    const size_t Nq = a.p->Nq, Nk = a.p->Nk, d = a.p->d;
    struct tile t = { 0 };
    for (t.i0 = 0; t.i0 < Nq; t.i0 += size.Br) {                             // 3
        t.rows = min(size.Br, Nq - t.i0);
        fa2_begin(a, t, fast);                                               // 4, 5
        for (t.j0 = 0; t.j0 < Nk; t.j0 += size.Bc) {                         // 6
            t.cols = min(size.Bc, Nk - t.j0);
            tile_load(fast->K, a.K + t.j0 * d, t.cols * d);                  // 7
            tile_load(fast->V, a.V + t.j0 * d, t.cols * d);
            tile_scores(fast, t, d, a.p->scale);                             // 8
            observe(SCORED, &a, t, fast);
            fa2_softmax(fast, t, d);                                         // 9, 10
            tile_add_product(fast, t, d);                                    // 10
            observe(DONE, &a, t, fast);
        }
        fa2_end(a, t, fast);                                                 // 12 to 15
    }
}

// clang-format on

void fa2(const struct attention *p, struct tile_size size, struct tensors x)
{
    struct fast_memory fast = fast_new(p, size);
    for (size_t n = 0; n < p->B * p->H; n++)
        fa2_head(head_of(p, n, x), size, &fast);
    fast_free(&fast);
}
