/*
 * against STAGE MINE THEIRS [option…]: outputs of somebody's own implementation against those of a stage.
 *
 * MINE is a folder with the inputs and their outputs, THEIRS one with the stage's outputs for the same input, and
 * the options say what the input is, as a chapter takes them. Of each output: the largest error against the double
 * reference, what is allowed, and the first element that is off by more. common/classroom/check_against.sh calls it.
 * Exit status as in every chapter: 0 right, 1 not, 2 it cannot be said.
 */
#include "gradient_check.h"
#include "memory.h"
#include "npy.h"
#include "plain.h"
#include "reference.h"
#include "scores.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 6 };

static const struct program program = { .chapter = 7, .name = "check-against" };
static const char *mine, *theirs;
static int wrong, compared;

/* One output: its name, its shape, what is right, and what it may be off by. */
struct output {
    const char *name, *axes;
    int dims;
    const size_t *shape;
    const double *right;
    struct allowance allowed;
};

static size_t size_of(const struct output *o)
{
    size_t n = 1;
    for (int k = 0; k < o->dims; k++)
        n *= o->shape[k];
    return n;
}

/* The array in FOLDER/NAME.npy, or NULL if there is none; ends the program if it has another shape. */
static float *take(const char *folder, const struct output *o)
{
    char path[4096], wanted[100], found[100];
    struct npy array;
    struct file_error error;
    snprintf(path, sizeof path, "%s/%s.npy", folder, o->name);
    FILE *there = fopen(path, "rb");
    if (!there)
        return NULL;
    fclose(there);
    if (!npy_read(path, &array, &error))
        options_fail(path, "%s", error.text);
    if (array.count != size_of(o) || array.type == NPY_B1 || array.type == NPY_U1)
        options_fail(path, "expected numbers of shape %s, found %s",
                     npy_shape_text(o->dims, o->shape, wanted, sizeof wanted),
                     npy_shape_text(array.dims, array.shape, found, sizeof found));
    float *x = npy_floats(&array);
    npy_free(&array);
    return x;
}

/* Is this element off by more than is allowed? NaN is right where the reference is NaN too. */
static bool is_off(float got, double right, double allowed)
{
    if (isnan(right) || isinf(right))
        return !(isnan(right) ? isnan(got) : (double)got == right);
    return !(fabs((double)got - right) <= allowed);
}

static void tell_first(const struct output *o, const float *x, const float *stage)
{
    const size_t n = size_of(o);
    size_t first = 0, off = 0;
    char place[100];
    for (size_t k = n; k-- > 0;)
        if (is_off(x[k], o->right[k], o->allowed.max_abs)) {
            first = k;
            off++;
        }
    if (off == 0) {
        printf("    no element is off by more, but all together are: rms over %.2e\n",
               o->allowed.rms);
        return;
    }
    printf("    %zu of %zu elements are off by more than %.2e\n", off, n, o->allowed.max_abs);
    printf("    the first is at %s = %s: yours %.*g, ", o->axes,
           place_of(first, o->dims, o->shape, place, sizeof place), DIGITS + 3, (double)x[first]);
    if (stage)
        printf("the stage's %.*g, ", DIGITS + 3, (double)stage[first]);
    printf("the reference's %.*g\n", DIGITS + 3, o->right[first]);
}

static void compare(const struct output *o)
{
    const size_t n = size_of(o);
    float *x = take(mine, o), *stage = take(theirs, o);
    if (!x)
        return;
    const struct difference d = difference_between(x, o->right, n);
    const bool right = within(d, o->allowed);
    char step[40] = "-", error[40] = "NaN or inf";
    if (stage) {
        double most = 0.0;
        for (size_t k = 0; k < n; k++)
            if (isfinite(x[k]) && isfinite(stage[k]))
                most = fmax(most, fabs((double)x[k] - (double)stage[k]));
        snprintf(step, sizeof step, "%.2e", most);
    }
    if (!d.mismatched)
        snprintf(error, sizeof error, "%.2e", d.max_abs);
    printf("%-6s %16s %12.2e %16s   %s\n", o->name, error, o->allowed.max_abs, step,
           right ? "ok" : "WRONG");
    if (!right)
        tell_first(o, x, stage);
    compared++;
    wrong += !right;
    free(x);
    free(stage);
}

