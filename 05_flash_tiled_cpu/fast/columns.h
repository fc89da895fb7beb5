/* A tile of queries, transposed for the compiler to vectorise. */
#ifndef FLASH_TILED_COLUMNS_H
#define FLASH_TILED_COLUMNS_H

#include "05_flash_tiled_cpu/fast/vec.h"
#include "05_flash_tiled_cpu/steps/tile.h"

#include <math.h>

enum { QUERIES = 32 };

struct columns {
    float Q[ATTENTION_MAX_D][QUERIES];  // times the scale's sign
    float O[ATTENTION_MAX_D][QUERIES];  // not yet divided by l
    float m[QUERIES], l[QUERIES];       // m starts at -FLT_MAX, so x - m is never NaN
    size_t i0;
    struct scale scale;
};

/* An element of all queries; or a key's scores, then weights. */
typedef float columns_row[QUERIES];

struct columns *columns_new(void);
columns_row *columns_scores_new(size_t n);

/* Loads queries i0, i0 + 1, …; positions past the last repeat it. */
void columns_begin(struct columns *t, const struct head *a, size_t i0);

/* Stores O / l and lse. */
void columns_end(const struct columns *t, const struct head *a);

/* Turns S into weights, updates m and l, rescales O. Always inlined, so that two_to is. */
static inline __attribute__((always_inline)) void
columns_softmax(struct columns *t, columns_row *S, size_t n, size_t d, float (*two_to)(float))
{
    float m[QUERIES], rescale[QUERIES];
    const float factor = t->scale.factor;
    for (size_t i = 0; i < QUERIES; i++)
        m[i] = t->m[i];
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < QUERIES; i++)
            m[i] = S[j][i] > m[i] ? S[j][i] : m[i];
    for (size_t i = 0; i < QUERIES; i++) {
        rescale[i] = two_to((t->m[i] - m[i]) * factor);
        t->l[i] *= rescale[i];
        t->m[i] = m[i];
    }
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < QUERIES; i++) {
            S[j][i] = two_to((S[j][i] - m[i]) * factor);
            t->l[i] += S[j][i];
        }
    for (size_t k = 0; k < d; k++)
        for (size_t i = 0; i < QUERIES; i++)
            t->O[k][i] *= rescale[i];
}

/* c += sum over k of a(k) B(k): a(k) is a[k * stride], B(k) is row k of B. */
static inline void columns_product(float *c, const float *a, size_t stride, const columns_row *B,
                                   size_t n)
{
    float sum[QUERIES] = { 0.0f };
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < QUERIES; i++)
            sum[i] += a[k * stride] * B[k][i];
    for (size_t i = 0; i < QUERIES; i++)
        c[i] += sum[i];
}

/* two_to must handle x <= 0 and be exactly 0 for -inf. */
static inline __attribute__((always_inline)) void columns_attention(const struct attention *p,
                                                                    struct tile_size size,
                                                                    struct tensors x,
                                                                    float (*two_to)(float))
{
    const size_t d = p->d, Bc = min(size.Bc, p->Nk);
    struct columns *t = columns_new();
    columns_row *S = columns_scores_new(Bc);
    for (size_t n = 0; n < p->B * p->H; n++) {
        const struct head a = head_of(p, n, x);
        for (size_t i0 = 0; i0 < p->Nq; i0 += QUERIES) {
            columns_begin(t, &a, i0);
            for (size_t j0 = 0; j0 < p->Nk; j0 += Bc) {
                const size_t cols = min(Bc, p->Nk - j0);
                for (size_t j = 0; j < cols; j++) {
                    tile_fill(S[j], 0.0f, QUERIES);
                    columns_product(S[j], a.K + (j0 + j) * d, 1, (const columns_row *)t->Q, d);
                }
                columns_softmax(t, S, cols, d, two_to);
                for (size_t k = 0; k < d; k++)
                    columns_product(t->O[k], a.V + j0 * d + k, d, (const columns_row *)S, cols);
            }
            columns_end(t, &a);
        }
    }
    extra_free((float *)S);
    extra_free((float *)t);
}

#endif
