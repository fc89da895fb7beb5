/*
 * FlashAttention.                              Nq d + 5 Nq + 2 Nk d + Tc (3 Nq d + 4 Nq) accesses
 *
 * A block of keys, once loaded, serves all queries. O, l and m are reloaded and stored for
 * every block, merged as in chapter 03.
 *
 * Margin: Dao et al., "FlashAttention", arXiv 2205.14135, Algorithm 1.
 */
#include "03_online_softmax/softmax_state.h"
#include "05_flash_tiled_cpu/steps/observe.h"

// clang-format off

/* Q_i, K_j, V_j and O_i take M/4 each, S up to M/4 more: more than M, as in the paper. */
struct tile_size fa1_size(size_t M, size_t d)
{
    const size_t Bc = (M - 1) / (4 * d) + 1;                                 // 1
    return (struct tile_size){ .Br = min(Bc, d), .Bc = Bc };
}

/* Turns row r of S into weights, updates m and l, rescales O; divides weights and O by l. */
static void fa1_row(struct fast_memory *fast, size_t r, size_t cols, size_t d)
{
    float *S = fast->S + r * cols, *O = fast->O + r * d, *m = &fast->m[r], *l = &fast->l[r];
    // BEGIN SOLUTION
    float m_tile = -INFINITY, l_tile = 0.0f;
    for (size_t c = 0; c < cols; c++)                                        // 10
        m_tile = fmaxf(m_tile, S[c]);
    for (size_t c = 0; c < cols; c++) {
        S[c] = exp_minus(S[c], m_tile);
        l_tile += S[c];
    }
    const float m_new = fmaxf(*m, m_tile);                                   // 11
    const float old = *l * exp_minus(*m, m_new), factor = exp_minus(m_tile, m_new);
    const float l_new = old + factor * l_tile;
    if (l_new == 0.0f)
        return;                     // all scores so far are -inf
    for (size_t k = 0; k < d; k++)                                           // 12
        O[k] *= old / l_new;
    for (size_t c = 0; c < cols; c++)
        S[c] *= factor / l_new;
    *m = m_new;
    *l = l_new;
    // END SOLUTION
    // STUB: (void)S, (void)O, (void)m, (void)l;
}

static void fa1_head(struct head a, struct tile_size size, struct fast_memory *fast, float *m,
                     float *l)
{
    const size_t Nq = a.p->Nq, Nk = a.p->Nk, d = a.p->d;
    struct tile t = { 0 };
    for (size_t i = 0; i < Nq; i++) {                                        // 2
        m[i] = -INFINITY;
        l[i] = 0.0f;
        for (size_t k = 0; k < d; k++)
            a.O[i * d + k] = 0.0f;
    }
    for (t.j0 = 0; t.j0 < Nk; t.j0 += size.Bc) {                             // 5
        t.cols = min(size.Bc, Nk - t.j0);
        tile_load(fast->K, a.K + t.j0 * d, t.cols * d);                      // 6
        tile_load(fast->V, a.V + t.j0 * d, t.cols * d);
        for (t.i0 = 0; t.i0 < Nq; t.i0 += size.Br) {                         // 7
            t.rows = min(size.Br, Nq - t.i0);
            tile_load(fast->Q, a.Q + t.i0 * d, t.rows * d);                  // 8
            tile_load(fast->O, a.O + t.i0 * d, t.rows * d);
            tile_load(fast->l, l + t.i0, t.rows);
            tile_load(fast->m, m + t.i0, t.rows);
            tile_scores(fast, t, d, a.p->scale);                             // 9
            observe(SCORED, &a, t, fast);
            for (size_t r = 0; r < t.rows; r++)
                fa1_row(fast, r, t.cols, d);                                 // 10, 11, 12
            tile_add_product(fast, t, d);                                    // 12
            tile_store(a.O + t.i0 * d, fast->O, t.rows * d);
            tile_store(l + t.i0, fast->l, t.rows);                           // 13
            tile_store(m + t.i0, fast->m, t.rows);
            observe(DONE, &a, t, fast);
        }
    }
    for (size_t i = 0; i < Nq && a.lse; i++)
        a.lse[i] = m[i] + logf(l[i]);
}

// clang-format on

void fa1(const struct attention *p, struct tile_size size, struct tensors x)
{
    struct fast_memory fast = fast_new(p, size);
    float *m = extra_slow("m", p->Nq), *l = extra_slow("l", p->Nq);
    for (size_t n = 0; n < p->B * p->H; n++)
        fa1_head(head_of(p, n, x), size, &fast, m, l);
    extra_free(l);
    extra_free(m);
    fast_free(&fast);
}
