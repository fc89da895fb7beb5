/*
 * Standard attention with its products by tiles.            2 Nq d + 2 Tr Nk d + 6 Nq Nk accesses
 *
 * Chapter 04's three kernels, but a tile of queries stays in fast memory while the keys go by, and
 * so does a tile of O while the values do. K and V are read Tr times instead of Nq times. S and P
 * are stored as before, and now they are most of the traffic: this is what tiles alone can do.
 */
#include "../../02_safe_softmax/safe_softmax.h"
#include "tile.h"

/* Half of fast memory for the queries (or O), half for the keys (or values). */
struct tile_size standard_size(size_t M, size_t d)
{
    const size_t B = (M - 1) / (2 * d) + 1;
    return (struct tile_size){ B, B };
}

/* S = scale Q K^T */
static void standard_scores(struct head a, struct tile_size size, struct fast_memory *fast,
                            float *S)
{
    const size_t Nq = a.p->Nq, Nk = a.p->Nk, d = a.p->d;
    struct tile t;
    for (t.i0 = 0; t.i0 < Nq; t.i0 += size.Br) {
        t.rows = smaller(size.Br, Nq - t.i0);
        tile_load(fast->Q, a.Q + t.i0 * d, t.rows * d);
        for (t.j0 = 0; t.j0 < Nk; t.j0 += size.Bc) {
            t.cols = smaller(size.Bc, Nk - t.j0);
            tile_load(fast->K, a.K + t.j0 * d, t.cols * d);
            tile_scores(fast, t, d, a.p->scale);
            for (size_t r = 0; r < t.rows; r++)
                tile_store(S + (t.i0 + r) * Nk + t.j0, fast->S + r * t.cols, t.cols);
        }
    }
}

/* O = P V */
static void standard_averages(struct head a, struct tile_size size, struct fast_memory *fast,
                              const float *P)
{
    const size_t Nq = a.p->Nq, Nk = a.p->Nk, d = a.p->d;
    struct tile t;
    for (t.i0 = 0; t.i0 < Nq; t.i0 += size.Br) {
        t.rows = smaller(size.Br, Nq - t.i0);
        tile_fill(fast->O, 0.0f, t.rows * d);
        for (t.j0 = 0; t.j0 < Nk; t.j0 += size.Bc) {
            t.cols = smaller(size.Bc, Nk - t.j0);
            tile_load(fast->V, a.V + t.j0 * d, t.cols * d);
            for (size_t r = 0; r < t.rows; r++)
                tile_load(fast->S + r * t.cols, P + (t.i0 + r) * Nk + t.j0, t.cols);
            tile_add_product(fast, t, d);
        }
        tile_store(a.O + t.i0 * d, fast->O, t.rows * d);
    }
}

void standard(const struct attention *p, struct tile_size size, const float *Q, const float *K,
              const float *V, float *O, float *lse)
{
    (void)lse;
    struct fast_memory fast = fast_new(p, size);
    float *S = extra_slow("S", p->Nq * p->Nk), *P = extra_slow("P", p->Nq * p->Nk);
    for (size_t n = 0; n < p->B * p->H; n++) {
        const struct head a = head_of(p, n, Q, K, V, O, NULL);
        standard_scores(a, size, &fast, S);
        for (size_t i = 0; i < p->Nq; i++)
            safe_softmax(S + i * p->Nk, P + i * p->Nk, p->Nk);
        work_others(7 * p->Nq * p->Nk);  // max; -, exp, +; -, exp, /
        standard_averages(a, size, &fast, P);
    }
    extra_free(P);
    extra_free(S);
    fast_free(&fast);
}
