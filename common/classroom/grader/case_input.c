/*
 * The input of a case: numbers from a seed, and what the case wants to be special about them.
 */
#include "common/classroom/grader/grade.h"

#include "common/check/reference.h"
#include "common/cpu/memory.h"
#include "common/problem/block_mask.h"

#include <math.h>
#include <stdlib.h>

enum { STREAM_X = 30, STREAM_DO = 31, STREAM_MASK = 32, STREAM_PLACE = 33 };

/* How far normal numbers are spread; 1 unless the case says otherwise. */
static float spread_of(const struct test_case *c)
{
    return c->spread != 0.0f ? c->spread : 1.0f;
}

static float *scores_of(const struct test_case *c, uint64_t seed)
{
    const size_t n = c->rows * c->cols;
    float *x = allocate(n, sizeof *x, "the input");
    random_normals(x, n, seed, STREAM_X);
    for (size_t k = 0; k < n; k++)
        x[k] = x[k] * spread_of(c) + c->shift;
    for (size_t i = 0; i < c->rows; i++) {
        float *row = x + i * c->cols;
        const size_t j = random_between(seed, STREAM_PLACE, i, 0, c->cols - 1);
        const bool odd = i % 2;  // the others stay as they are: a bad row must not spoil the next
        if (c->special == WITH_NAN && odd)
            row[j] = NAN;
        if (c->special == WITH_PLUS_INF && odd)
            row[j] = INFINITY;
        if (c->special == WITH_MINUS_INF && c->cols > 2)
            row[j] = row[i % 3 == 0 ? 0 : j] = -INFINITY;
        for (size_t k = 0; k < c->cols; k++) {
            if (c->special == ONLY_MINUS_INF && odd)
                row[k] = -INFINITY;
            if (c->special == TINY_WEIGHTS && k % 3 == 0)
                row[k] = -120.0f;  // below the range of expf
        }
    }
    return x;
}

