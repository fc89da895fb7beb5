#include "common/check/reference.h"

#include "common/check/reference_parts.h"
#include "common/cpu/memory.h"

#include <math.h>
#include <stdlib.h>

double reference_dot(const float *a, const float *b, size_t n)
{
    double sum = 0.0;
    for (size_t c = 0; c < n; c++)
        sum += (double)a[c] * (double)b[c];
    return sum;
}

size_t reference_key(const struct attention *p, size_t b, size_t h, size_t j)
{
    return ((b * p->Hkv + kv_head(p, h)) * p->Nk + j) * p->d;
}

double reference_probabilities(const struct attention *p, const float *Q, const float *K, size_t b,
                               size_t h, size_t i, double *P)
{
    const float *const q = Q + ((b * p->H + h) * p->Nq + i) * p->d;
    double m = (double)-INFINITY, l = 0.0;
    for (size_t j = 0; j < p->Nk; j++) {
        P[j] = (double)-INFINITY;
        if (visible(p, b, h, i, j))
            P[j] = score_of(p, b, h, i, j, reference_dot(q, K + reference_key(p, b, h, j), p->d));
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

void reference_forward_row(const struct attention *p, const float *Q, const float *K,
                           const float *V, size_t b, size_t h, size_t i, double *O_i, double *lse_i)
{
    double *P = allocate(p->Nk, sizeof *P, "a row of the reference's P");
    const double lse = reference_probabilities(p, Q, K, b, h, i, P);
    if (lse_i)
        *lse_i = lse;
    for (size_t c = 0; c < p->d; c++)
        O_i[c] = 0.0;
    for (size_t j = 0; j < p->Nk; j++) {
        if (!visible(p, b, h, i, j))
            continue;
        const float *const v = V + reference_key(p, b, h, j);
        const double weight = P[j] * reference_dropout(p, b, h, i, j);
        for (size_t c = 0; c < p->d; c++)
            O_i[c] += weight * (double)v[c];
    }
    free(P);
}
