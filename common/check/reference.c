#include "common/check/reference.h"

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

static double dot(const float *a, const float *b, size_t n)
{
    double sum = 0.0;
    for (size_t c = 0; c < n; c++)
        sum += (double)a[c] * (double)b[c];
    return sum;
}

static const float *query_row(const struct attention *p, const float *Q, size_t b, size_t h,
                              size_t i)
{
    return Q + ((b * p->H + h) * p->Nq + i) * p->d;
}

static size_t key_row(const struct attention *p, size_t b, size_t h, size_t j)
{
    return ((b * p->Hkv + kv_head(p, h)) * p->Nk + j) * p->d;
}

/*
 * P[j] = softmax of the visible scores of query (b, h, i), 0 for masked keys and scores of -inf.
 * Returns lse, -inf for a query without keys.
 */
static double probabilities(const struct attention *p, const float *Q, const float *K, size_t b,
                            size_t h, size_t i, double *P)
{
    double m = (double)-INFINITY, l = 0.0;
    for (size_t j = 0; j < p->Nk; j++) {
        P[j] = (double)-INFINITY;
        if (visible(p, b, h, i, j))
            P[j] = score_of(p, b, h, i, j,
                            dot(query_row(p, Q, b, h, i), K + key_row(p, b, h, j), p->d));
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

/* Z of the papers: 1/(1 - P) if dropout keeps the weight, otherwise 0. */
static double dropout_factor(const struct attention *p, size_t b, size_t h, size_t i, size_t j)
{
    return dropout_keeps(p, b, h, i, j) ? 1.0 / (1.0 - p->dropout) : 0.0;
}

static void forward_row(const struct attention *p, const float *Q, const float *K, const float *V,
                        size_t b, size_t h, size_t i, double *P, double *O_i, double *lse_i)
{
    double lse = probabilities(p, Q, K, b, h, i, P);
    if (lse_i)
        *lse_i = lse;
    for (size_t c = 0; c < p->d; c++)
        O_i[c] = 0.0;
    for (size_t j = 0; j < p->Nk; j++) {
        double weight = P[j] * dropout_factor(p, b, h, i, j);
        if (!visible(p, b, h, i, j))
            continue;
        for (size_t c = 0; c < p->d; c++)
            O_i[c] += weight * (double)V[key_row(p, b, h, j) + c];
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

/* d score / d dot. Without a score option it does not need the dot product. */
static double slope(const struct attention *p, const float *Q, const float *K, size_t b, size_t h,
                    size_t i, size_t j)
{
    if (!score_option(p))
        return (double)p->scale;
    return score_slope(p, b, h, i, j, dot(query_row(p, Q, b, h, i), K + key_row(p, b, h, j), p->d));
}

/* P and dS = P (dP - D) of query (b, h, i) for visible keys, with D = sum of P dP. */
static void dS_of_query(const struct attention *p, const float *Q, const float *K, const float *V,
                        const float *dO, size_t b, size_t h, size_t i, double *P, double *dS)
{
    const size_t row = ((b * p->H + h) * p->Nq + i) * p->d;
    double D = 0.0, *dP = dS;
    probabilities(p, Q, K, b, h, i, P);
    for (size_t j = 0; j < p->Nk; j++) {
        if (!visible(p, b, h, i, j))
            continue;
        dP[j] = dropout_factor(p, b, h, i, j) * dot(dO + row, V + key_row(p, b, h, j), p->d);
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

static void pairs_of_query(const struct attention *p, const float *Q, const float *K,
                           const float *V, const float *dO, size_t b, size_t h, size_t i, double *P,
                           double *d_dot)
{
    dS_of_query(p, Q, K, V, dO, b, h, i, P, d_dot);
    for (size_t j = 0; j < p->Nk; j++)
        if (visible(p, b, h, i, j))
            d_dot[j] *= slope(p, Q, K, b, h, i, j);
}

static void backward_row(const struct attention *p, const float *Q, const float *K, const float *V,
                         const float *dO, size_t b, size_t h, size_t i, double *P, double *d_dot,
                         double *dQ, double *dK, double *dV)
{
    const size_t row = ((b * p->H + h) * p->Nq + i) * p->d;
    pairs_of_query(p, Q, K, V, dO, b, h, i, P, d_dot);
    for (size_t j = 0; j < p->Nk; j++) {
        if (!visible(p, b, h, i, j))
            continue;
        const size_t key = key_row(p, b, h, j);
        const double Z = dropout_factor(p, b, h, i, j);
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
            dQ_i[c] += d_dot[j] * (double)K[key_row(p, b, h, j) + c];
    free(d_dot);
    free(P);
}

/* A query's factors in a key's gradients: of its row of Q in dK, of its row of dO in dV. */
struct share {
    double of_Q, of_dO;
};

bool reference_attends_to_any(const struct attention *p, size_t b, size_t h, size_t i,
                              const size_t *rows, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (visible(p, b, h, i, rows[k] % p->Nk))
            return true;
    return false;
}

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
            shares[k] = (struct share){ d_dot[j], P[j] * dropout_factor(p, b, h, i, j) };
    }
    free(d_dot);
    free(P);
}

/* We add queries up in order, so the result does not depend on the number of threads. */
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
