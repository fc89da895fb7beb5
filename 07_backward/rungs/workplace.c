#include "workplace.h"

#include <string.h>

static size_t rounded_up(size_t n)
{
    return (n + ROWS - 1) / ROWS * ROWS;
}

struct workplace workplace_new(struct tile_size size, size_t d)
{
    const size_t groups = (size.Bc - 1) / GROUP + 1, rows = rounded_up(size.Br);
    struct workplace w = {
        .k = (struct keys *)extra_fast("groups", groups * sizeof *w.k / sizeof(float)),
        .P = group_rows_new(rows),
        .dS = group_rows_new(rows),
        .Z = group_rows_new(rows),
        .dQ = group_rows_new(panels_of(d) * rows),
        .rows = group_rows_new(panels_of(d) * GROUP),
        .seen = seen_new(rows),
        .Q = extra_fast("a tile of Q", rows * d),
        .dO = extra_fast("a tile of dO", rows * d),
        .L = extra_fast("a tile of L", rows),
        .D = extra_fast("a tile of D", rows),
    };
    for (size_t g = 0; g < groups; g++)
        w.k[g] = keys_new(d);
    return w;
}

void workplace_free(struct workplace *w, struct tile_size size)
{
    for (size_t g = 0; g < (size.Bc - 1) / GROUP + 1; g++)
        keys_free(&w->k[g]);
    float *const all[] = { (float *)w->k,
                           (float *)w->P,
                           (float *)w->dS,
                           (float *)w->Z,
                           (float *)w->dQ,
                           (float *)w->rows,
                           (float *)w->seen,
                           w->Q,
                           w->dO,
                           w->L,
                           w->D };
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++)
        extra_free(all[n]);
}

static const float *padded(float *to, const float *from, size_t rows, size_t d)
{
    if (rows % ROWS == 0)
        return from;
    memcpy(to, from, rows * d * sizeof *to);
    memset(to + rows * d, 0, (rounded_up(rows) - rows) * d * sizeof *to);
    return to;
}

/* Of a query that sees nothing L is -inf; with +inf instead, every e^{x - L} of it is 0 and not NaN. */
struct queries workplace_queries(struct workplace *w, const struct backward_head *a, const float *D,
                                 size_t i0, size_t rows)
{
    const size_t d = a->p->d;
    struct queries q = { padded(w->Q, a->Q + i0 * d, rows, d),
                         padded(w->dO, a->dO + i0 * d, rows, d), i0, rows, rounded_up(rows) };
    for (size_t r = 0; r < q.padded; r++) {
        const float L = r < rows ? a->lse[i0 + r] : -INFINITY;
        w->L[r] = L == -INFINITY ? INFINITY : L * 0x1.715476p0f;
        w->D[r] = r < rows ? D[i0 + r] : 0.0f;
    }
    memset(w->dQ, 0, panels_of(d) * q.padded * sizeof *w->dQ);
    return q;
}

/* Row r of C: the products of row r of A with all keys of B. */
static void products(group_row *C, const float *A, const group_row *B, size_t rows, size_t d)
{
    for (size_t r = 0; r < rows; r += ROWS) {
        const struct block c = block_product((struct block){ 0 }, A + r * d, (ptrdiff_t)d, 1, B, d);
        memcpy(C + r, &c, sizeof c);
    }
}

/* P holds scores, unscaled, and dS holds dP: they become P and dS. */
static void weigh(struct workplace *w, float factor, size_t rows)
{
    for (size_t r = 0; r < rows; r++)
        for (int v = 0; v < COLUMNS; v++) {
            w->P[r][v] = vec_exp2(w->P[r][v] * factor - w->L[r]);
            w->dS[r][v] = w->P[r][v] * (w->dS[r][v] - w->D[r]);
        }
}

/* The same where some pairs do not count, and with dropout: P is P_drop then. */
static void weigh_seen(struct workplace *w, float factor, size_t rows, bool dropout)
{
    for (size_t r = 0; r < rows; r++)
        for (int v = 0; v < COLUMNS; v++) {
            const vec none = vec_of(0.0f), Z = dropout ? w->Z[r][v] : vec_of(1.0f);
            const vec P = vec_exp2(w->P[r][v] * factor - w->L[r]);
            const vec dS = P * (w->dS[r][v] * Z - w->D[r]);
            w->P[r][v] = vec_pick(w->seen[r][v], P * Z, none);
            w->dS[r][v] = vec_pick(w->seen[r][v], dS, none);
        }
}

