/*
 * judge make  KIND [WORD…] -- OPTION…    writes a case's input to in/, as .npy files
 * judge check KIND OUT -- OPTION…        compares the folder OUT with the reference for in/
 *
 * KIND and the words are those of `programs` and `cases`; the options are a chapter's: the shape
 * and seed for `make`, the files for `check`. `check` prints, between tabs, "right", "wrong",
 * "missing" (not written) or "unlike" (not comparable), the first wrong array, and a line about
 * it, by common/check/tolerance.h.
 */
#include "common/classroom/grader/judge.h"

#include "common/check/gradient_check.h"
#include "common/check/output.h"
#include "common/cpu/memory.h"
#include "common/files/npy.h"
#include "common/program/attention_load.h"
#include "common/program/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A comparison, with the worst element of the first wrong array. */
struct finding {
    bool right;
    const char *array;     // "O"
    char place[100];       // "b, h, i, c = 0, 1, 3, 2"
    double got, expected;  // at the worst element
    bool missing;          // nothing was written there
    double error;          // the largest
    char unlike[240];      // why it is not comparable, or ""
};

/*
 * The array FOLDER/NAME.npy of this shape, to be freed; or NULL, and the reason in `why` (240
 * bytes).
 */
static float *take(const char *folder, const char *name, int dims, const size_t *shape, char *why)
{
    char path[4096], found[100], right[100];
    struct npy array;
    struct file_error error;
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    if (!npy_read(path, &array, &error)) {
        snprintf(why, 240, "%s.npy: %.220s", name, error.text);
        return NULL;
    }
    if (array.dims != dims || memcmp(array.shape, shape, (size_t)dims * sizeof *shape) != 0 ||
        array.type == NPY_B1 || array.type == NPY_U1) {
        snprintf(why, 240, "%s.npy: expected numbers of shape %s, found %s", name,
                 npy_shape_text(dims, shape, right, sizeof right),
                 npy_shape_text(array.dims, array.shape, found, sizeof found));
        npy_free(&array);
        return NULL;
    }
    float *x = npy_floats(&array);
    npy_free(&array);
    return x;
}

/* Describes the worst element of an array of this shape, whose part begins at `first`. */
static void blame(struct finding *f, const char *array, const struct difference *d, size_t first,
                  int dims, const size_t *shape, const char *axes)
{
    char place[60];
    f->array = array;
    f->got = d->got;
    f->expected = d->expected;
    f->missing = d->mismatch == NEVER_WRITTEN;
    snprintf(f->place, sizeof f->place, "%s = %s", axes,
             coordinates_of(first + d->worst, dims, shape, place, sizeof place));
}

static double size_of(const struct difference *d)
{
    return d->mismatched ? (double)NAN : d->max_abs;
}

/* Adds a comparison of an array, or a part; keeps the first wrong one. */
static void add(struct finding *f, const char *array, struct difference d, size_t first, int dims,
                const size_t *shape, const char *axes)
{
    const bool right = is_explained(d), larger = !(size_of(&d) <= f->error);
    f->error = larger_error(f->error, size_of(&d));
    if (f->right && (!right || larger || !f->array))
        blame(f, array, &d, first, dims, shape, axes);
    f->right = f->right && right;
}

// ---- softmax -------------------------------------------------------------------------------------

static void judge_rows(struct finding *f, const struct npy *input, const float *x, const float *y)
{
    const size_t cols = input->shape[1];
    struct exact *right = allocate(cols, sizeof *right, "the reference");
    for (size_t first = 0; first < input->count; first += cols) {
        rounding_softmax(x + first, right, 1, cols);
        add(f, "y", difference_between(y + first, right, 1, cols), first, 2, input->shape,
            "row, column");
    }
    free(right);
}

/* A few roundings are allowed: there is no average. */
static struct exact at_most(double value, double off)
{
    return (struct exact){ .value = value, .sigma = 0.0, .bias = off };
}

