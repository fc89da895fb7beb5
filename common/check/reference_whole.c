/* The reference of a whole problem, forward and backward. */
#include "common/check/reference.h"

#include "common/check/reference_parts.h"
#include "common/cpu/memory.h"

#include <stdlib.h>

void reference_forward(const struct attention *p, const float *Q, const float *K, const float *V,
                       double *O, double *lse)
{
    for (size_t row = 0; row < attention_rows(p); row++)
        reference_forward_row(p, Q, K, V, row / p->Nq / p->H, row / p->Nq % p->H, row % p->Nq,
                              O + row * p->d, lse ? lse + row : NULL);
}

/* dS = P (dP - D), with D = sum of P dP. d_dot first holds dP. */
void reference_pairs(const struct attention *p, const float *Q, const float *K, const float *V,
                     const float *dO, size_t b, size_t h, size_t i, double *P, double *d_dot)
{
    const size_t row = ((b * p->H + h) * p->Nq + i) * p->d;
    double D = 0.0, *dP = d_dot;
    reference_probabilities(p, Q, K, b, h, i, P);
    for (size_t j = 0; j < p->Nk; j++) {
        if (!visible(p, b, h, i, j))
            continue;
        dP[j] = reference_dropout(p, b, h, i, j) *
                reference_dot(dO + row, V + reference_key(p, b, h, j), p->d);
        D += P[j] * dP[j];
    }
    for (size_t j = 0; j < p->Nk; j++)
        if (visible(p, b, h, i, j))
            d_dot[j] = P[j] * (dP[j] - D) *
                       score_slope(p, b, h, i, j,
                                   reference_dot(Q + row, K + reference_key(p, b, h, j), p->d));
}

void reference_backward(const struct attention *p, const float *Q, const float *K, const float *V,
                        const float *dO, double *dQ, double *dK, double *dV)
{
    double *P = allocate(p->Nk, sizeof *P, "a row of the reference's P");
    double *d_dot = allocate(p->Nk, sizeof *d_dot, "a row of the reference's dS");
    for (size_t n = 0; n < attention_query_elements(p); n++)
        dQ[n] = 0.0;
    for (size_t n = 0; n < attention_key_elements(p); n++)
        dK[n] = dV[n] = 0.0;
    for (size_t row = 0; row < attention_rows(p); row++) {
        const size_t b = row / p->Nq / p->H, h = row / p->Nq % p->H, i = row % p->Nq;
        const size_t query = row * p->d;
        reference_pairs(p, Q, K, V, dO, b, h, i, P, d_dot);
        for (size_t j = 0; j < p->Nk; j++) {
            if (!visible(p, b, h, i, j))
                continue;
            const size_t key = reference_key(p, b, h, j);
            const double Z = reference_dropout(p, b, h, i, j);
            for (size_t c = 0; c < p->d; c++) {
                dQ[query + c] += d_dot[j] * (double)K[key + c];
                dK[key + c] += d_dot[j] * (double)Q[query + c];
                dV[key + c] += P[j] * Z * (double)dO[query + c];
            }
        }
    }
    free(d_dot);
    free(P);
}
