#include "common/check/reference.h"

#include "common/check/reference_parts.h"
#include "common/cpu/memory.h"

#include <stdlib.h>

/* The derivative of a pair's score with respect to its dot product: the scale, in most problems. */
static double slope(const struct attention *p, const float *Q, const float *K, size_t b, size_t h,
                    size_t i, size_t j)
{
    if (!score_option(p))
        return (double)p->scale;
    return score_slope(
        p, b, h, i, j,
        reference_dot(reference_query(p, Q, b, h, i), K + reference_key(p, b, h, j), p->d));
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
            d_dot[j] = P[j] * (dP[j] - D) * slope(p, Q, K, b, h, i, j);
}

/* Adds what query (b, h, i) contributes to the three gradients; P and d_dot have room for Nk. */
static void backward_row(const struct attention *p, const float *Q, const float *K, const float *V,
                         const float *dO, size_t b, size_t h, size_t i, double *P, double *d_dot,
                         double *dQ, double *dK, double *dV)
{
    const size_t row = ((b * p->H + h) * p->Nq + i) * p->d;
    reference_pairs(p, Q, K, V, dO, b, h, i, P, d_dot);
    for (size_t j = 0; j < p->Nk; j++) {
        if (!visible(p, b, h, i, j))
            continue;
        const size_t key = reference_key(p, b, h, j);
        const double Z = reference_dropout(p, b, h, i, j);
        for (size_t c = 0; c < p->d; c++) {
            dQ[row + c] += d_dot[j] * (double)K[key + c];
            dK[key + c] += d_dot[j] * (double)Q[row + c];
            dV[key + c] += P[j] * Z * (double)dO[row + c];
        }
    }
}

void reference_backward(const struct attention *p, const float *Q, const float *K, const float *V,
                        const float *dO, double *dQ, double *dK, double *dV)
{
    const size_t queries = p->B * p->H * p->Nq * p->d, keys = p->B * p->Hkv * p->Nk * p->d;
    for (size_t n = 0; n < queries; n++)
        dQ[n] = 0.0;
    for (size_t n = 0; n < keys; n++)
        dK[n] = dV[n] = 0.0;

    double *P = allocate(p->Nk, sizeof *P, "a row of the reference's P");
    double *d_dot = allocate(p->Nk, sizeof *d_dot, "a row of the reference's dS");
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t i = 0; i < p->Nq; i++)
                backward_row(p, Q, K, V, dO, b, h, i, P, d_dot, dQ, dK, dV);
    free(d_dot);
    free(P);
}