/* Merged states or shares: a few roundings of numbers that are off by some ulp. */
static void judge_states(struct finding *f, size_t rows, enum kind kind, const float *x,
                         const float *y)
{
    const size_t width = kind == OF_MERGE ? 2 : 1, shape[2] = { rows, width };
    for (size_t i = 0; i < rows; i++) {
        const double ma = (double)x[4 * i], la = (double)x[4 * i + 1];
        const double mb = (double)x[4 * i + 2], lb = (double)x[4 * i + 3], m = fmax(ma, mb);
        const double of_a = la > 0.0 ? la * exp(ma - (kind == OF_MERGE ? m : mb)) : 0.0;
        const double of_b = lb > 0.0 ? lb * exp(mb - m) : 0.0;
        const double values[2] = { kind == OF_MERGE ? m : la > 0.0 ? of_a / lb : 0.0, of_a + of_b };
        const double size = fmax(fabs(values[width - 1]), kind == OF_MERGE ? 1.0 : 0.0);
        const double tiny = 0x1p-126;  // below the smallest normal number there is no precision
        const double ulps = (16.0 + (isfinite(ma) && isfinite(mb) ? fabs(ma - mb) : 0.0)) * 0x1p-24;
        const struct exact right[2] = { at_most(values[0], ulps * size + tiny),
                                        at_most(values[1], ulps * size + tiny) };
        add(f, "y", difference_between(y + width * i, right, 1, width), width * i, 2, shape,
            kind == OF_MERGE ? "pair, m or l" : "pair");
    }
}

/* Each head's sink gradient: a sum of terms, each as far off as its exponential may be. */
static void judge_dsink(struct finding *f, const struct npy *input, const float *x, const float *y)
{
    const size_t heads = input->shape[0], length = input->shape[1], n = (length - 1) / 2;
    for (size_t h = 0; h < heads; h++) {
        const float *const head = x + h * length, *const D = head + 1 + n;
        double right = 0.0, off = 0.0;
        for (size_t i = 0; i < n; i++) {
            const double to = (double)head[0] - (double)head[1 + i], term = exp(to) * (double)D[i];
            right -= term;
            off += fabs(term) * (16.0 + fabs(to) + (double)n) * 0x1p-24;
        }
        const struct exact sum = at_most(right, off + 0x1p-126);
        add(f, "dsink", difference_between(y + h, &sum, 1, 1), h, 1, &heads, "head");
    }
}

// ---- attention -----------------------------------------------------------------------------------

static const char AXES[] = "b, h, i, c";

/* A sink is a key without a value: it takes its share of each row's sum. */
static void count_sinks(struct attention_check *check, const struct attention *p,
                        const float *sinks)
{
    for (size_t row = 0; row < check->count; row++) {
        struct exact *const lse = &check->lse[row];
        const double sink = (double)sinks[check->rows[row] / p->Nq % p->H],
                     most = fmax(sink, lse->value), share = 1.0 / (1.0 + exp(sink - lse->value));
        lse->value = most + log(exp(sink - most) + exp(lse->value - most));
        lse->bias += 4.0 * 0x1p-24 * fabs(most);
        for (size_t k = row * p->d; k < (row + 1) * p->d; k++) {
            const struct exact O = check->O[k];
            check->O[k] = (struct exact){ share * O.value, share * O.sigma,
                                          share * (O.bias + lse->bias * fabs(O.value)) };
        }
    }
}

static void judge_forward(struct finding *f, const struct attention_input *in, const float *sinks,
                          const float *O, const float *lse)
{
    const struct attention *p = &in->p;
    const size_t heads = p->B * p->H;
    struct attention_check check = attention_check_begin(in, true);
    if (sinks)
        count_sinks(&check, p, sinks);
    const struct attention_errors e =
        attention_verdict_end(attention_verdict_of(&check, O, lse, NULL, NULL));
    const struct difference of_O = difference_between_heads(O, check.O, heads, p->Nq, p->d);
    const struct difference of_lse = difference_between_heads(lse, check.lse, heads, p->Nq, 1);
    f->right = e.right;
    f->error = e.reference;
    if (e.right || !is_explained(of_O))
        blame(f, "O", &of_O, 0, 4, check.shape, AXES);
    else
        blame(f, "lse", &of_lse, 0, 3, check.shape, "b, h, i");
    attention_check_end(&check);
}

