#include "common/check/mistake.h"

#include "common/check/reference_parts.h"
#include "common/check/rounding.h"
#include "common/cpu/memory.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const double LN2 = 0.69314718055994531;

// ---- the list -----------------------------------------------------------------------------------

struct list {
    struct mistake *at;
    size_t count;
    const struct attention *p;
};

/* A new mistake in the list: change its p, tile or factor. */
__attribute__((format(printf, 3, 4))) static struct mistake *add(struct list *l, enum how how,
                                                                 const char *format, ...)
{
    struct mistake *const m = &l->at[l->count++];
    va_list words;
    *m = (struct mistake){ .p = *l->p, .how = how, .factor = 1.0 };
    va_start(words, format);
    vsnprintf(m->text, sizeof m->text, format, words);
    va_end(words);
    return m;
}

static void add_windows(struct list *l, ptrdiff_t left, ptrdiff_t right)
{
    struct mistake *m;
    for (ptrdiff_t a = -1; a <= 1; a++)
        for (ptrdiff_t b = -1; b <= 1; b++)
            if ((a || b) && (left < 0 ? a == 0 : left + a >= 0) &&
                (right < 0 ? b == 0 : right + b >= 0)) {
                m = add(l, AS_IS, "the window is %td,%td, not %td,%td", left + a, right + b, left,
                        right);
                m->p.window_left += a;
                m->p.window_right += b;
            }
    m = add(l, AS_IS, "no window");
    m->p.window_left = m->p.window_right = -1;
    m = add(l, AS_IS, "the window's left and right are swapped");
    m->p.window_left = right;
    m->p.window_right = left;
}

static void add_masks(struct list *l)
{
    const struct attention *const p = l->p;
    if (p->causal) {
        add(l, AS_IS, "no causal mask")->p.causal = false;
        struct mistake *const m = add(l, AS_IS, "each query also attends to the next key");
        m->p.causal = false;
        m->p.window_right = 1;
    }
    for (int top_left = 0; top_left <= 1 && !p->causal; top_left++) {
        struct mistake *const m =
            add(l, AS_IS, "a causal mask, aligned %s", top_left ? "top-left" : "bottom-right");
        m->p.causal = true;
        m->p.top_left = top_left;
    }
    if (p->causal || p->window_left >= 0 || p->window_right >= 0)
        add(l, AS_IS, "the mask is aligned %s, not %s", p->top_left ? "bottom-right" : "top-left",
            p->top_left ? "top-left" : "bottom-right")
            ->p.top_left = !p->top_left;
    if (p->window_left >= 0 || p->window_right >= 0)
        add_windows(l, p->window_left, p->window_right);
    if (p->key_mask)
        add(l, AS_IS, "no key mask")->p.key_mask = NULL;
    if (p->block_mask)
        add(l, AS_IS, "no block mask")->p.block_mask = NULL;
}

static void add_scores(struct list *l)
{
    const struct attention *const p = l->p;
    const float scale = p->scale, usual = (float)(1.0 / sqrt((double)p->d));
    add(l, AS_IS, "no scale")->p.scale = 1.0f;
    add(l, AS_IS, "the scale is applied twice")->p.scale = scale * scale;
    add(l, AS_IS, "2^S in place of e^S: log2 e is missing from the scale")->p.scale =
        scale * (float)LN2;
    add(l, AS_IS, "e^S in place of 2^S: the scale already contains log2 e")->p.scale =
        scale / (float)LN2;
    if (scale != usual)
        add(l, AS_IS, "the scale is 1/sqrt(d)")->p.scale = usual;
    if (p->softcap > 0.0f) {
        add(l, AS_IS, "no softcap")->p.softcap = 0.0f;
        add(l, CAPPED, "softcap comes after the mask: masked keys have the score -%g",
            (double)p->softcap);
    }
}

static void add_tiles(struct list *l, enum result of)
{
    const struct attention *const p = l->p;
    size_t padded = 0;
    for (size_t tile = 8; tile <= 256; tile *= 2) {
        const size_t end = (p->Nk + tile - 1) / tile * tile;
        if (end > p->Nk && end != padded) {
            add(l, PADDED, "keys %zu to %zu, the last tile's padding, have the score 0", p->Nk,
                end - 1)
                ->tile = tile;
            padded = end;
        }
    }
    for (size_t tile = 1; tile < p->Nk && tile <= 256 && of < RESULT_DQ && !score_option(p);
         tile *= tile == 1 ? 8 : 2) {
        const char *const whats[] = { of == RESULT_O ? "O and l are" : "l is", "O is", "l is" };
        for (enum how k = 0; k < (of == RESULT_O ? 3 : 1); k++)
            add(l, NOT_RESCALED + k, "%s not rescaled when a tile of %zu keys has a new maximum",
                whats[k], tile)
                ->tile = tile;
    }
}

