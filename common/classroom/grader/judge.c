/*
 * Is an output right? By the verdict of common/check/tolerance.h, against the double reference and the stage before.
 */
#include "common/classroom/grader/grade.h"

#include "common/check/gradient_check.h"
#include "common/cpu/memory.h"
#include "common/files/npy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const *outputs_of(enum kind kind)
{
    static const char *const softmax[] = { "y", NULL }, *const attention[] = { "o", "lse", NULL };
    static const char *const product[] = { "o", NULL };
    static const char *const gradients[] = { "dq", "dk", "dv", NULL };
    return is_forward(kind)      ? attention
           : kind == OF_PRODUCT  ? product
           : kind == OF_BACKWARD ? gradients
                                 : softmax;
}

/* The array FOLDER/NAME.npy of this shape, or NULL, and why in `why` (240 bytes); free() it. */
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

/* Says where `d` is worst: in an array of this shape, from element `first` on. */
static void blame(struct finding *f, const char *array, const struct difference *d, size_t first,
                  int dims, const size_t *shape, const char *axes)
{
    char place[60];
    f->array = array;
    f->got = d->got;
    f->expected = d->expected;
    f->missing = d->mismatch == NEVER_WRITTEN;
    snprintf(f->place, sizeof f->place, "%s = %s", axes,
             place_of(first + d->worst, dims, shape, place, sizeof place));
}

static double size_of(const struct difference *d)
{
    return d->mismatched ? (double)NAN : d->max_abs;
}

/* Adds a comparison of one array, or of a piece of it, to what is known; the first wrong one is blamed. */
static void add(struct finding *f, const char *array, struct difference d, size_t first, int dims,
                const size_t *shape, const char *axes)
{
    const bool right = is_explained(d), larger = !(size_of(&d) <= f->error);
    f->error = worse_error(f->error, size_of(&d));
    if (f->right && (!right || larger || !f->array))
        blame(f, array, &d, first, dims, shape, axes);
    f->right = f->right && right;
}

// ---- softmax -------------------------------------------------------------------------------------

static void judge_rows(struct finding *f, const struct test_case *c, const float *x, const float *y,
                       const float *before)
{
    const size_t shape[2] = { c->rows, c->cols };
    struct exact *right = allocate(c->cols, sizeof *right, "the reference");
    for (size_t i = 0; i < c->rows; i++) {
        const size_t first = i * c->cols;
        rounding_softmax(x + first, right, 1, c->cols);
        add(f, "y", difference_between(y + first, right, 1, c->cols), first, 2, shape,
            "row, column");
        if (!before || !is_explained(difference_between(before + first, right, 1, c->cols)))
            continue;
        for (size_t j = 0; j < c->cols; j++)
            right[j] = rounding_between(right[j], before[first + j]);
        const struct difference step = difference_between(y + first, right, 1, c->cols);
        f->before = f->has_before ? worse_error(f->before, size_of(&step)) : size_of(&step);
        f->has_before = true;
        f->right = f->right && is_explained(step);
    }
    free(right);
}

/* What a few roundings by hand may be off by at most: there is nothing to average. */
static struct exact at_most(double value, double off)
{
    return (struct exact){ .value = value, .sigma = 0.0, .bias = off };
}

/* Two states into one, or a share: a few roundings are allowed, of numbers that are some ulp off themselves. */
static void judge_states(struct finding *f, const struct test_case *c, enum kind kind,
                         const float *x, const float *y)
{
    const size_t width = kind == OF_MERGE ? 2 : 1, shape[2] = { c->rows, width };
    for (size_t i = 0; i < c->rows; i++) {
        const double ma = (double)x[4 * i], la = (double)x[4 * i + 1];
        const double mb = (double)x[4 * i + 2], lb = (double)x[4 * i + 3], m = fmax(ma, mb);
        const double of_a = la > 0.0 ? la * exp(ma - (kind == OF_MERGE ? m : mb)) : 0.0;
        const double of_b = lb > 0.0 ? lb * exp(mb - m) : 0.0;
        const double values[2] = { kind == OF_MERGE ? m : la > 0.0 ? of_a / lb : 0.0, of_a + of_b };
        const double size = fmax(fabs(values[width - 1]), kind == OF_MERGE ? 1.0 : 0.0);
        const double tiny = 0x1p-126;  // and below the smallest normal number there is no precision
        const double ulps = (16.0 + (isfinite(ma) && isfinite(mb) ? fabs(ma - mb) : 0.0)) * 0x1p-24;
        const struct exact right[2] = { at_most(values[0], ulps * size + tiny),
                                        at_most(values[1], ulps * size + tiny) };
        add(f, "y", difference_between(y + width * i, right, 1, width), width * i, 2, shape,
            kind == OF_MERGE ? "pair, m or l" : "pair");
    }
}

/* The gradient of each head's sink: a sum of terms, each as far off as the exponential in it may be. */
static void judge_dsink(struct finding *f, const struct test_case *c, const float *x,
                        const float *y)
{
    for (size_t h = 0; h < c->rows; h++) {
        const float *const head = x + h * (1 + 2 * c->cols), *const D = head + 1 + c->cols;
        double right = 0.0, off = 0.0;
        for (size_t i = 0; i < c->cols; i++) {
            const double to = (double)head[0] - (double)head[1 + i], term = exp(to) * (double)D[i];
            right -= term;
            off += fabs(term) * (16.0 + fabs(to) + (double)c->cols) * 0x1p-24;
        }
        const struct exact sum = at_most(right, off + 0x1p-126);
        add(f, "dsink", difference_between(y + h, &sum, 1, 1), h, 1, &c->rows, "head");
    }
}

// ---- attention -----------------------------------------------------------------------------------

static const char AXES[] = "b, h, i, c";