/* C += A^T X: element k of a query, times its row of X, is added to row k of C. */
static void add_to_keys(group_row *C, const float *A, const group_row *X, size_t rows, size_t d)
{
    size_t k = 0;
    for (; k + ROWS <= d; k += ROWS) {
        const struct block c = block_product((struct block){ 0 }, A + k, 1, (ptrdiff_t)d, X, rows);
        for (int r = 0; r < ROWS; r++)
            for (int v = 0; v < COLUMNS; v++)
                C[k + (size_t)r][v] += c.at[r][v];
    }
    for (; k < d; k++)  // fewer than ROWS are left
        for (int v = 0; v < COLUMNS; v++) {
            vec sum = vec_of(0.0f);
            for (size_t r = 0; r < rows; r++)
                sum += A[r * d + k] * X[r][v];
            C[k][v] += sum;
        }
}

/* dQ += dS K, panel by panel. */
static void add_to_queries(group_row *dQ, const group_row *dS, const group_row *K, size_t rows,
                           size_t cols, size_t d)
{
    for (size_t n = 0; n < panels_of(d); n++)
        for (size_t r = 0; r < rows; r += ROWS) {
            const struct block c = block_product((struct block){ 0 }, (const float *)(dS + r),
                                                 GROUP, 1, K + n * GROUP, cols);
            for (size_t k = 0; k < ROWS; k++)
                for (int v = 0; v < COLUMNS; v++)
                    dQ[n * rows + r + k][v] += c.at[k][v];
        }
}

/* K as it lies, with zeros for a key that none of the queries sees: there may be NaN. */
static const group_row *rows_seen(struct workplace *w, const struct keys *k, size_t rows, size_t d)
{
    seen_row any = { { 0 } };
    bool holes = false;
    for (size_t r = 0; r < rows; r++)
        for (int v = 0; v < COLUMNS; v++)
            any[v] |= w->seen[r][v];
    const int32_t *const lane = (const int32_t *)any;
    for (size_t c = 0; c < k->cols; c++)
        holes |= lane[c] == 0;
    if (!holes)
        return (const group_row *)k->rows;
    memcpy(w->rows, k->rows, panels_of(d) * GROUP * sizeof *w->rows);
    for (size_t n = 0; n < panels_of(d) * GROUP; n++)
        if (n % GROUP < k->cols && lane[n % GROUP] == 0)
            memset(&w->rows[n], 0, sizeof w->rows[n]);
    return (const group_row *)w->rows;
}

void workplace_see(struct workplace *w, struct keys *k, const struct backward_head *a,
                   const struct queries *q)
{
    const struct attention *p = a->p;
    const size_t d = p->d;
    const float factor = p->scale * 0x1.715476p0f;
    const group_row *K = (const group_row *)k->rows;
    const enum tile_kind kind =
        tile_kind(p, a->b, a->h, q->i0, q->i0 + q->rows, k->j0, k->j0 + k->cols);
    const bool dropout = p->dropout_threshold > 0;
    if (kind == TILE_SKIPPED)
        return;
    products(w->P, q->Q, (const group_row *)k->K, q->padded, d);
    products(w->dS, q->dO, (const group_row *)k->V, q->padded, d);
    const bool full = k->cols == GROUP && q->rows == q->padded;  // else 0 meets inf in the padding
    if (kind == TILE_WHOLE && full && !dropout) {
        weigh(w, factor, q->padded);
    } else {
        keys_seen(w->seen, k, a, q->i0, q->rows);
        memset(w->seen + q->rows, 0, (q->padded - q->rows) * sizeof *w->seen);
        if (dropout)
            keys_kept(w->Z, k, a, q->i0, q->rows);
        weigh_seen(w, factor, q->padded, dropout);
        K = rows_seen(w, k, q->rows, d);
    }
    add_to_keys(k->dV, q->dO, (const group_row *)w->P, q->padded, d);
    add_to_keys(k->dK, q->Q, (const group_row *)w->dS, q->padded, d);
    add_to_queries(w->dQ, (const group_row *)w->dS, K, q->padded, k->cols, d);
}