/* Pairs of states: some of blocks of normal scores; for OF_SHARE the second is the merge of both. */
static float *states_of(const struct test_case *c, enum kind kind, uint64_t seed)
{
    float *x = allocate(c->rows * 4, sizeof *x, "the input");
    for (size_t i = 0; i < c->rows; i++) {
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
    return x;
}

/* For each head its sink, the log-sum-exps of its queries, which count it, and their D. */
static float *sinks_of(const struct test_case *c, uint64_t seed)
{
    const size_t length = 1 + 2 * c->cols;
    float *x = allocate(c->rows * length, sizeof *x, "the input");
    random_normals(x, c->rows * length, seed, STREAM_X);
    for (size_t h = 0; h < c->rows; h++) {
        float *const head = x + h * length;
        head[0] = head[0] * spread_of(c) + c->shift;
        for (size_t i = 1; i <= c->cols; i++) {  // of the keys alone it would be about this
            const double sink = (double)head[0],
                         keys = (double)head[i] + (c->shift == 0.0f ? sink : 0.0);
            head[i] = (float)(fmax(sink, keys) + log1p(exp(-fabs(sink - keys))));
        }
    }
    return x;
}

/* Hides about a third of the keys of each text, never the first; with `nan` nobody may read them. */
static void hide_keys(struct attention_input *in, uint64_t seed, bool nan)
{
    const struct attention *p = &in->p;
    in->key_mask = allocate(p->B * p->Nk, 1, "the key mask");
    for (size_t b = 0; b < p->B; b++)
        for (size_t j = 0; j < p->Nk; j++) {
            const bool seen = j == 0 || random_uniform(seed, STREAM_MASK, b * p->Nk + j) > 0.35;
            in->key_mask[b * p->Nk + j] = seen;
            for (size_t h = 0; h < p->Hkv && nan && !seen; h++)
                for (size_t k = 0; k < p->d; k++) {
                    const size_t n = ((b * p->Hkv + h) * p->Nk + j) * p->d + k;
                    in->K[n] = in->V[n] = NAN;
                }
        }
    in->p.key_mask = in->key_mask;
}

/* What the forward pass leaves for the backward pass, from the reference: O, lse, and m and l for fa1. */
static void forward_pass(struct case_input *in)
{
    const struct attention *p = &in->attention.p;
    const size_t n = attention_query_elements(p), rows = attention_rows(p);
    double *O = allocate(n, sizeof *O, "O"), *lse = allocate(rows, sizeof *lse, "lse");
    reference_forward(p, in->attention.Q, in->attention.K, in->attention.V, O, lse);
    in->O = allocate(n, sizeof(float), "O");
    in->lse = allocate(rows, sizeof(float), "lse");
    in->m = allocate(rows, sizeof(float), "m");
    in->l = allocate(rows, sizeof(float), "l");
    for (size_t k = 0; k < n; k++)
        in->O[k] = (float)O[k];
    for (size_t row = 0; row < rows; row++) {
        const size_t i = row % p->Nq, h = row / p->Nq % p->H, b = row / p->Nq / p->H;
        const float *Q = in->attention.Q + row * p->d;
        const float *K = in->attention.K + (b * p->Hkv + kv_head(p, h)) * p->Nk * p->d;
        float m = -INFINITY;
        for (size_t j = 0; j < p->Nk; j++) {
            float x = 0.0f;
            if (!visible(p, b, h, i, j))
                continue;
            for (size_t k = 0; k < p->d; k++)
                x += Q[k] * K[j * p->d + k];
            m = fmaxf(m, (float)score_of(p, b, h, i, j, (double)x));
        }
        in->lse[row] = (float)lse[row];
        in->m[row] = m;
        in->l[row] = m == -INFINITY ? 0.0f : (float)exp(lse[row] - (double)m);
    }
    free(O);
    free(lse);
}

struct case_input case_input_new(const struct graded_program *program, const struct test_case *c,
                                 uint64_t seed)
{
    struct case_input in = { .x = NULL };
    if (program->kind == OF_ROWS) {
        in.x = scores_of(c, seed);
        return in;
    }
    if (program->kind == OF_MERGE || program->kind == OF_SHARE) {
        in.x = states_of(c, program->kind, seed);
        return in;
    }
    if (program->kind == OF_DSINK) {
        in.x = sinks_of(c, seed);
        return in;
    }
    struct attention p = attention_of(c->p.B, c->p.H, c->p.Hkv, c->p.Nq, c->p.Nk, c->p.d);
    if (c->p.scale != 0.0f)
        p.scale = c->p.scale;
    p.causal = c->p.causal;
    p.top_left = c->p.top_left;
    p.window_left = c->p.window_left;
    p.window_right = c->p.window_right;
    if (c->p.dropout > 0.0)
        attention_set_dropout(&p, c->p.dropout, DROPOUT_SEED);
    p.softcap = c->p.softcap;
    p.dtype = c->p.dtype;
    in.attention = attention_input_random(p, seed);
    dtype_round_all(p.dtype, in.attention.Q, attention_query_elements(&p));
    dtype_round_all(p.dtype, in.attention.K, attention_key_elements(&p));
    dtype_round_all(p.dtype, in.attention.V, attention_key_elements(&p));
    if (program->kind == OF_SINK) {
        in.x = allocate(p.H, sizeof *in.x, "the sinks");
        random_normals(in.x, p.H, seed, STREAM_X);
        for (size_t h = 0; h < p.H; h++)
            in.x[h] = 1.0f + 2.0f * in.x[h];
    }
    if (c->key_mask)
        hide_keys(&in.attention, seed, c->hidden_nan);
    if (c->p.mask_rows > 0) {
        struct attention *const of = &in.attention.p;
        of->mask_rows = c->p.mask_rows;
        of->mask_cols = c->p.mask_cols;
        in.attention.block_mask = allocate((p.Nq - 1) / of->mask_rows + 1,
                                           (p.Nk - 1) / of->mask_cols + 1, "the block mask");
        block_mask_band(in.attention.block_mask, of, BAND);
        of->block_mask = in.attention.block_mask;
    }
    // the scores of a row are all larger by this, or smaller: rows that are neighbours have maxima far apart
    for (size_t n = 0; c->spread != 0.0f && n < attention_query_elements(&p); n += p.d)
        in.attention.Q[n] = (n / p.d % 4 == 1 ? c->spread : -c->spread) / p.scale;
    for (size_t n = 0; c->spread != 0.0f && n < attention_key_elements(&p); n += p.d)
        in.attention.K[n] = 1.0f;
    // q k is -inf where q > 0: the first key's, its tile's, and one among others
    for (size_t n = 0; c->special == WITH_MINUS_INF && n < p.Nq; n++)
        in.attention.Q[n] = 0.5f + fabsf(in.attention.Q[n]);
    for (size_t j = 0; c->special == WITH_MINUS_INF && j < p.Nk; j++)
        if (j < 5 || j == 7)
            in.attention.K[j] = -INFINITY;
    if (program->kind == OF_BACKWARD) {
        in.dO = allocate(attention_query_elements(&p), sizeof(float), "dO");
        random_normals(in.dO, attention_query_elements(&p), seed, STREAM_DO);
        forward_pass(&in);
    }
    return in;
}

void case_input_free(struct case_input *in)
{
    float *const arrays[] = { in->x, in->dO, in->O, in->lse, in->m, in->l };
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        free(arrays[k]);
    attention_input_free(&in->attention);
    *in = (struct case_input){ .x = NULL };
}
