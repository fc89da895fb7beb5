#include "common/check/reference.h"

#include "common/check/reference_parts.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"

#include <math.h>
#include <stdlib.h>

/*
 * The derivative of a pair's score with respect to its dot product, which most problems do not
 * need.
 */
static double slope(const struct attention *p, const float *Q, const float *K, size_t b, size_t h,
                    size_t i, size_t j)
{
    if (!score_option(p))
        return (double)p->scale;
    return score_slope(
        p, b, h, i, j,
        reference_dot(reference_query(p, Q, b, h, i), K + reference_key(p, b, h, j), p->d));
}

/* P and dS of query (b, h, i) for its keys, from dP and D = sum of P dP: dS = P (dP - D). */
static void dS_of_query(const struct attention *p, const float *Q, const float *K, const float *V,
                        const float *dO, size_t b, size_t h, size_t i, double *P, double *dS)
{
    const size_t row = ((b * p->H + h) * p->Nq + i) * p->d;
    double D = 0.0, *dP = dS;
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
            dS[j] = P[j] * (dP[j] - D);
}

double reference_largest_dS(const struct attention *p, const float *Q, const float *K,
                            const float *V, const float *dO, size_t b, size_t h, size_t i)
{
    double *P = allocate(p->Nk, sizeof *P, "a row of P"),
           *dS = allocate(p->Nk, sizeof *dS, "a row of dS"), most = 0.0;
    dS_of_query(p, Q, K, V, dO, b, h, i, P, dS);
    for (size_t j = 0; j < p->Nk; j++)
        if (visible(p, b, h, i, j))
            most = fmax(most, fabs(dS[j]));
    free(dS);
    free(P);
    return most;
}

/* The same, and by the chain rule the gradient of each dot product: dS times the slope of the score. */
static void pairs_of_query(const struct attention *p, const float *Q, const float *K,
                           const float *V, const float *dO, size_t b, size_t h, size_t i, double *P,
                           double *d_dot)
{
    dS_of_query(p, Q, K, V, dO, b, h, i, P, d_dot);
    for (size_t j = 0; j < p->Nk; j++)
        if (visible(p, b, h, i, j))
            d_dot[j] *= slope(p, Q, K, b, h, i, j);
}

/* Adds what query (b, h, i) contributes to the three gradients; P and d_dot have room for Nk. */
static void backward_row(const struct attention *p, const float *Q, const float *K, const float *V,
                         const float *dO, size_t b, size_t h, size_t i, double *P, double *d_dot,
                         double *dQ, double *dK, double *dV)
{
    const size_t row = ((b * p->H + h) * p->Nq + i) * p->d;
    pairs_of_query(p, Q, K, V, dO, b, h, i, P, d_dot);
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

void reference_backward_query(const struct attention *p, const float *Q, const float *K,
                              const float *V, const float *dO, size_t b, size_t h, size_t i,
                              double *dQ_i)
{
    double *P = allocate(p->Nk, sizeof *P, "a row of P"),
           *d_dot = allocate(p->Nk, sizeof *d_dot, "a row of dS");
    pairs_of_query(p, Q, K, V, dO, b, h, i, P, d_dot);
    for (size_t c = 0; c < p->d; c++)
        dQ_i[c] = 0.0;
    for (size_t j = 0; j < p->Nk; j++)
        for (size_t c = 0; c < (visible(p, b, h, i, j) ? p->d : 0); c++)
            dQ_i[c] += d_dot[j] * (double)K[reference_key(p, b, h, j) + c];
    free(d_dot);
    free(P);
}

bool reference_attends_to_any(const struct attention *p, size_t b, size_t h, size_t i,
                              const size_t *rows, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (visible(p, b, h, i, rows[k] % p->Nk))
            return true;
    return false;
}

/* How much of a query is in the gradients of a key: `of_Q` of its row of Q in dK, `of_dO` of its row of dO in dV. */
struct share {
    double of_Q, of_dO;
};

/* The shares of query (b, h, i) in each of `count` keys, 0 for keys to which it does not attend. */
static void shares_of_query(const struct attention *p, const float *Q, const float *K,
                            const float *V, const float *dO, size_t b, size_t h, size_t i,
                            const size_t *rows, size_t count, struct share *shares)
{
    if (!reference_attends_to_any(p, b, h, i, rows, count))
        return;
    double *P = allocate(p->Nk, sizeof *P, "a row of P"),
           *d_dot = allocate(p->Nk, sizeof *d_dot, "a row of dS");
    pairs_of_query(p, Q, K, V, dO, b, h, i, P, d_dot);
    for (size_t k = 0; k < count; k++) {
        const size_t j = rows[k] % p->Nk;
        if (visible(p, b, h, i, j))
            shares[k] = (struct share){ d_dot[j], P[j] * reference_dropout(p, b, h, i, j) };
    }
    free(d_dot);
    free(P);
}

/*
 * Queries share nothing until they are added up in order, so any number of threads gives the same
 * bits.
 */
void reference_backward_keys(const struct attention *p, const float *Q, const float *K,
                             const float *V, const float *dO, const size_t *rows, size_t count,
                             double *dK, double *dV)
{
    const size_t group = p->H / p->Hkv, queries = group * p->Nq;
    const size_t b = rows[0] / p->Nk / p->Hkv, first = rows[0] / p->Nk % p->Hkv * group;
    struct share *shares = allocate(queries * count, sizeof *shares, "the shares of queries");
    PARALLEL(omp parallel for schedule(dynamic))
    for (size_t q = 0; q < queries; q++)
        shares_of_query(p, Q, K, V, dO, b, first + q / p->Nq, q % p->Nq, rows, count,
                        shares + q * count);
    for (size_t n = 0; n < count * p->d; n++)
        dK[n] = dV[n] = 0.0;
    for (size_t n = 0; n < queries * count; n++) {
        const size_t q = n / count, k = n % count, h = first + q / p->Nq, i = q % p->Nq;
        const size_t row = ((b * p->H + h) * p->Nq + i) * p->d;
        if (!visible(p, b, h, i, rows[k] % p->Nk))
            continue;
        for (size_t c = 0; c < p->d; c++) {
            dK[k * p->d + c] += shares[n].of_Q * (double)Q[row + c];
            dV[k * p->d + c] += shares[n].of_dO * (double)dO[row + c];
        }
    }
    free(shares);
}
