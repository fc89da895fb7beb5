#include "07_backward/steps/trace.h"

#include "07_backward/steps/steps.h"
#include "07_backward/steps/tile.h"

#include <math.h>
#include <stdio.h>

enum { MAX_PAIRS = 64, MAX_KEYS = 8, MAX_D = 8 };

void backward_trace_check(const struct attention *p)
{
    const size_t pairs = attention_rows(p) * p->Nk;
    if (score_option(p))
        options_fail("--trace", "cannot be combined with %s", score_option(p));
    if (pairs > MAX_PAIRS || p->Nk > MAX_KEYS || p->d > MAX_D)
        options_fail("--trace",
                     "expected at most %d pairs, %d keys, and d at most %d, found %zu, %zu and %zu",
                     MAX_PAIRS, MAX_KEYS, MAX_D, pairs, p->Nk, p->d);
}

struct place {
    size_t b, h, row;
    bool csv;
};

static void print_row(struct place at, const char *of, const char *what, const float *x, size_t n)
{
    char row[200];
    for (size_t k = 0; k < n && at.csv; k++)
        printf("%zu,%zu,%s,%s,%zu,%zu,%.9g\n", at.b, at.h, what, of, at.row, k, (double)x[k]);
    if (!at.csv)
        report_line("b %zu, h %zu   %-5s %zu   %-3s %s", at.b, at.h, of, at.row, what,
                    report_row("%6.3f", x, n, row, sizeof row));
}

static void trace_query(const struct backward_head *a, size_t i, struct place at)
{
    const struct attention *p = a->p;
    const float factor = (float)(1.0 / (1.0 - p->dropout));
    float S[MAX_KEYS], P[MAX_KEYS], dP[MAX_KEYS], dS[MAX_KEYS], D = 0.0f;
    for (size_t k = 0; k < p->d; k++)
        D += a->dO[i * p->d + k] * a->O[i * p->d + k];
    for (size_t j = 0; j < p->Nk; j++) {
        const struct tile one = { .rows = 1, .cols = 1 };
        const float Z = dropout_keeps(p, a->b, a->h, i, j) ? factor : 0.0f;
        tile_product(&S[j], a->Q + i * p->d, a->K + j * p->d, one, p->d);
        tile_product(&dP[j], a->dO + i * p->d, a->V + j * p->d, one, p->d);
        S[j] = visible(p, a->b, a->h, i, j) ? p->scale * S[j] : -INFINITY;
        P[j] = exp_minus(S[j], a->lse[i]);
        dP[j] *= Z;
        dS[j] = pair_dS(P[j], dP[j], D);
        P[j] *= Z;
    }
    at.row = i;
    print_row(at, "query", "S", S, p->Nk);
    print_row(at, "query", "P", P, p->Nk);
    print_row(at, "query", "O", a->O + i * p->d, p->d);
    print_row(at, "query", "dP", dP, p->Nk);
    print_row(at, "query", "D", &D, 1);
    print_row(at, "query", "dS", dS, p->Nk);
}

void backward_trace(const struct lab *lab, bool csv)
{
    const struct attention *p = &lab->input.p;
    struct tensors x = outputs_new(p, lab->x);
    struct place at = { .csv = csv };
    backward_complete(p, (struct tile_size){ 64, 128 }, x);
    if (csv) {
        report_aside();
        puts("b,h,what,of,row,column,value");
    } else {
        report_part("Trace");
    }
    for (size_t n = 0; n < p->B * p->H; n++) {
        const struct backward_head a = backward_head_of(p, n, x);
        at.b = a.b;
        at.h = a.h;
        for (size_t i = 0; i < p->Nq; i++)
            trace_query(&a, i, at);
        for (at.row = 0; at.row < p->Nq; at.row++)
            print_row(at, "query", "dQ", a.dQ + at.row * p->d, p->d);
        if (a.h % (p->H / p->Hkv) > 0)
            continue;  // printed with the first head that shares these keys
        at.h = kv_head(p, a.h);
        for (at.row = 0; at.row < p->Nk; at.row++)
            print_row(at, "key", "dK", a.dK + at.row * p->d, p->d);
        for (at.row = 0; at.row < p->Nk; at.row++)
            print_row(at, "key", "dV", a.dV + at.row * p->d, p->d);
    }
    outputs_free(&x);
}
