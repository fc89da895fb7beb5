#include "common/check/doctor.h"

#include "common/check/gradient_check.h"
#include "common/check/mistake.h"
#include "common/cpu/memory.h"

#include <math.h>
#include <stdlib.h>

enum { SOME_ROWS = 64 };

// ---- the cause ----------------------------------------------------------------------------------

static bool is_multiple(const struct output *o, double factor)
{
    const size_t n = output_size(o);
    struct output multiple = *o;
    multiple.right = allocate(n, sizeof *multiple.right, "a mistake's result");
    for (size_t k = 0; k < n; k++)
        multiple.right[k] = mistake_times(o->right[k], factor);
    const bool fits = is_explained(output_difference(&multiple));
    free(multiple.right);
    return fits;
}

/* Is row (b, h, i) of O, lse or dQ what the mistake computes? */
static bool row_fits(const struct doctor *x, const struct output *o, enum result of,
                     const struct mistake *m, enum dtype type, size_t row)
{
    const struct attention *const p = &x->in->p;
    const size_t i = row % p->Nq, h = row / p->Nq % p->H, b = row / p->Nq / p->H;
    const struct mistake stored = { .p = *p, .how = EXCHANGED };
    const size_t at = mistake_query(m->how == STORED ? &stored : m, b, h, i);
    struct exact *const right = allocate(p->d + 1, sizeof *right, "a mistake's result"), lse;
    if (of == RESULT_DQ)
        mistake_query_gradient(m, x, b, h, i, right);
    else
        mistake_forward(m, x->in, b, h, i, right, &lse);
    for (size_t c = 0; c < p->d && of == RESULT_DQ; c++)
        right[c] = rounding_stored(right[c], type);
    const bool fits =
        is_explained(of == RESULT_LSE ? difference_between(o->x + row, &lse, 1, 1)
                                      : difference_between(o->x + at, right, 1, p->d));
    free(right);
    return fits;
}

/* The same for the worst row and up to 63 others. */
static bool rows_fit(const struct doctor *x, const struct output *o, enum result of,
                     const struct mistake *m, enum dtype type, size_t worst)
{
    const size_t rows = attention_rows(&x->in->p), count = rows < SOME_ROWS ? rows : SOME_ROWS;
    size_t k = 0;  // rows a golden section apart, after the worst
    while (k < count &&
           row_fits(x, o, of, m, type,
                    (worst + (size_t)((double)k * 0.6180339887498949 * (double)rows)) % rows))
        k++;
    return k == count;
}

/* For the worst row of dK or dV and up to 8 others; only for a mistake that is another problem. */
static bool keys_fit(const struct doctor *x, const struct output *o, enum result of,
                     const struct mistake *m, enum dtype type, size_t worst)
{
    const struct attention_input *const in = x->in;
    const size_t d = in->p.d, first = worst - worst % in->p.Nk;
    size_t *const rows = attention_check_choose(1, in->p.Nk, in->p.Nk < 8 ? in->p.Nk : 8);
    struct exact *const right = allocate(2 * d, sizeof *right, "a mistake's result");
    bool fits = m->how == AS_IS;
    for (size_t k = 0; k <= 8 && fits; k++) {
        const size_t row = k == 0 ? worst : first + rows[(k - 1) % in->p.Nk];
        rounding_backward(&m->p, in->Q, in->K, in->V, x->dO, (struct some_rows){ &row, 0 },
                          (struct some_rows){ &row, 1 }, right, right, right + d);
        struct exact *const wanted = of == RESULT_DK ? right : right + d;
        for (size_t c = 0; c < d; c++)
            wanted[c] = rounding_stored(wanted[c], type);
        fits = is_explained(difference_between(o->x + row * d, wanted, 1, d));
    }
    free(rows);
    free(right);
    return fits;
}

/* The first mistake in the list that explains the output, or NULL; its text is static. */
static const char *cause_of(const struct doctor *x, const struct output *o, enum result of,
                            enum dtype type, const struct difference *d)
{
    static struct mistake list[MISTAKES];
    const size_t count = mistakes_of(&x->in->p, of, list);
    const size_t worst = (d->mismatched ? d->worst : d->farthest) / o->cols;
    for (size_t k = 0; k < count; k++)
        if (list[k].how == FACTOR
                ? is_multiple(o, list[k].factor)
                : (of < RESULT_DK ? rows_fit : keys_fit)(x, o, of, &list[k], type, worst))
            return list[k].text;
    return NULL;
}

// ---- the report ---------------------------------------------------------------------------------

