/*
 * Step: sums in registers.
 *
 * In the compiler's loop every multiply-add loads a vector. Here four sums stay in registers, and
 * one loaded vector serves four rows. Vectors are explicit, as compilers did not find this.
 */
#include "05_flash_tiled_cpu/fast/columns.h"
#include "05_flash_tiled_cpu/fast/exp2.h"
#include "05_flash_tiled_cpu/steps/steps.h"

enum { ROWS_AT_ONCE = 4 };

/*
 * c(r, i) += sum over k of a[r row + k stride] B(k, i), ROWS_AT_ONCE rows r, a vector of queries i
 */
INLINE void product(float *c, const float *a, size_t row, size_t stride, const float *B, size_t n)
{
    vec sum[ROWS_AT_ONCE];
    for (size_t r = 0; r < ROWS_AT_ONCE; r++)
        sum[r] = vec_load(c + r * QUERIES);
    for (size_t k = 0; k < n; k++)
        for (size_t r = 0; r < ROWS_AT_ONCE; r++)
            sum[r] += a[r * row + k * stride] * vec_load(B + k * QUERIES);
    for (size_t r = 0; r < ROWS_AT_ONCE; r++)
        vec_store(c + r * QUERIES, sum[r]);
}

INLINE void row_product(float *c, const float *a, size_t stride, const float *B, size_t n)
{
    vec sum = vec_load(c);
    for (size_t k = 0; k < n; k++)
        sum += a[k * stride] * vec_load(B + k * QUERIES);
    vec_store(c, sum);
}

INLINE void products(float *c, size_t rows, const float *a, size_t row, size_t stride,
                     const float *B, size_t n)
{
    for (size_t i = 0; i < QUERIES; i += LANES) {
        size_t r = 0;
        for (; r + ROWS_AT_ONCE <= rows; r += ROWS_AT_ONCE)
            product(c + r * QUERIES + i, a + r * row, row, stride, B + i, n);
        for (; r < rows; r++)
            row_product(c + r * QUERIES + i, a + r * row, stride, B + i, n);
    }
}

void registers(const struct attention *p, struct tile_size size, struct tensors x)
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
                tile_fill(S[0], 0.0f, cols * QUERIES);
                products(S[0], cols, a.K + j0 * d, d, 1, t->Q[0], d);
                columns_softmax(t, S, cols, d, exp2_of);
                products(t->O[0], d, a.V + j0 * d, 1, d, S[0], cols);
            }
            columns_end(t, &a);
        }
    }
    extra_free((float *)S);
    extra_free((float *)t);
}