static void judge_product(struct finding *f, const struct attention_input *in, const float *O)
{
    const struct attention *p = &in->p;
    const size_t shape[4] = { p->B, p->H, p->Nq, p->d }, heads = p->B * p->H;
    struct exact *right = allocate(attention_query_elements(p), sizeof *right, "the reference");
    for (size_t row = 0; row < attention_rows(p); row++)
        rounding_product_row(p, in->Q, in->K, in->V, row / p->Nq / p->H, row / p->Nq % p->H,
                             row % p->Nq, right + row * p->d);
    add(f, "O", difference_between_heads(O, right, heads, p->Nq, p->d), 0, 4, shape, AXES);
    free(right);
}

static void judge_backward(struct finding *f, const struct attention_input *in, const float *dO,
                           float *const got[GRADIENTS])
{
    static const char *const names[] = { "dQ", "dK", "dV" };
    struct gradient_check check = gradient_check_begin(in, dO, true);
    const struct attention_errors e = gradient_check_errors(&check, got, NULL);
    f->right = e.right;
    f->error = e.reference;
    bool blamed = false;
    for (size_t g = 0; g < GRADIENTS && !blamed; g++) {
        const size_t *const shape = check.shape[g];
        const struct difference d = difference_between_heads(
            got[g], check.right[g], shape[0] * shape[1], shape[2], shape[3]);
        double largest = 0.0;
        for (size_t k = 0; k < shape[0] * shape[1] * shape[2] * shape[3]; k++)
            largest = fmax(largest, fabs(check.right[g][k].value));
        // With one query and one key the weight is 1, except for rounding.
        const bool is_one_pair = check.shape[DQ][2] == 1 && check.shape[DK][2] == 1;
        blamed = !is_explained(d) || (g == DV && is_one_pair && d.max_abs > 0x1p-21 * largest);
        f->right = f->right && !blamed;
        if (blamed || g == DQ)
            blame(f, names[g], &d, 0, 4, shape, "b, h, row, c");
    }
    gradient_check_end(&check);
}

// ---- all of them ---------------------------------------------------------------------------------

static void check_attention(struct finding *f, enum kind kind, const char *out,
                            const struct options *options)
{
    static const char *const attention[] = { "o", "lse", NULL }, *const product[] = { "o", NULL };
    static const char *const gradients[] = { "dq", "dk", "dv", NULL };
    const char *const *const names = kind == OF_BACKWARD  ? gradients
                                     : kind == OF_PRODUCT ? product
                                                          : attention;
    struct attention_input in = attention_input_load(options);
    const struct attention *p = &in.p;
    const size_t queries[4] = { p->B, p->H, p->Nq, p->d }, keys[4] = { p->B, p->Hkv, p->Nk, p->d };
    float *got[GRADIENTS] = { NULL }, *more = NULL;
    f->right = true;
    for (size_t k = 0; names[k] && f->right; k++) {
        got[k] = take(out, names[k], names == attention && k == 1 ? 3 : 4,
                      names == gradients && k > 0 ? keys : queries, f->unlike);
        f->right = got[k] != NULL;
    }
    if (!f->right)
        return;
    if (kind == OF_SINK)
        more = take("in", "x", 1, &p->H, f->unlike);
    if (kind == OF_PRODUCT)
        judge_product(f, &in, got[0]);
    else if (kind == OF_BACKWARD)
        judge_backward(f, &in, more = attention_input_dO(&in, options), got);
    else
        judge_forward(f, &in, more, got[0], got[1]);
    free(more);
    for (size_t k = 0; k < GRADIENTS; k++)
        free(got[k]);
    attention_input_free(&in);
}