static const char *const names[RESULTS] = { "o", "lse", "dq", "dk", "dv" };

struct output doctor_output(const struct doctor *x, enum result of)
{
    const struct attention *const p = &x->in->p;
    const bool of_keys = of >= RESULT_DK, is_lse = of == RESULT_LSE;
    return (struct output){
        .name = names[of],
        .axes = is_lse           ? "b, h, i"
                : of == RESULT_O ? "b, h, i, c"
                                 : "b, h, row, c",
        .dims = is_lse ? 3 : 4,
        .shape = { p->B, of_keys ? p->Hkv : p->H, of_keys ? p->Nk : p->Nq, p->d },
        .rows = of_keys ? p->Nk : p->Nq,
        .cols = is_lse ? 1 : p->d,
        .x = x->got[of],
        .stage = x->stage[of],
    };
}

/* The type of two arrays. DTYPES, for an array of equal numbers, fits any other. */
static enum dtype common_dtype(enum dtype a, enum dtype b)
{
    return a == b || b == DTYPES ? a : a == DTYPES ? b : DTYPE_F32;
}

/*
 * Unless it is given: sets the type to the 16-bit one that holds all numbers of O, or of Q, K and
 * V; rounds Q, K and V to it, and prints which it is.
 */
static void recognise_dtype(FILE *to, const struct doctor *x)
{
    struct attention_input *const in = x->in;
    const size_t queries = attention_query_elements(&in->p), keys = attention_key_elements(&in->p);
    const float *const O = x->got[RESULT_O];
    const enum dtype of_O = O ? output_dtype(O, queries) : DTYPES;
    const enum dtype of_inputs =
        common_dtype(common_dtype(output_dtype(in->Q, queries), output_dtype(in->K, keys)),
                     output_dtype(in->V, keys));
    const enum dtype type = of_O == DTYPES || of_O == DTYPE_F32 ? of_inputs : of_O;
    if (x->has_dtype || type == DTYPES || type == DTYPE_F32)
        return;
    fprintf(to, "judged as %s: %s\n", dtype_words(type),
            of_O != type        ? "q, k and v have no more digits than that"
            : of_inputs == type ? "q, k, v and o have no more digits than that"
                                : "o has no more digits than that; q, k and v are rounded to it");
    in->p.dtype = type;
    dtype_round_all(type, in->Q, queries);
    dtype_round_all(type, in->K, keys);
    dtype_round_all(type, in->V, keys);
}

/* Judges one result, 0 if it is not given; returns its error. `right` is rounded to its type. */
static double report_output(FILE *to, const struct doctor *x, enum result of, struct exact *right)
{
    struct output o = doctor_output(x, of);
    enum dtype type = DTYPE_F32;
    if (!o.x)
        return 0.0;
    o.right = right;
    if (of != RESULT_O)
        type = output_dtype(o.x, output_size(&o)) % DTYPES;
    for (size_t k = 0; k < output_size(&o) && type != DTYPE_F32; k++)
        right[k] = rounding_stored(right[k], type);
    const struct difference d = output_difference(&o);
    if (to)
        output_print(to, &o, &d, x->stage[RESULT_O]);
    if (to && !is_explained(d)) {
        const char *const cause = cause_of(x, &o, of, type, &d);
        if (cause)
            fprintf(to, "    the mistake that explains it: %s\n", cause);
        else
            output_print_first(to, &o);
    }
    return d.mismatched ? (double)INFINITY : d.explained;
}

bool doctor_report(FILE *to, const struct doctor *x, double explained[RESULTS])
{
    recognise_dtype(to, x);
    if (to)
        output_heading(to, x->stage[RESULT_O]);
    if (x->got[RESULT_O] || x->got[RESULT_LSE]) {
        struct attention_check check = attention_check_begin(x->in, true);
        explained[RESULT_O] = report_output(to, x, RESULT_O, check.O);
        explained[RESULT_LSE] = report_output(to, x, RESULT_LSE, check.lse);
        attention_check_end(&check);
    }
    if (x->got[RESULT_DQ] || x->got[RESULT_DK] || x->got[RESULT_DV]) {
        struct gradient_check check = gradient_check_begin(x->in, x->dO, true);
        for (size_t g = DQ; g < GRADIENTS; g++)
            explained[RESULT_DQ + g] =
                report_output(to, x, (enum result)(RESULT_DQ + g), check.right[g]);
        gradient_check_end(&check);
    }
    bool right = true;
    for (size_t of = 0; of < RESULTS; of++)
        right &= !x->got[of] || explained[of] <= 1.0;
    return right;
}
