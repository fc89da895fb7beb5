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
        .room = groups,
        .P = group_rows_new(rows),
        .Z = group_rows_new(rows),
        .dS = group_rows_new(groups * rows),
        .dQ = group_rows_new(panels_of(d) * rows),
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

void workplace_free(struct workplace *w)
{
    for (size_t g = 0; g < w->room; g++)
        keys_free(&w->k[g]);
    float *const all[] = {
        (float *)w->k,    (float *)w->P, (float *)w->Z, (float *)w->dS, (float *)w->dQ,
        (float *)w->seen, w->Q,          w->dO,         w->L,           w->D
    };
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
    return q;
}

/* Queries first … end - 1 of a tile. */
struct stretch {
    size_t first, end;
};

/* The products of ROWS rows of A with all keys of B. */
INLINE struct block products(const float *A, const group_row *B, size_t d)
{
    return block_product((struct block){ 0 }, A, (ptrdiff_t)d, 1, B, d);
}

/*
 * P = e^{x - L} and dS = P (dP - D), ROWS queries at a time: as in chapter 05's overlap, the exponentials
 * go among the products. factor is the scale times log2(e).
 */
static void weigh(struct workplace *w, const struct keys *k, const struct queries *q, size_t d,
                  float factor, group_row *dS)
{
    for (size_t i = 0; i < q->padded; i += ROWS) {
        const struct block x = products(q->Q + i * d, (const group_row *)k->K, d);
        for (size_t r = 0; r < ROWS; r++)
            for (int v = 0; v < COLUMNS; v++)
                w->P[i + r][v] = vec_exp2(x.at[r][v] * factor - w->L[i + r]);
        const struct block dP = products(q->dO + i * d, (const group_row *)k->V, d);
        for (size_t r = 0; r < ROWS; r++)
            for (int v = 0; v < COLUMNS; v++)
                dS[i + r][v] = w->P[i + r][v] * (dP.at[r][v] - w->D[i + r]);
    }
}

/* The same for the queries of a stretch where some pairs do not count, and with dropout: P is P_drop then. */
static void weigh_seen(struct workplace *w, const struct keys *k, const struct queries *q, size_t d,
                       float factor, group_row *dS, struct stretch s, bool dropout)
{
    const vec none = vec_of(0.0f);
    for (size_t i = s.first; i < s.end; i += ROWS) {
        const struct block x = products(q->Q + i * d, (const group_row *)k->K, d);
        const struct block dP = products(q->dO + i * d, (const group_row *)k->V, d);
        for (size_t r = 0; r < ROWS; r++)
            for (int v = 0; v < COLUMNS; v++) {
                const vec Z = dropout ? w->Z[i + r][v] : vec_of(1.0f);
                const vec P = vec_exp2(x.at[r][v] * factor - w->L[i + r]);
                const ivec seen = w->seen[i + r][v];
                w->P[i + r][v] = vec_pick(seen, P * Z, none);
                dS[i + r][v] = vec_pick(seen, P * (dP.at[r][v] * Z - w->D[i + r]), none);
            }
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

/*
 * From the first query that sees some key of the group to the last, in whole blocks of ROWS. In causal
 * order most of a group's queries in a tile on the diagonal see none of its keys, or all of them.
 */
static struct stretch queries_that_see(const struct workplace *w, const struct queries *q)
{
    struct stretch s = { 0, q->padded };
    while (s.first < s.end && !seen_by_any(w->seen[s.first]))
        s.first++;
    while (s.end > s.first && !seen_by_any(w->seen[s.end - 1]))
        s.end--;
    return (struct stretch){ s.first / ROWS * ROWS, rounded_up(s.end) };
}

/* The keys' rows, with zeros for a key that none of the queries sees: there may be NaN. */
static const group_row *rows_seen(const struct workplace *w, const struct keys *k, size_t rows,
                                  size_t d)
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
    memcpy(k->holed, k->rows, panels_of(d) * GROUP * sizeof *k->rows);
    for (size_t n = 0; n < panels_of(d) * GROUP; n++)
        if (n % GROUP < k->cols && lane[n % GROUP] == 0)
            memset(&k->holed[n], 0, sizeof k->holed[n]);
    return (const group_row *)k->holed;
}

void workplace_see(struct workplace *w, size_t g, const struct backward_head *a,
                   const struct queries *q)
{
    const struct attention *p = a->p;
    struct keys *const k = &w->k[g];
    group_row *const dS = w->dS + g * q->padded;
    const float factor = p->scale * 0x1.715476p0f;
    const enum tile_kind kind =
        tile_kind(p, a->b, a->h, q->i0, q->i0 + q->rows, k->j0, k->j0 + k->cols);
    const bool dropout = p->dropout_threshold > 0;
    k->seen = NULL;
    if (kind == TILE_SKIPPED)
        return;
    struct stretch s = { 0, q->padded };
    const bool full = k->cols == GROUP && q->rows == q->padded;  // else 0 meets inf in the padding
    if (kind == TILE_WHOLE && full && !dropout) {
        weigh(w, k, q, p->d, factor, dS);
        k->seen = (const group_row *)k->rows;
    } else {
        keys_seen(w->seen, k, a, q->i0, q->rows);
        memset(w->seen + q->rows, 0, (q->padded - q->rows) * sizeof *w->seen);
        s = queries_that_see(w, q);
        if (dropout)
            keys_kept(w->Z, k, a, q->i0, q->rows);
        weigh_seen(w, k, q, p->d, factor, dS, s, dropout);
        memset(dS, 0, s.first * sizeof *dS);
        memset(dS + s.end, 0, (q->padded - s.end) * sizeof *dS);
        k->seen = rows_seen(w, k, q->rows, p->d);
    }
    const group_row *const P = (const group_row *)w->P + s.first;
    const size_t n = s.end - s.first;
    add_to_keys(k->dV, q->dO + s.first * p->d, P, n, p->d);
    add_to_keys(k->dK, q->Q + s.first * p->d, (const group_row *)dS + s.first, n, p->d);
}

void workplace_end(struct workplace *w, const struct queries *q, size_t d)
{
    for (size_t n = 0; n < panels_of(d); n++)
        for (size_t i = 0; i < q->padded; i += ROWS) {
            struct block c = { 0 };
            for (size_t g = 0; g < w->groups; g++) {
                const struct keys *const k = &w->k[g];
                if (k->seen)
                    c = block_product(c, (const float *)(w->dS + g * q->padded + i), GROUP, 1,
                                      k->seen + n * GROUP, k->cols);
            }
            memcpy(w->dQ + n * q->padded + i, &c, sizeof c);
        }
}
