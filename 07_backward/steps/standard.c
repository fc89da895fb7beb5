/*
 * Standard backward.              14 Nq Nk + (3 + 2 Tc) Nq d + (2 + 3 Tr) Nk d accesses
 *
 *     S  = scale Q K^T        dV = P^T dO           D_i   = sum over j of P_ij dP_ij
 *     P  = softmax(S)         dP = dO V^T           dS_ij = P_ij (dP_ij - D_i)
 *                             dQ = scale dS K       dK    = scale dS^T Q
 *
 * Every N^2 matrix is stored, as automatic differentiation of each operation does.
 */
#include "07_backward/steps/tile.h"

/* Stores fast->P in X; if `masked`, masked pairs are -inf. */
static void store_tile(const struct backward_head *a, float *X, struct tile t, bool masked,
                       const struct backward_memory *fast)
{
    for (size_t n = 0; n < t.rows * t.cols; n++) {
        const size_t i = t.i0 + n / t.cols, j = t.j0 + n % t.cols;
        const bool hidden = masked && !visible(a->p, a->b, a->h, i, j);
        X[i * a->p->Nk + j] = hidden ? -INFINITY : fast->P[n];
    }
}

/* X (Nq, Nk) = A B^T; or, if `scores`, scale A B^T with masked pairs -inf. */
static void product(const struct backward_head *a, struct tile_size size, const float *A,
                    const float *B, float *X, bool scores, const struct backward_memory *fast)
{
    const struct attention *p = a->p;
    struct tile t;
    for (t.i0 = 0; t.i0 < p->Nq; t.i0 += size.Br) {
        t.rows = min(size.Br, p->Nq - t.i0);
        tile_load(fast->Q, A + t.i0 * p->d, t.rows * p->d);
        for (t.j0 = 0; t.j0 < p->Nk; t.j0 += size.Bc) {
            t.cols = min(size.Bc, p->Nk - t.j0);
            tile_load(fast->K, B + t.j0 * p->d, t.cols * p->d);
            tile_product(fast->P, fast->Q, fast->K, t, p->d);
            if (scores)
                tile_scale(fast->P, p->scale, t.rows * t.cols);
            store_tile(a, X, t, scores, fast);
        }
    }
}

static void load_tile(const struct attention *p, const float *X, struct tile t,
                      const struct backward_memory *fast)
{
    for (size_t r = 0; r < t.rows; r++)
        tile_load(fast->P + r * t.cols, X + (t.i0 + r) * p->Nk + t.j0, t.cols);
}

/* C (Nq, d) = factor X B */
static void product_for_queries(const struct attention *p, struct tile_size size, float factor,
                                const float *X, const float *B, float *C,
                                const struct backward_memory *fast)
{
    const size_t d = p->d;
    struct tile t;
    for (t.i0 = 0; t.i0 < p->Nq; t.i0 += size.Br) {
        t.rows = min(size.Br, p->Nq - t.i0);
        tile_fill(fast->Q, 0.0f, t.rows * d);
        for (t.j0 = 0; t.j0 < p->Nk; t.j0 += size.Bc) {
            t.cols = min(size.Bc, p->Nk - t.j0);
            load_tile(p, X, t, fast);
            tile_load(fast->K, B + t.j0 * d, t.cols * d);
            tile_add_to_queries(fast->Q, fast->P, fast->K, t, d);
        }
        tile_scale(fast->Q, factor, t.rows * d);
        tile_store(C + t.i0 * d, fast->Q, t.rows * d);
    }
}

/* C (Nk, d) = factor X^T A */
static void product_for_keys(const struct attention *p, struct tile_size size, float factor,
                             const float *X, const float *A, float *C,
                             const struct backward_memory *fast)
{
    const size_t d = p->d;
    struct tile t;
    for (t.j0 = 0; t.j0 < p->Nk; t.j0 += size.Bc) {
        t.cols = min(size.Bc, p->Nk - t.j0);
        tile_fill(fast->K, 0.0f, t.cols * d);
        for (t.i0 = 0; t.i0 < p->Nq; t.i0 += size.Br) {
            t.rows = min(size.Br, p->Nq - t.i0);
            load_tile(p, X, t, fast);
            tile_load(fast->Q, A + t.i0 * d, t.rows * d);
            tile_add_to_keys(fast->K, fast->P, fast->Q, t, d);
        }
        tile_scale(fast->K, factor, t.cols * d);
        tile_store(C + t.j0 * d, fast->K, t.cols * d);
    }
}

/* Masked scores are -inf; their P is 0 even if others are NaN. */
static void softmax_row(size_t Nk, const float *S, float *P)
{
    float m = -INFINITY, l = 0.0f;
    for (size_t j = 0; j < Nk; j++)
        m = fmaxf(m, S[j]);
    for (size_t j = 0; j < Nk; j++)
        l += exp_minus(S[j], m);
    for (size_t j = 0; j < Nk; j++) {
        const float weight = exp_minus(S[j], m);
        P[j] = weight == 0.0f ? 0.0f : weight / l;
    }
}

static void dS_row(size_t Nk, const float *P, const float *dP, float *dS)
{
    // BEGIN SOLUTION
    float D = 0.0f;
    for (size_t j = 0; j < Nk; j++) {
        const float weight = P[j], gradient = dP[j];
        D += weight == 0.0f ? 0.0f : weight * gradient;  // a masked key may be NaN
    }
    for (size_t j = 0; j < Nk; j++)
        dS[j] = pair_dS(P[j], dP[j], D);
    // END SOLUTION
    // STUB: (void)Nk, (void)P, (void)dP, (void)dS;
}

// clang-format off

void backward_standard(const struct attention *p, struct tile_size size, struct tensors x)
{
    const size_t Br = min(size.Br, p->Nq), Bc = min(size.Bc, p->Nk), pairs = p->Nq * p->Nk;
    struct backward_memory fast = { .Q = extra_fast("a tile of queries", Br * p->d),
                                    .K = extra_fast("a tile of keys", Bc * p->d),
                                    .P = extra_fast("a tile of pairs", Br * Bc) };
    float *S = extra_slow("S", pairs), *P = extra_slow("P", pairs);
    float *dP = extra_slow("dP", pairs), *dS = extra_slow("dS", pairs);
    for (size_t n = 0; n < p->B * p->H; n++) {
        const struct backward_head a = backward_head_of(p, n, x);
        product(&a, size, a.Q, a.K, S, true, &fast);                   // S  = scale Q K^T
        for (size_t i = 0; i < p->Nq; i++)
            softmax_row(p->Nk, S + i * p->Nk, P + i * p->Nk);
        product_for_keys(p, size, 1.0f, P, a.dO, a.dV, &fast);         // dV = P^T dO
        product(&a, size, a.dO, a.V, dP, false, &fast);                // dP = dO V^T
        for (size_t i = 0; i < p->Nq; i++)
            dS_row(p->Nk, P + i * p->Nk, dP + i * p->Nk, dS + i * p->Nk);
        product_for_queries(p, size, p->scale, dS, a.K, a.dQ, &fast);  // dQ = scale dS K
        product_for_keys(p, size, p->scale, dS, a.Q, a.dK, &fast);     // dK = scale dS^T Q
    }
    extra_free(dS);
    extra_free(dP);
    extra_free(P);
    extra_free(S);
    backward_memory_free(&fast);
}

// clang-format on