static void add_factors(struct list *l, enum result of)
{
    const double scale = (double)l->p->scale;
    if (of == RESULT_LSE) {
        add(l, FACTOR, "lse is a logarithm of base 2")->factor = 1.0 / LN2;
        add(l, WITHOUT_M, "lse is log l, without the maximum m");
    } else if (l->p->dropout_threshold > 0) {
        add(l, FACTOR, "dropout does not divide the kept weights by 1 - P")->factor =
            1.0 - l->p->dropout;
        add(l, AS_IS, "no dropout")->p.dropout_threshold = 0;
    }
    if (of == RESULT_DQ || of == RESULT_DK) {
        add(l, FACTOR, "the scale is missing in the gradient")->factor = 1.0 / scale;
        add(l, FACTOR, "the scale is applied twice in the gradient")->factor = scale;
        add(l, FACTOR, "log2 e is left in the gradient's scale")->factor = 1.0 / LN2;
        add(l, FACTOR, "ln 2 is left in the gradient's scale")->factor = LN2;
    }
}

size_t mistakes_of(const struct attention *p, enum result of, struct mistake *list)
{
    struct list l = { .at = list, .p = p };
    add_factors(&l, of);
    add_masks(&l);
    add_scores(&l);
    if (p->H > p->Hkv)
        add(&l, BY_MODULO, "query head h has the key/value head h mod %zu, not h / %zu", p->Hkv,
            p->H / p->Hkv);
    if (p->H > 1) {
        add(&l, EXCHANGED, "heads and sequence are swapped: the arrays are read as (B, N, H, d)");
        if (of == RESULT_O || of == RESULT_DQ)
            add(&l, STORED, "heads and sequence are swapped: it is stored as (B, N, H, d)");
    }
    add_tiles(&l, of);
    return l.count;
}

// ---- a query and its keys, with the mistake -----------------------------------------------------

size_t mistake_query(const struct mistake *m, size_t b, size_t h, size_t i)
{
    const struct attention *const p = &m->p;
    return p->d * (m->how == EXCHANGED ? (b * p->Nq + i) * p->H + h : (b * p->H + h) * p->Nq + i);
}

/*
 * A problem of one query that has the mistake's result: its keys are those that the mistake attends
 * to, with one more element, which adds to the score; V includes dropout.
 */
struct row {
    struct attention p;
    size_t n, *key;  // p->Nk for padding
    float *q, *K, *V;
    double *score;
};

/* Adds key j: `by` k and Z v, or zeros for NULL. */
static void row_add(struct row *r, size_t j, const float *k, const float *v, double Z, float by)
{
    const size_t d = r->p.d - 1;
    float *const K = r->K + r->n * r->p.d, *const V = r->V + r->n * r->p.d;
    for (size_t c = 0; c <= d; c++) {
        K[c] = k && c < d ? by * k[c] : 0.0f;
        V[c] = v && c < d ? (float)(Z * (double)v[c]) : 0.0f;
    }
    r->score[r->n] = score_of(&r->p, 0, 0, 0, r->n, reference_dot(r->q, K, d));
    r->key[r->n++] = j;
}

/* Never rescaled: adds to each score the final maximum minus that after the key's tile. */
static void keep_old_maxima(struct row *r, size_t tile)
{
    double m = (double)-INFINITY, most = (double)-INFINITY;
    for (size_t n = 0; n < r->n; n++)
        most = fmax(most, r->score[n]);
    for (size_t n = 0, end; n < r->n; n = end) {
        for (end = n; end < r->n && r->key[end] / tile == r->key[n] / tile; end++)
            m = fmax(m, r->score[end]);
        for (size_t k = n; k < end; k++)
            r->K[k * r->p.d + r->p.d - 1] = (float)((most - m) / (double)r->p.scale);
    }
}