/* A sink is a key without a value: of each row it takes the share that it has of the sum, and the rest stays as it was. */
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

static void judge_forward(struct finding *f, const struct case_input *in, const float *O,
                          const float *lse, const float *before)
{
    const struct attention *p = &in->attention.p;
    const size_t heads = p->B * p->H;
    struct attention_check check = attention_check_begin(&in->attention, true);
    if (in->x)
        count_sinks(&check, p, in->x);
    const struct attention_errors e = attention_check_errors(&check, O, lse, before);
    const struct difference of_O = difference_between_heads(O, check.O, heads, p->Nq, p->d);
    const struct difference of_lse = difference_between_heads(lse, check.lse, heads, p->Nq, 1);
    f->right = e.right;
    f->error = e.reference;
    f->before = e.previous;
    f->has_before = e.has_previous;
    if (e.right || !is_explained(of_O))
        blame(f, "O", &of_O, 0, 4, check.shape, AXES);
    else
        blame(f, "lse", &of_lse, 0, 3, check.shape, "b, h, i");
    attention_check_end(&check);
}

static void judge_product(struct finding *f, const struct case_input *in, const float *O)
{
    const struct attention *p = &in->attention.p;
    const size_t shape[4] = { p->B, p->H, p->Nq, p->d }, heads = p->B * p->H;
    struct exact *right = allocate(attention_query_elements(p), sizeof *right, "the reference");
    for (size_t row = 0; row < attention_rows(p); row++)
        rounding_product_row(p, in->attention.Q, in->attention.K, in->attention.V,
                             row / p->Nq / p->H, row / p->Nq % p->H, row % p->Nq,
                             right + row * p->d);
    add(f, "O", difference_between_heads(O, right, heads, p->Nq, p->d), 0, 4, shape, AXES);
    free(right);
}

static void judge_backward(struct finding *f, const struct case_input *in,
                           float *const got[GRADIENTS], float *const before[GRADIENTS])
{
    static const char *const names[] = { "dQ", "dK", "dV" };
    struct gradient_check check = gradient_check_begin(&in->attention, in->dO, true);
    const bool all = before[DQ] && before[DK] && before[DV];
    const struct attention_errors e = gradient_check_errors(&check, got, all ? before : NULL);
    f->right = e.right;
    f->error = e.reference;
    f->before = e.previous;
    f->has_before = e.has_previous;
    bool blamed = false;
    for (size_t g = 0; g < GRADIENTS && !blamed; g++) {
        const size_t *const shape = check.shape[g];
        const struct difference d = difference_between_heads(
            got[g], check.right[g], shape[0] * shape[1], shape[2], shape[3]);
        double largest = 0.0;
        for (size_t k = 0; k < shape[0] * shape[1] * shape[2] * shape[3]; k++)
            largest = fmax(largest, fabs(check.right[g][k].value));
        // Of one query and one key the weight is 1, but for its rounding.
        const bool is_one_pair = check.shape[DQ][2] == 1 && check.shape[DK][2] == 1;
        blamed = !is_explained(d) || (g == DV && is_one_pair && d.max_abs > 0x1p-21 * largest);
        f->right = f->right && !blamed;
        if (blamed || g == DQ)
            blame(f, names[g], &d, 0, 4, shape, "b, h, row, c");
    }
    gradient_check_end(&check);
}

// ---- all of them ---------------------------------------------------------------------------------

static bool judge_attention(struct finding *f, const struct graded_program *program,
                            const struct case_input *in, const char *out, const char *before)
{
    const struct attention *p = &in->attention.p;
    const size_t queries[4] = { p->B, p->H, p->Nq, p->d }, keys[4] = { p->B, p->Hkv, p->Nk, p->d };
    const char *const *const names = outputs_of(program->kind);
    float *got[GRADIENTS] = { NULL }, *others[GRADIENTS] = { NULL };
    bool there = true;
    char ignored[240];
    for (size_t k = 0; names[k] && there; k++) {
        const bool of_keys = program->kind == OF_BACKWARD && k > 0;
        const int dims = is_forward(program->kind) && k == 1 ? 3 : 4;
        got[k] = take(out, names[k], dims, of_keys ? keys : queries, f->unlike);
        there = got[k] != NULL;
        if (before && dims == 4)
            others[k] = take(before, names[k], dims, of_keys ? keys : queries, ignored);
    }
    if (there && is_forward(program->kind))
        judge_forward(f, in, got[0], got[1], others[0]);
    else if (there && program->kind == OF_PRODUCT)
        judge_product(f, in, got[0]);
    else if (there)
        judge_backward(f, in, got, others);
    for (size_t k = 0; k < GRADIENTS; k++) {
        free(got[k]);
        free(others[k]);
    }
    return there;
}

struct finding judge(const struct graded_program *program, const struct test_case *c,
                     const struct case_input *in, const char *out, const char *before)
{
    struct finding f = { .right = true };
    const size_t shape[2] = { c->rows, program->kind == OF_MERGE ? 2 : c->cols };
    char ignored[240];
    if (!is_of_rows(program->kind)) {
        f.right = judge_attention(&f, program, in, out, before) && f.right;
        return f;
    }
    const bool is_list = program->kind == OF_SHARE || program->kind == OF_DSINK;
    float *y = take(out, "y", is_list ? 1 : 2, shape, f.unlike);
    float *other = before && program->kind == OF_ROWS ? take(before, "y", 2, shape, ignored) : NULL;
    if (!y)
        f.right = false;
    else if (program->kind == OF_ROWS)
        judge_rows(&f, c, in->x, y, other);
    else if (program->kind == OF_DSINK)
        judge_dsink(&f, c, in->x, y);
    else
        judge_states(&f, c, program->kind, in->x, y);
    free(y);
    free(other);
    return f;
}
