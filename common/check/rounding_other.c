/*
 * Softmax alone, and a product alone.
 */
#include "common/check/reference.h"
#include "common/check/reference_parts.h"
#include "common/check/rounding_parts.h"
#include "common/cpu/memory.h"

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

void rounding_softmax(const float *x, struct exact *y, size_t rows, size_t cols)
{
    double *right = allocate(cols, sizeof *right, "the reference");
    for (size_t i = 0; i < rows; i++) {
        const float *const xi = x + i * cols;
        double m = (double)-INFINITY;
        for (size_t j = 0; j < cols; j++)
            m = (double)xi[j] > m ? (double)xi[j] : m;
        reference_softmax(xi, right, 1, cols);
        const double of_l = rounding_of_sum(1.0, 0.0, cols, DTYPE_F32);
        struct lossy l = { { 0.0f } };
        for (size_t j = 0; j < cols; j++)
            lossy_add(&l, right[j]);
        const double lost = rounding_lost(&l, 1.0, of_l);
        for (size_t j = 0; j < cols; j++) {
            // x - m, its exponential, the division
            const double own = square((double)xi[j] - m) + 3.0;
            y[i * cols + j] = (struct exact){
                .value = right[j],
                .sigma = fabs(right[j]) * sqrt(of_l + square(RMS) * own),
                .bias = rounding_bias(right[j], right[j] * lost, cols, DTYPE_F32),
            };
        }
    }
    free(right);
}

void rounding_product_row(const struct attention *p, const float *Q, const float *K, const float *V,
                          size_t b, size_t h, size_t i, struct exact *O_i)
{
    const size_t d = p->d;
    struct product {
        double sum, squares, of_scores;
        struct lossy lossy;
    } *columns = allocate(d, sizeof *columns, "sums over a row");
    for (size_t c = 0; c < d; c++)
        columns[c] = (struct product){ 0 };
    for (size_t j = 0; j < p->Nk; j++) {
        const struct key key = rounding_key(p, Q, K, b, h, i, j);
        const float *const v = V + reference_key(p, b, h, j);
        for (size_t c = 0; c < d; c++) {
            const double term = key.score * (double)v[c];
            columns[c].sum += term;
            columns[c].squares += square(term);
            lossy_add(&columns[c].lossy, term);
            columns[c].of_scores += key.variance * square((double)v[c]);
        }
    }
    for (const struct product *c = columns; c < columns + d; c++) {
        const double O = c->sum, of_sum = rounding_of_sum(O, c->squares, p->Nk, p->dtype);
        *O_i++ = (struct exact){
            .value = O,
            .sigma = sqrt(c->of_scores + of_sum),
            .bias = rounding_bias(O, rounding_lost(&c->lossy, O, of_sum), p->Nk, p->dtype),
        };
    }
    free(columns);
}
