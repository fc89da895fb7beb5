#include "common/check/reference.h"

#include "common/check/reference_parts.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"

#include <math.h>
#include <stdlib.h>

void reference_softmax(const float *x, double *y, size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++) {
        const float *xi = x + i * cols;
        double *yi = y + i * cols;
        double m = (double)-INFINITY, l = 0.0;
        for (size_t j = 0; j < cols; j++)
            m = fmax(m, (double)xi[j]);
        for (size_t j = 0; j < cols; j++)
            l += exp((double)xi[j] - m);
        for (size_t j = 0; j < cols; j++)
            yi[j] = exp((double)xi[j] - m) / l;
    }
}

double reference_dot(const float *a, const float *b, size_t n)
{
    double sum = 0.0;
    for (size_t c = 0; c < n; c++)
        sum += (double)a[c] * (double)b[c];
    return sum;
}

const float *reference_query(const struct attention *p, const float *Q, size_t b, size_t h,
                             size_t i)
{
    return Q + ((b * p->H + h) * p->Nq + i) * p->d;
}

size_t reference_key(const struct attention *p, size_t b, size_t h, size_t j)
{
    return ((b * p->Hkv + kv_head(p, h)) * p->Nk + j) * p->d;
}

double reference_probabilities(const struct attention *p, const float *Q, const float *K, size_t b,
                               size_t h, size_t i, double *P)
{
    double m = (double)-INFINITY, l = 0.0;
    for (size_t j = 0; j < p->Nk; j++) {
        P[j] = (double)-INFINITY;
        if (visible(p, b, h, i, j))
            P[j] = score_of(
                p, b, h, i, j,
                reference_dot(reference_query(p, Q, b, h, i), K + reference_key(p, b, h, j), p->d));
        m = fmax(m, P[j]);
    }
    for (size_t j = 0; j < p->Nk; j++) {
        P[j] = P[j] == (double)-INFINITY ? 0.0 : exp(P[j] - m);
        l += P[j];
    }
    for (size_t j = 0; j < p->Nk; j++)
        P[j] = l == 0.0 ? 0.0 : P[j] / l;
    return m + log(l);
}

double reference_dropout(const struct attention *p, size_t b, size_t h, size_t i, size_t j)
{
    return dropout_keeps(p, b, h, i, j) ? 1.0 / (1.0 - p->dropout) : 0.0;
}

static void forward_row(const struct attention *p, const float *Q, const float *K, const float *V,
                        size_t b, size_t h, size_t i, double *P, double *O_i, double *lse_i)
{
    double lse = reference_probabilities(p, Q, K, b, h, i, P);
    if (lse_i)
        *lse_i = lse;
    for (size_t c = 0; c < p->d; c++)
        O_i[c] = 0.0;
    for (size_t j = 0; j < p->Nk; j++) {
        double weight = P[j] * reference_dropout(p, b, h, i, j);
        if (!visible(p, b, h, i, j))
            continue;
        for (size_t c = 0; c < p->d; c++)
            O_i[c] += weight * (double)V[reference_key(p, b, h, j) + c];
    }
}

void reference_forward_row(const struct attention *p, const float *Q, const float *K,
                           const float *V, size_t b, size_t h, size_t i, double *O_i, double *lse_i)
{
    double *P = allocate(p->Nk, sizeof *P, "a row of the reference's P");
    forward_row(p, Q, K, V, b, h, i, P, O_i, lse_i);
    free(P);
}

void reference_forward(const struct attention *p, const float *Q, const float *K, const float *V,
                       double *O, double *lse)
{
    double *P = allocate(p->Nk, sizeof *P, "a row of the reference's P");
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t i = 0; i < p->Nq; i++) {
                size_t row = (b * p->H + h) * p->Nq + i;
                forward_row(p, Q, K, V, b, h, i, P, O + row * p->d, lse ? lse + row : NULL);
            }
    free(P);
}
