#include "common/check/plain.h"

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

static size_t query_offset(const struct attention *p, size_t b, size_t h, size_t i)
{
    return ((b * p->H + h) * p->Nq + i) * p->d;
}

static size_t key_offset(const struct attention *p, size_t b, size_t h, size_t j)
{
    return ((b * p->Hkv + kv_head(p, h)) * p->Nk + j) * p->d;
}

static float query_key_dot(const struct attention *p, const float *Q, const float *K, size_t b,
                           size_t h, size_t i, size_t j)
{
    return dot(Q + query_offset(p, b, h, i), K + key_offset(p, b, h, j), p->d);
}

static float dropout_factor(const struct attention *p, size_t b, size_t h, size_t i, size_t j)
{
    return dropout_keeps(p, b, h, i, j) ? (float)(1.0 / (1.0 - p->dropout)) : 0.0f;
}

/* One row of P before dropout, 0 for masked keys. Returns lse. */
static float probabilities(const struct attention *p, const float *Q, const float *K, size_t b,
                           size_t h, size_t i, float *P)
{
    float m = -INFINITY, l = 0.0f;
    for (size_t j = 0; j < p->Nk; j++)
        P[j] = visible(p, b, h, i, j)
                   ? (float)score_of(p, b, h, i, j, (double)query_key_dot(p, Q, K, b, h, i, j))
                   : -INFINITY;
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
            O_i[c] += weight * V[key_offset(p, b, h, j) + c];
    }
    dtype_round_all(p->dtype, O_i, p->d);
}

void plain_forward(const struct attention *p, const float *Q, const float *K, const float *V,
                   float *O, float *lse)
{
    float *P = allocate(p->Nk, sizeof *P, "a row of P");
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t i = 0; i < p->Nq; i++) {
                const size_t row = (b * p->H + h) * p->Nq + i;
                const float row_lse = probabilities(p, Q, K, b, h, i, P);
                if (lse)
                    lse[row] = row_lse;
                output_row(p, V, b, h, i, P, O + row * p->d);
            }
    free(P);
}

/* D of query (b, h, i) = sum of dO O, for an O that was rounded to 16 bits. */
static float D_of_rounded_output(const struct attention *p, const float *V, const float *dO_i,
                                 size_t b, size_t h, size_t i, const float *P)
{
    float *O_i = allocate(p->d, sizeof *O_i, "a row of O");
    output_row(p, V, b, h, i, P, O_i);
    const float D = dot(dO_i, O_i, p->d);
    free(O_i);
    return D;
}

/* P and dP of query (b, h, i) for visible keys. Returns D = sum of P dP. */
static float pairs_of_query(const struct attention *p, const float *Q, const float *K,
                            const float *V, const float *dO, size_t b, size_t h, size_t i, float *P,
                            float *dP)
{
    const size_t row = query_offset(p, b, h, i);
    float D = 0.0f;
    probabilities(p, Q, K, b, h, i, P);
    for (size_t j = 0; j < p->Nk; j++) {
        if (!visible(p, b, h, i, j))
            continue;
        dP[j] = dropout_factor(p, b, h, i, j) * dot(dO + row, V + key_offset(p, b, h, j), p->d);
        D += P[j] * dP[j];
    }
    return p->dtype == DTYPE_F32 ? D : D_of_rounded_output(p, V, dO + row, b, h, i, P);
}

/* dS times the slope, rounded to the type of the product that uses it. */
static float gradient_of_dot(const struct attention *p, const float *Q, const float *K, size_t b,
                             size_t h, size_t i, size_t j, float P, float dP, float D)
{
    float slope = p->scale;
    if (score_option(p))
        slope = (float)score_slope(p, b, h, i, j, (double)query_key_dot(p, Q, K, b, h, i, j));
    return p->dtype == DTYPE_F32 ? slope * P * (dP - D)
                                 : slope * dtype_round(p->dtype, P * (dP - D));
}

static void backward_row(const struct attention *p, const float *Q, const float *K, const float *V,
                         const float *dO, size_t b, size_t h, size_t i, float *P, float *dP,
                         float *dQ, float *dK, float *dV)
{
    const size_t row = query_offset(p, b, h, i);
    const float D = pairs_of_query(p, Q, K, V, dO, b, h, i, P, dP);
    for (size_t j = 0; j < p->Nk; j++) {
        if (!visible(p, b, h, i, j))
            continue;
        const size_t key = key_offset(p, b, h, j);
        const float d_dot = gradient_of_dot(p, Q, K, b, h, i, j, P[j], dP[j], D);
        const float weight = dtype_round(p->dtype, P[j] * dropout_factor(p, b, h, i, j));
        for (size_t c = 0; c < p->d; c++) {
            dQ[row + c] += d_dot * K[key + c];
            dK[key + c] += d_dot * Q[row + c];
            dV[key + c] += weight * dO[row + c];
        }
    }
}

void plain_backward(const struct attention *p, const float *Q, const float *K, const float *V,
                    const float *dO, float *dQ, float *dK, float *dV)
{
    const size_t queries = p->B * p->H * p->Nq * p->d, keys = p->B * p->Hkv * p->Nk * p->d;
    for (size_t n = 0; n < queries; n++)
        dQ[n] = 0.0f;
    for (size_t n = 0; n < keys; n++)
        dK[n] = dV[n] = 0.0f;

    float *P = allocate(p->Nk, sizeof *P, "a row of P");
    float *dP = allocate(p->Nk, sizeof *dP, "a row of dP");
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t i = 0; i < p->Nq; i++)
                backward_row(p, Q, K, V, dO, b, h, i, P, dP, dQ, dK, dV);
    free(dP);
    free(P);
}