static void check_rows(struct finding *f, enum kind kind, const char *out)
{
    struct npy input;
    struct file_error error;
    const char *const path = kind == OF_ROWS ? "in/x.npy" : "in/states.npy";
    if (!npy_read(path, &input, &error))
        options_fail(path, "%s", error.text);
    const size_t shape[2] = { input.shape[0], kind == OF_MERGE ? 2 : input.shape[1] };
    float *const x = npy_floats(&input);
    float *const y = take(out, "y", kind == OF_SHARE || kind == OF_DSINK ? 1 : 2, shape, f->unlike);
    f->right = y != NULL;
    if (y && kind == OF_ROWS)
        judge_rows(f, &input, x, y);
    else if (y && kind == OF_DSINK)
        judge_dsink(f, &input, x, y);
    else if (y)
        judge_states(f, shape[0], kind, x, y);
    npy_free(&input);
    free(x);
    free(y);
}

static void tell(const struct finding *f)
{
    char got[32], expected[32];
    if (f->unlike[0]) {
        printf("unlike\t-\t%s\n", f->unlike);
        return;
    }
    printf("%s\t%s\t%s at %s: %s%s, expected %s",
           f->right     ? "right"
           : f->missing ? "missing"
                        : "wrong",
           f->array, f->array, f->place, f->missing ? "never written" : "got ",
           f->missing ? "" : report_value(f->got, 9, got), report_value(f->expected, 9, expected));
    if (!f->missing && !isnan(f->error))
        printf("; the largest error is %.2e", f->error);
    printf("\n");
}

static enum kind kind_of(const char *word)
{
    static const struct {
        const char *name;
        enum kind kind;
    } kinds[] = { { "rows", OF_ROWS },        { "merge", OF_MERGE },     { "share", OF_SHARE },
                  { "dsink", OF_DSINK },      { "forward", OF_FORWARD }, { "kernel", OF_FORWARD },
                  { "tensor", OF_FORWARD },   { "sink", OF_SINK },       { "product", OF_PRODUCT },
                  { "backward", OF_BACKWARD } };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (strcmp(word, kinds[k].name) == 0)
            return kinds[k].kind;
    options_fail(word, "expected a kind, as in common/classroom/grader/programs");
}

static struct numbers numbers_of(char **words)
{
    static const char *const specials[] = { "ordinary", "minus-inf", "only-minus-inf",
                                            "nan",      "plus-inf",  "tiny-weights" };
    struct numbers c = { .special = ORDINARY };
    for (; strcmp(*words, "--") != 0; words++) {
        c.hidden = c.hidden || strcmp(*words, "hidden") == 0;
        if (strncmp(*words, "spread=", 7) == 0)
            c.spread = strtof(*words + 7, NULL);
        if (strncmp(*words, "shift=", 6) == 0)
            c.shift = strtof(*words + 6, NULL);
        for (size_t k = 0; k < sizeof specials / sizeof specials[0]; k++)
            if (strcmp(*words, specials[k]) == 0)
                c.special = (enum special)k;
    }
    return c;
}

int main(int argc, char **argv)
{
    struct program program = { .name = "judge" };
    int dashes = 3;
    options_program(&program, argv[0]);
    while (dashes < argc && strcmp(argv[dashes], "--") != 0)
        dashes++;
    if (dashes >= argc)
        options_fail("usage",
                     "judge make KIND [WORD…] -- OPTION…, or judge check KIND OUT -- OPTION…");
    const enum kind kind = kind_of(argv[2]);
    program.chapter = is_of_rows(kind) ? 1 : 7;
    const struct options options = options_parse(&program, argc - dashes, argv + dashes);
    struct finding f = { .right = false };
    if (strcmp(argv[1], "make") == 0) {
        const struct numbers numbers = numbers_of(argv + 3);
        input_write(kind, &numbers, &options);
        return 0;
    }
    if (is_of_rows(kind))
        check_rows(&f, kind, argv[3]);
    else
        check_attention(&f, kind, argv[3], &options);
    tell(&f);
    return 0;
}
