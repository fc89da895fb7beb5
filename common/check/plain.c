#include "common/check/plain.h"

#include "common/check/reference_parts.h"
#include "common/cpu/memory.h"

#include <math.h>
#include <stdlib.h>

void plain_softmax(const float *x, float *y, size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++) {
        const float *xi = x + i * cols;
        float *yi = y + i * cols;
        float m = -INFINITY, l = 0.0f;
        for (size_t j = 0; j < cols; j++)
            m = fmaxf(m, xi[j]);
        for (size_t j = 0; j < cols; j++)
            yi[j] = expf(xi[j] - m);
        for (size_t j = 0; j < cols; j++)
            l += yi[j];
        for (size_t j = 0; j < cols; j++)
            yi[j] /= l;
    }
}

static float dot(const float *a, const float *b, size_t n)
{
    float sum = 0.0f;
    for (size_t c = 0; c < n; c++)
        sum += a[c] * b[c];
    return sum;
}

static float dropout_factor(const struct attention *p, size_t b, size_t h, size_t i, size_t j)
{
    return (float)reference_dropout(p, b, h, i, j);
}

/* One row of P before dropout, of query q, 0 for masked keys. Returns lse. */
static float probabilities(const struct attention *p, const float *q, const float *K, size_t b,
                           size_t h, size_t i, float *P)
{
    float m = -INFINITY, l = 0.0f;
    for (size_t j = 0; j < p->Nk; j++) {
        const float *const k = K + reference_key(p, b, h, j);
        P[j] = visible(p, b, h, i, j) ? (float)score_of(p, b, h, i, j, (double)dot(q, k, p->d))
                                      : -INFINITY;
    }
    for (size_t j = 0; j < p->Nk; j++)
        m = fmaxf(m, P[j]);
    for (size_t j = 0; j < p->Nk; j++)
        P[j] = P[j] == -INFINITY ? 0.0f : expf(P[j] - m);
    for (size_t j = 0; j < p->Nk; j++)
        l += P[j];
    for (size_t j = 0; j < p->Nk; j++)
        P[j] = l == 0.0f ? 0.0f : P[j] / l;
    return m + logf(l);
}

static void output_row(const struct attention *p, const float *V, size_t b, size_t h, size_t i,
                       const float *P, float *O_i)
{
    for (size_t c = 0; c < p->d; c++)
        O_i[c] = 0.0f;
    for (size_t j = 0; j < p->Nk; j++) {
        if (!visible(p, b, h, i, j))
            continue;
        // In the kernels' order: a small float16 loses bits before the factor makes it large.
        const float weight = dtype_round(p->dtype, P[j]) * dropout_factor(p, b, h, i, j);
        for (size_t c = 0; c < p->d; c++)
            O_i[c] += weight * V[reference_key(p, b, h, j) + c];
    }
    dtype_round_all(p->dtype, O_i, p->d);
}

void plain_forward(const struct attention *p, const float *Q, const float *K, const float *V,
                   float *O, float *lse)
{
    float *P = allocate(p->Nk, sizeof *P, "a row of P");
    for (size_t row = 0; row < attention_rows(p); row++) {
        const size_t b = row / p->Nq / p->H, h = row / p->Nq % p->H, i = row % p->Nq;
        const float row_lse = probabilities(p, Q + row * p->d, K, b, h, i, P);
        if (lse)
            lse[row] = row_lse;
        output_row(p, V, b, h, i, P, O + row * p->d);
    }
    free(P);
}

/* Adds what one query contributes to dK and dV, and writes its row of dQ; P, dP and O_i are room. */
static void backward_row(const struct attention *p, const float *q, const float *K, const float *V,
                         const float *dO_i, size_t b, size_t h, size_t i, float *P, float *dP,
                         float *O_i, float *dQ_i, float *dK, float *dV)
{
    float D = 0.0f;
    probabilities(p, q, K, b, h, i, P);
    for (size_t j = 0; j < p->Nk; j++)
        if (visible(p, b, h, i, j)) {
            dP[j] = dropout_factor(p, b, h, i, j) * dot(dO_i, V + reference_key(p, b, h, j), p->d);
            D += P[j] * dP[j];
        }
    if (p->dtype != DTYPE_F32) {  // O was rounded, so D = sum of dO O
        output_row(p, V, b, h, i, P, O_i);
        D = dot(dO_i, O_i, p->d);
    }
    for (size_t c = 0; c < p->d; c++)
        dQ_i[c] = 0.0f;
    for (size_t j = 0; j < p->Nk; j++) {
        if (!visible(p, b, h, i, j))
            continue;
        const size_t key = reference_key(p, b, h, j);
        const float slope = (float)score_slope(p, b, h, i, j, (double)dot(q, K + key, p->d));
        const float d_dot = p->dtype == DTYPE_F32
                                ? slope * P[j] * (dP[j] - D)
                                : slope * dtype_round(p->dtype, P[j] * (dP[j] - D));
        const float weight = dtype_round(p->dtype, P[j] * dropout_factor(p, b, h, i, j));
        for (size_t c = 0; c < p->d; c++) {
            dQ_i[c] += d_dot * K[key + c];
            dK[key + c] += d_dot * q[c];
            dV[key + c] += weight * dO_i[c];
        }
    }
}

void plain_backward(const struct attention *p, const float *Q, const float *K, const float *V,
                    const float *dO, float *dQ, float *dK, float *dV)
{
    float *P = allocate(p->Nk, sizeof *P, "a row of P"), *dP = allocate(p->Nk, sizeof *dP, "of dP");
    float *O_i = allocate(p->d, sizeof *O_i, "a row of O");
    for (size_t n = 0; n < attention_key_elements(p); n++)
        dK[n] = dV[n] = 0.0f;
    for (size_t row = 0; row < attention_rows(p); row++)
        backward_row(p, Q + row * p->d, K, V, dO + row * p->d, row / p->Nq / p->H,
                     row / p->Nq % p->H, row % p->Nq, P, dP, O_i, dQ + row * p->d, dK, dV);
    free(O_i);
    free(dP);
    free(P);
}
