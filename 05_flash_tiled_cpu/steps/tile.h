/* Only tile_load and tile_store access slow memory. */
#ifndef FLASH_TILED_TILE_H
#define FLASH_TILED_TILE_H

#include "05_flash_tiled_cpu/steps/steps.h"
#include "common/measure/traffic.h"

/* Q and O (Nq, d), K and V (Nk, d), lse (Nq); O and lse may be NULL. */
struct head {
    const struct attention *p;
    size_t b, h;
    const float *Q, *K, *V;
    float *O, *lse;
};

/* Head n = b H + h. */
struct head head_of(const struct attention *p, size_t n, struct tensors x);

/* Queries i0 … i0 + rows - 1, keys j0 … j0 + cols - 1. */
struct tile {
    size_t i0, rows, j0, cols;
};

/*
 * Q and O (Br, d), K and V (Bc, d), m and l (Br), S (Br, Bc), overwritten by P. Rows are
 * contiguous: row r of S begins at S + r * cols.
 */
struct fast_memory {
    float *Q, *K, *V, *O, *S, *m, *l;
};

/* Sizes are clipped to the problem's. */
struct fast_memory fast_new(const struct attention *p, struct tile_size size);
void fast_free(struct fast_memory *fast);

static inline size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* n >= 1. */
static inline size_t ceil_div(size_t n, size_t size)
{
    return (n - 1) / size + 1;
}

static inline void tile_load(float *fast, const float *slow, size_t n)
{
    for (size_t k = 0; k < n; k++)
        fast[k] = slow[k];
}

static inline void tile_store(float *slow, const float *fast, size_t n)
{
    for (size_t k = 0; k < n; k++)
        slow[k] = fast[k];
}

static inline void tile_fill(float *fast, float x, size_t n)
{
    for (size_t k = 0; k < n; k++)
        fast[k] = x;
}

/* S = scale Q K^T */
static inline void tile_scores(struct fast_memory *fast, struct tile t, size_t d, float scale)
{
    for (size_t r = 0; r < t.rows; r++)
        for (size_t c = 0; c < t.cols; c++) {
            float x = 0.0f;
            for (size_t k = 0; k < d; k++)
                x += fast->Q[r * d + k] * fast->K[c * d + k];
            fast->S[r * t.cols + c] = scale * x;
        }
}

/* O += P V; S holds P. */
static inline void tile_add_product(struct fast_memory *fast, struct tile t, size_t d)
{
    for (size_t r = 0; r < t.rows; r++)
        for (size_t c = 0; c < t.cols; c++)
            for (size_t k = 0; k < d; k++)
                fast->O[r * d + k] += fast->S[r * t.cols + c] * fast->V[c * d + k];
}

#endif
