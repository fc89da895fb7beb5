/* The input of a case: numbers from a seed, with the case's special values. */
#include "common/classroom/grader/judge.h"

#include "common/check/reference.h"
#include "common/cpu/memory.h"
#include "common/files/npy.h"
#include "common/program/attention_load.h"

#include <math.h>
#include <stdlib.h>

enum { STREAM_X = 30, STREAM_DO = 31, STREAM_MASK = 32, STREAM_PLACE = 33 };

static void put(const char *name, enum npy_type type, int dims, const size_t *shape,
                const void *data)
{
    char path[100];
    struct file_error error;
    snprintf(path, sizeof path, "in/%s.npy", name);
    if (!npy_write(path, type, dims, shape, data, &error))
        options_fail(path, "%s", error.text);
}

static float spread_of(const struct numbers *c)
{
    return c->spread != 0.0f ? c->spread : 1.0f;
}

// ---- rows ----------------------------------------------------------------------------------------

static void write_scores(const struct numbers *c, size_t rows, size_t cols, uint64_t seed)
{
    const size_t n = rows * cols;
    float *x = allocate(n, sizeof *x, "the input");
    random_normals(x, n, seed, STREAM_X);
    for (size_t k = 0; k < n; k++)
        x[k] = x[k] * spread_of(c) + c->shift;
    for (size_t i = 0; i < rows; i++) {
        float *row = x + i * cols;
        const size_t j = random_between(seed, STREAM_PLACE, i, 0, cols - 1);
        const bool odd = i % 2;  // every other row is ordinary: a bad row must not spoil the next
        if (c->special == WITH_NAN && odd)
            row[j] = NAN;
        if (c->special == WITH_PLUS_INF && odd)
            row[j] = INFINITY;
        if (c->special == WITH_MINUS_INF && cols > 2)
            row[j] = row[i % 3 == 0 ? 0 : j] = -INFINITY;
        for (size_t k = 0; k < cols; k++) {
            if (c->special == ONLY_MINUS_INF && odd)
                row[k] = -INFINITY;
            if (c->special == TINY_WEIGHTS && k % 3 == 0)
                row[k] = -120.0f;  // below the range of expf
        }
    }
    put("x", NPY_F4, 2, (const size_t[]){ rows, cols }, x);
    free(x);
}

/* Pairs of states, some of normal scores; for OF_SHARE the second is the merge of both. */
static void write_states(const struct numbers *c, enum kind kind, size_t rows, uint64_t seed)
{
    float *x = allocate(rows * 4, sizeof *x, "the input");
    for (size_t i = 0; i < rows; i++) {
        double m[2], l[2];
        for (size_t k = 0; k < 2; k++) {
            const bool empty =
                c->special == ONLY_MINUS_INF && i % 4 != 3 && (i % 4 == 2 || i % 2 == k);
            m[k] = empty ? -(double)INFINITY
                         : (double)spread_of(c) * random_normal(seed, STREAM_X, 2 * i + k);
            m[k] = (double)(float)m[k];
            l[k] = empty ? 0.0 : 1.0 + 30.0 * random_uniform(seed, STREAM_PLACE, 2 * i + k);
            l[k] = (double)(float)l[k];
        }
        if (kind == OF_SHARE && (l[0] > 0.0 || l[1] > 0.0)) {
            const double most = fmax(m[0], m[1]);
            l[1] = (l[0] > 0.0 ? l[0] * exp(m[0] - most) : 0.0) +
                   (l[1] > 0.0 ? l[1] * exp(m[1] - most) : 0.0);
            m[1] = most;
        }
        for (size_t k = 0; k < 2; k++) {
            x[4 * i + 2 * k] = (float)m[k];
            x[4 * i + 2 * k + 1] = (float)l[k];
        }
    }
    put("states", NPY_F4, 2, (const size_t[]){ rows, 4 }, x);
    free(x);
}

/* Per head: the sink, and lse (with the sink) and D of its queries. */
static void write_sinks(const struct numbers *c, size_t heads, size_t queries, uint64_t seed)
{
    const size_t length = 1 + 2 * queries;
    float *x = allocate(heads * length, sizeof *x, "the input");
    random_normals(x, heads * length, seed, STREAM_X);
    for (size_t h = 0; h < heads; h++) {
        float *const head = x + h * length;
        head[0] = head[0] * spread_of(c) + c->shift;
        for (size_t i = 1; i <= queries; i++) {  // without the sink, lse would be near this
            const double sink = (double)head[0],
                         keys = (double)head[i] + (c->shift == 0.0f ? sink : 0.0);
            head[i] = (float)(fmax(sink, keys) + log1p(exp(-fabs(sink - keys))));
        }
    }
    put("states", NPY_F4, 2, (const size_t[]){ heads, length }, x);
    free(x);
}

// ---- attention -----------------------------------------------------------------------------------