/* Query (b, h, i) and its keys with the mistake. */
static struct row row_of(const struct mistake *m, const struct attention_input *in, size_t b,
                         size_t h, size_t i)
{
    const struct attention *const p = &m->p;
    const size_t d = p->d, end = m->how == PADDED ? (p->Nk - 1) / m->tile * m->tile + m->tile : 0;
    const size_t most = end > p->Nk ? end : p->Nk;
    struct row r = { .p = attention_of(1, 1, 1, 1, most, d + 1) };
    r.p.scale = p->scale;
    r.p.softcap = p->softcap;
    r.p.dtype = p->dtype;
    r.q = allocate((2 * most + 1) * (d + 1), sizeof *r.q, "a query and its keys");
    r.K = r.q + d + 1;
    r.V = r.K + most * (d + 1);
    r.score = allocate(most, sizeof *r.score, "a query's scores");
    r.key = allocate(most, sizeof *r.key, "a query's keys");
    memcpy(r.q, in->Q + mistake_query(m, b, h, i), d * sizeof *r.q);
    r.q[d] = 1.0f;
    const double length = reference_dot(r.q, r.q, d) * fabs((double)p->scale);
    for (size_t j = 0; j < p->Nk; j++) {
        const size_t g = m->how == BY_MODULO ? h % p->Hkv : kv_head(p, h);
        const size_t at =
            d * (m->how == EXCHANGED ? (b * p->Nk + j) * p->Hkv + g : (b * p->Hkv + g) * p->Nk + j);
        const double Z = reference_dropout(p, b, h, i, j);
        if (visible(p, b, h, i, j))
            row_add(&r, j, in->K + at, in->V + at, Z, 1.0f);
        else if (m->how == CAPPED && length > 0.0)  // -40 softcap, which is then capped
            row_add(&r, j, r.q, in->V + at, Z,
                    copysignf((float)(-40.0 * (double)p->softcap / length), -p->scale));
    }
    for (size_t j = p->Nk; j < end; j++)
        row_add(&r, p->Nk, NULL, NULL, 0.0, 0.0f);
    if (m->how >= NOT_RESCALED && m->how <= L_NOT_RESCALED)
        keep_old_maxima(&r, m->tile);
    r.p.Nk = r.n;
    return r;
}

static void row_free(struct row *r)
{
    free(r->q);
    free(r->score);
    free(r->key);
}

// ---- results with the mistake -------------------------------------------------------------------

struct exact mistake_times(struct exact x, double factor)
{
    return (struct exact){ x.value * factor, x.sigma * fabs(factor), x.bias * fabs(factor) };
}

void mistake_forward(const struct mistake *m, const struct attention_input *in, size_t b, size_t h,
                     size_t i, struct exact *O, struct exact *lse)
{
    const size_t d = m->p.d;
    struct row r = row_of(m, in, b, h, i);
    double most = (double)-INFINITY;
    for (size_t c = 0; c <= d; c++)
        O[c] = (struct exact){ 0.0, 0.0, 0.0 };
    *lse = (struct exact){ (double)-INFINITY, 0.0, 0.0 };
    if (r.n > 0)
        rounding_forward_row(&r.p, r.q, r.K, r.V, 0, 0, 0, O, lse);
    for (size_t n = 0; n < r.n; n++)
        most = fmax(most, r.score[n]);
    if (r.n > 0 && m->how == WITHOUT_M)
        lse->value -= most;
    if (r.n > 0 && (m->how == O_NOT_RESCALED || m->how == L_NOT_RESCALED)) {
        const struct mistake none = { .p = m->p };
        const double with = lse->value;
        struct exact *const right = allocate(d + 1, sizeof *right, "a row of O");
        mistake_forward(&none, in, b, h, i, right, lse);
        // O = sum / e^lse: the sum of one of the two runs, the lse of the other
        const double factor = exp(m->how == O_NOT_RESCALED ? with - lse->value : lse->value - with);
        for (size_t c = 0; c < d; c++)
            O[c] = mistake_times(m->how == O_NOT_RESCALED ? O[c] : right[c], factor);
        free(right);
    }
    row_free(&r);
}

void mistake_query_gradient(const struct mistake *m, const struct doctor *x, size_t b, size_t h,
                            size_t i, struct exact *dQ)
{
    const size_t d = m->p.d, first = 0;
    struct row r = row_of(m, x->in, b, h, i);
    float *const dO = allocate(d + 1, sizeof *dO, "a row of dO");
    memcpy(dO, x->dO + mistake_query(m, b, h, i), d * sizeof *dO);
    dO[d] = 0.0f;
    for (size_t c = 0; c <= d; c++)
        dQ[c] = (struct exact){ 0.0, 0.0, 0.0 };
    if (r.n > 0)
        rounding_backward(&r.p, r.q, r.K, r.V, dO, (struct some_rows){ &first, 1 },
                          (struct some_rows){ &first, 0 }, dQ, dQ, dQ);  // no keys, so no dK and dV
    free(dO);
    row_free(&r);
}
