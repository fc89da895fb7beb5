#ifndef BACKWARD_TILE_H
#define BACKWARD_TILE_H

#include "03_online_softmax/softmax_state.h"
#include "05_flash_tiled_cpu/steps/tile.h"
#include "07_backward/steps/steps.h"

/* Q, O, dO and dQ (Nq, d); K, V, dK and dV (Nk, d); lse (Nq), m and l (Nq) or NULL. */
struct backward_head {
    const struct attention *p;
    size_t b, h;
    const float *Q, *K, *V, *O, *lse, *dO, *m, *l;
    float *dQ, *dK, *dV;
};

/* Head n = b H + h. */
struct backward_head backward_head_of(const struct attention *p, size_t n, struct tensors x);

/* Tiles of these, with contiguous rows; P and dS (Br, Bc), which first hold Q K^T and dP; D (Br). */
struct backward_memory {
    float *Q, *O, *dO, *dQ, *K, *V, *dK, *dV, *P, *dS, *lse, *m, *l, *D;
};

/* Allocates all arrays, for sizes clipped to the problem's. Release with backward_memory_free. */
struct backward_memory backward_memory_new(const struct attention *p, struct tile_size size);
void backward_memory_free(struct backward_memory *fast);

/* C (rows, cols) = A B^T */
static inline void tile_product(float *C, const float *A, const float *B, struct tile t, size_t d)
{
    for (size_t r = 0; r < t.rows; r++)
        for (size_t c = 0; c < t.cols; c++) {
            float x = 0.0f;
            for (size_t k = 0; k < d; k++)
                x += A[r * d + k] * B[c * d + k];
            C[r * t.cols + c] = x;
        }
}

/* C (rows, d) += X B, skipping zeros of X, as masked rows of B may be NaN. */
static inline void tile_add_to_queries(float *C, const float *X, const float *B, struct tile t,
                                       size_t d)
{
    for (size_t r = 0; r < t.rows; r++)
        for (size_t c = 0; c < t.cols; c++) {
            const float x = X[r * t.cols + c];
            for (size_t k = 0; k < (x == 0.0f ? 0 : d); k++)
                C[r * d + k] += x * B[c * d + k];
        }
}

/* C (cols, d) += X^T A, likewise. */
static inline void tile_add_to_keys(float *C, const float *X, const float *A, struct tile t,
                                    size_t d)
{
    for (size_t r = 0; r < t.rows; r++)
        for (size_t c = 0; c < t.cols; c++) {
            const float x = X[r * t.cols + c];
            for (size_t k = 0; k < (x == 0.0f ? 0 : d); k++)
                C[c * d + k] += x * A[r * d + k];
        }
}

/* P = e^{x - lse} of query i and key j, whose score is x; 0 if masked. */
static inline float pair_weight(const struct backward_head *a, size_t i, size_t j, float x,
                                float lse)
{
    return visible(a->p, a->b, a->h, i, j) ? exp_minus(x, lse) : 0.0f;
}

/* P (dP - D); exactly 0 if P is 0, even if a masked key is NaN. */
static inline float pair_dS(float P, float dP, float D)
{
    return P == 0.0f ? 0.0f : P * (dP - D);
}

static inline void tile_scale(float *fast, float x, size_t n)
{
    for (size_t k = 0; k < n; k++)
        fast[k] *= x;
}

static inline bool tile_is_attended(const struct backward_head *a, struct tile t)
{
    return tile_kind(a->p, a->b, a->h, t.i0, t.i0 + t.rows, t.j0, t.j0 + t.cols) != TILE_SKIPPED;
}

#endif