/* Masks about a third of each text's keys, never the first, and makes them NaN. */
static void mask_keys(struct attention_input *in, uint64_t seed)
{
    const struct attention *p = &in->p;
    in->key_mask = allocate(p->B * p->Nk, 1, "the key mask");
    for (size_t b = 0; b < p->B; b++)
        for (size_t j = 0; j < p->Nk; j++) {
            const bool seen = j == 0 || random_uniform(seed, STREAM_MASK, b * p->Nk + j) > 0.35;
            in->key_mask[b * p->Nk + j] = seen;
            for (size_t h = 0; h < p->Hkv && !seen; h++)
                for (size_t k = 0; k < p->d; k++) {
                    const size_t n = ((b * p->Hkv + h) * p->Nk + j) * p->d + k;
                    in->K[n] = in->V[n] = NAN;
                }
        }
    in->p.key_mask = in->key_mask;
    put("mask", NPY_B1, 2, (const size_t[]){ p->B, p->Nk }, in->key_mask);
}

static float row_maximum(const struct attention_input *in, size_t b, size_t h, size_t i)
{
    const struct attention *p = &in->p;
    const float *Q = in->Q + ((b * p->H + h) * p->Nq + i) * p->d;
    const float *K = in->K + (b * p->Hkv + kv_head(p, h)) * p->Nk * p->d;
    float m = -INFINITY;
    for (size_t j = 0; j < p->Nk; j++) {
        float x = 0.0f;
        for (size_t k = 0; k < p->d && visible(p, b, h, i, j); k++)
            x += Q[k] * K[j * p->d + k];
        if (visible(p, b, h, i, j))
            m = fmaxf(m, (float)score_of(p, b, h, i, j, (double)x));
    }
    return m;
}

/* O, lse, m and l of the reference, and dO. */
static void write_forward_pass(const struct attention_input *in, uint64_t seed)
{
    const struct attention *p = &in->p;
    const size_t n = attention_query_elements(p), rows = attention_rows(p);
    const size_t queries[4] = { p->B, p->H, p->Nq, p->d };
    double *O = allocate(n, sizeof *O, "O"), *lse = allocate(rows, sizeof *lse, "lse");
    float *x = allocate(n, sizeof *x, "O"), *l = allocate(rows, sizeof *l, "l");
    float *most = allocate(rows, sizeof *most, "m");
    reference_forward(p, in->Q, in->K, in->V, O, lse);
    random_normals(x, n, seed, STREAM_DO);
    put("do", NPY_F4, 4, queries, x);
    for (size_t k = 0; k < n; k++)
        x[k] = (float)O[k];
    put("o", NPY_F4, 4, queries, x);
    for (size_t row = 0; row < rows; row++)
        l[row] = (float)lse[row];
    put("lse", NPY_F4, 3, queries, l);
    size_t row = 0;
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t i = 0; i < p->Nq; i++, row++) {
                most[row] = row_maximum(in, b, h, i);
                l[row] = most[row] == -INFINITY ? 0.0f : (float)exp(lse[row] - (double)most[row]);
            }
    put("m", NPY_F4, 3, queries, most);
    put("l", NPY_F4, 3, queries, l);
    free(most);
    free(O);
    free(lse);
    free(x);
    free(l);
}

static void write_attention(enum kind kind, const struct numbers *c, const struct options *options)
{
    struct attention_input in = attention_input_load(options);
    const struct attention *p = &in.p;
    const size_t n = attention_query_elements(p), queries[4] = { p->B, p->H, p->Nq, p->d },
                 keys[4] = { p->B, p->Hkv, p->Nk, p->d };
    if (kind == OF_SINK) {
        float *x = allocate(p->H, sizeof *x, "the sinks");
        random_normals(x, p->H, options->seed, STREAM_X);
        for (size_t h = 0; h < p->H; h++)
            x[h] = 1.0f + 2.0f * x[h];
        put("x", NPY_F4, 1, &p->H, x);
        free(x);
    }
    if (c->hidden)
        mask_keys(&in, options->seed);
    // shifts all scores of a row, so that adjacent rows have distant maxima
    for (size_t k = 0; c->spread != 0.0f && k < n; k += p->d)
        in.Q[k] = (k / p->d % 4 == 1 ? c->spread : -c->spread) / p->scale;
    for (size_t k = 0; c->spread != 0.0f && k < attention_key_elements(p); k += p->d)
        in.K[k] = 1.0f;
    // q k is -inf for a first tile of keys, and for one among others
    for (size_t i = 0; c->special == WITH_MINUS_INF && i < p->Nq; i++)
        in.Q[i] = 0.5f + fabsf(in.Q[i]);
    for (size_t j = 0; c->special == WITH_MINUS_INF && j < p->Nk; j++)
        if (j < 5 || j == 7)
            in.K[j] = -INFINITY;
    put("q", NPY_F4, 4, queries, in.Q);
    put("k", NPY_F4, 4, keys, in.K);
    put("v", NPY_F4, 4, keys, in.V);
    if (kind == OF_BACKWARD)
        write_forward_pass(&in, options->seed);
    attention_input_free(&in);
}

void input_write(enum kind kind, const struct numbers *numbers, const struct options *options)
{
    const size_t rows = options->rows, cols = options->cols;
    if (kind == OF_ROWS)
        write_scores(numbers, rows, cols, options->seed);
    else if (kind == OF_MERGE || kind == OF_SHARE)
        write_states(numbers, kind, rows, options->seed);
    else if (kind == OF_DSINK)
        write_sinks(numbers, rows, cols, options->seed);
    else
        write_attention(kind, numbers, options);
}
