/*
 * Standard attention with tiled products.                   2 Nq d + 2 Tr Nk d + 6 Nq Nk accesses
 *
 * Chapter 04's three passes, tiled: K and V are loaded Tr times instead of Nq times.
 */
#include "02_safe_softmax/safe_softmax.h"
#include "05_flash_tiled_cpu/steps/tile.h"

/*
 * Half of fast memory holds queries (or O), half keys (or values); rounded up, so it may exceed M.
 */
struct tile_size standard_size(size_t M, size_t d)
{
    const size_t B = (M - 1) / (2 * d) + 1;
    return (struct tile_size){ B, B };
}

/* S = scale Q K^T */
static void standard_scores(struct head a, struct tile_size size, float *Q_i, float *K_j, float *S)
{
    const size_t Nq = a.p->Nq, Nk = a.p->Nk, d = a.p->d;
    for (size_t i0 = 0; i0 < Nq; i0 += size.Br) {
        const size_t rows = min(size.Br, Nq - i0);
        tile_load(Q_i, a.Q + i0 * d, rows * d);
        for (size_t j0 = 0; j0 < Nk; j0 += size.Bc) {
            const size_t cols = min(size.Bc, Nk - j0);
            tile_load(K_j, a.K + j0 * d, cols * d);
            for (size_t r = 0; r < rows; r++)
                for (size_t c = 0; c < cols; c++) {
                    float x = 0.0f;
                    for (size_t k = 0; k < d; k++)
                        x += Q_i[r * d + k] * K_j[c * d + k];
                    S[(i0 + r) * Nk + j0 + c] = a.p->scale * x;
                }
        }
    }
}

/* O = P V */
static void standard_output(struct head a, struct tile_size size, const float *P, float *O_i,
                            float *V_j)
{
    const size_t Nq = a.p->Nq, Nk = a.p->Nk, d = a.p->d;
    for (size_t i0 = 0; i0 < Nq; i0 += size.Br) {
        const size_t rows = min(size.Br, Nq - i0);
        tile_fill(O_i, 0.0f, rows * d);
        for (size_t j0 = 0; j0 < Nk; j0 += size.Bc) {
            const size_t cols = min(size.Bc, Nk - j0);
            tile_load(V_j, a.V + j0 * d, cols * d);
            for (size_t r = 0; r < rows; r++)
                for (size_t c = 0; c < cols; c++) {
                    const float weight = P[(i0 + r) * Nk + j0 + c];
                    for (size_t k = 0; k < d; k++)
                        O_i[r * d + k] += weight * V_j[c * d + k];
                }
        }
        tile_store(a.O + i0 * d, O_i, rows * d);
    }
}

void standard(const struct attention *p, struct tile_size size, struct tensors x)
{
    float *Q_i = extra_fast("a tile of Q, or of O", min(size.Br, p->Nq) * p->d);
    float *K_j = extra_fast("a tile of K, or of V", min(size.Bc, p->Nk) * p->d);
    float *S = extra_slow("S", p->Nq * p->Nk), *P = extra_slow("P", p->Nq * p->Nk);
    for (size_t n = 0; n < p->B * p->H; n++) {
        const struct head a = head_of(p, n, x);
        standard_scores(a, size, Q_i, K_j, S);
        for (size_t i = 0; i < p->Nq; i++)
            safe_softmax(S + i * p->Nk, P + i * p->Nk, p->Nk);
        standard_output(a, size, P, Q_i, K_j);
    }
    extra_free(P);
    extra_free(S);
    extra_free(K_j);
    extra_free(Q_i);
}