static void heading(const char *origin)
{
    printf("%s\n\n%-6s %16s %12s %16s\n", origin, "", "against double", "allowed", "the stage");
}

static void softmax(const struct options *options)
{
    struct scores scores = scores_load(options);
    const size_t n = scores.rows * scores.cols;
    double *right = allocate(n, sizeof *right, "the reference");
    float *plain = allocate(n, sizeof *plain, "the textbook softmax");
    reference_softmax(scores.x, right, scores.rows, scores.cols);
    plain_softmax(scores.x, plain, scores.rows, scores.cols);
    const struct output y = {
        "y",   "row, column",
        2,     scores.shape,
        right, allowance_for_sums(plain, right, n, scores.cols, scores.rows, 0.0),
    };
    heading(scores.origin);
    compare(&y);
    free(right);
    free(plain);
    scores_free(&scores);
}

static void attention(const struct options *options, bool backward)
{
    static const char *const names[] = { "dq", "dk", "dv" };
    struct attention_input in = attention_input_load(options);
    const struct attention *p = &in.p;
    const size_t n = attention_query_elements(p), rows = attention_rows(p);
    struct attention_check check = attention_check_begin(&in, true);
    double size = 0.0, most = 0.0;
    for (size_t k = 0; k < rows; k++)
        most = isfinite(check.lse[k]) ? fmax(most, fabs(check.lse[k])) : most;
    for (size_t k = 0; k < p->B * p->H; k++)
        size = fmax(size, check.values[k]);
    const struct output O = {
        "o",         "b, h, i, c",
        4,           check.shape,
        check.right, allowance_for_output(check.plain, check.right, n, p->Nk, rows, size, most)
    };
    const struct output lse = {
        "lse",     "b, h, i",
        3,         check.shape,
        check.lse, allowance_for_sums(check.plain_lse, check.lse, rows, p->Nk, rows, 1.0)
    };
    heading(in.origin);
    compare(&O);
    compare(&lse);
    attention_check_end(&check);
    if (backward) {
        float *dO = attention_input_dO(&in, options);
        struct gradient_check gradients = gradient_check_begin(&in, dO, true);
        for (size_t g = 0; g < GRADIENTS; g++) {
            const size_t elements = gradients.count[g] * p->d;
            const struct output dX = {
                names[g],
                "b, h, row, c",
                4,
                gradients.shape[g],
                gradients.right[g],
                allowance_for_gradient(gradients.plain[g], gradients.right[g], elements,
                                       gradients.terms.size[g], gradients.terms.lse),
            };
            compare(&dX);
        }
        gradient_check_end(&gradients);
        free(dO);
    }
    attention_input_free(&in);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        options_program(&program, argv[0]);
        options_fail("usage", "against STAGE MINE THEIRS [option…]");
    }
    const char stage = argv[1][1];
    mine = argv[2];
    theirs = argv[3];
    argv[3] = argv[0];
    if (stage <= '3') {
        char path[4096];
        options_program(&program, argv[0]);
        snprintf(path, sizeof path, "%s/x.npy", mine);
        softmax(&(struct options){ .input = path });
    } else {
        const struct options options = options_parse(&program, argc - 3, argv + 3);
        attention(&options, stage == '7');
    }
    if (compared == 0)
        options_fail(mine, "expected an output: %s",
                     stage <= '3'   ? "y.npy"
                     : stage == '7' ? "dq.npy, dk.npy or dv.npy"
                                    : "o.npy or lse.npy");
    options_flush();
    return wrong ? EXIT_DISAGREES : EXIT_VERIFIED;
}
