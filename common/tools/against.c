/*
 * against CHAPTER MINE THEIRS [option…]: compares your own implementation's outputs with a
 * stage's.
 *
 * MINE is a folder with the inputs and their outputs, THEIRS one with the stage's outputs for the
 * same input; the options describe the input, as a chapter takes them. Prints for each output the
 * largest error against the double reference, the tolerance, and the first element that is off by
 * more. Everything is read before anything is printed. common/tools/check_against.sh calls it.
 * Exit status as in every chapter: 0 right, 1 wrong, 2 unknown.
 */
#include "common/check/gradient_check.h"
#include "common/cpu/memory.h"
#include "common/files/npy.h"
#include "common/program/attention_load.h"
#include "common/program/scores.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 6 };

static const struct program program = { .chapter = 7, .name = "check-against" };
static const char *chapter, *mine, *theirs;
static int wrong;

/* One output: its name, its shape, how many of its last axes are a head, what is right; ours, or NULL, and the stage's. */
struct output {
    const char *name, *axes;
    int dims;
    const size_t *shape;
    size_t rows, cols;  // of a head
    const struct exact *right;
    float *x, *stage;
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

/* Below a wrong output: what is farthest from right, for what rounding does there. */
static void print_fault(const struct output *o, const struct difference *d)
{
    static const char *const of[] = { [OF_ELEMENT] = "that element",
                                      [OF_ROW] = "its row",
                                      [OF_COLUMN] = "its column",
                                      [OF_HEAD] = "its head" };
    const size_t at = d->mismatched ? d->worst : d->farthest;
    char place[100];
    printf("    at %s = %s: yours %.*g, ", o->axes,
           coordinates_of(at, o->dims, o->shape, place, sizeof place), DIGITS + 3,
           (double)o->x[at]);
    if (o->stage)
        printf("the stage's %.*g, ", DIGITS + 3, (double)o->stage[at]);
    printf("the reference's %.*g\n", DIGITS + 3, o->right[at].value);
    if (d->mismatched)
        printf("    %zu elements are no numbers, or infinite\n", d->mismatched);
    else
        printf("    %s is off by %.3g times what rounding explains\n", of[d->extent], d->explained);
}

static void compare(const struct output *o)
{
    const size_t n = size_of(o);
    const float *x = o->x, *stage = o->stage;
    const struct difference d =
        difference_between_heads(x, o->right, n / (o->rows * o->cols), o->rows, o->cols);
    const bool right = is_explained(d);
    char step[40] = "-", error[40] = "NaN or inf", explained[40] = "-";
    if (stage) {
        double most = 0.0;
        for (size_t k = 0; k < n; k++)
            if (isfinite(x[k]) && isfinite(stage[k]))
                most = fmax(most, fabs((double)x[k] - (double)stage[k]));
        snprintf(step, sizeof step, "%.2e", most);
    }
    if (!d.mismatched) {
        snprintf(error, sizeof error, "%.2e", d.max_abs);
        snprintf(explained, sizeof explained, d.explained < 10.0 ? "%.2f" : "%.3g", d.explained);
    }
    printf("%-6s %16s %26s %16s   %s\n", o->name, error, explained, step, right ? "ok" : "WRONG");
    if (!right)
        print_fault(o, &d);
    wrong += !right;
}

/* Those of `outputs` that exist; `names` lists the possible ones. */
static void compare_all(struct output *outputs, size_t count, const char *origin, const char *names)
{
    size_t there = 0;
    for (size_t k = 0; k < count; k++) {
        outputs[k].x = take(mine, &outputs[k]);
        outputs[k].stage = take(theirs, &outputs[k]);
        there += outputs[k].x != NULL;
    }
    if (there == 0)
        options_fail(mine, "expected an output: %s", names);
    printf("%s against %s\n%s\n\n%-6s %16s %26s %16s\n", mine, chapter, origin, "",
           "against double", "of what rounding explains", "the stage");
    for (size_t k = 0; k < count; k++) {
        if (outputs[k].x)
            compare(&outputs[k]);
        free(outputs[k].x);
        free(outputs[k].stage);
    }
}

static void softmax(const struct options *options)
{
    struct scores scores = scores_load(options);
    const size_t n = scores.rows * scores.cols;
    struct exact *right = allocate(n, sizeof *right, "the reference");
    rounding_softmax(scores.x, right, scores.rows, scores.cols);
    struct output y = {
        .name = "y",
        .axes = "row, column",
        .dims = 2,
        .shape = scores.shape,
        .rows = 1,
        .cols = scores.cols,
        .right = right,
    };
    compare_all(&y, 1, scores.origin, "y.npy");
    free(right);
    scores_free(&scores);
}

static void attention(const struct options *options, bool backward)
{
    static const char *const names[] = { "dq", "dk", "dv" };
    struct attention_input in = attention_input_load(options);
    const struct attention *p = &in.p;
    struct attention_check check = attention_check_begin(&in, true);
    struct output outputs[2 + GRADIENTS] = {
        { .name = "o",
          .axes = "b, h, i, c",
          .dims = 4,
          .shape = check.shape,
          .rows = p->Nq,
          .cols = p->d,
          .right = check.O },
        { .name = "lse",
          .axes = "b, h, i",
          .dims = 3,
          .shape = check.shape,
          .rows = p->Nq,
          .cols = 1,
          .right = check.lse },
    };
    if (!backward) {
        compare_all(outputs, 2, in.origin, "o.npy or lse.npy");
    } else {
        float *dO = attention_input_dO(&in, options);
        struct gradient_check gradients = gradient_check_begin(&in, dO, true);
        for (size_t g = 0; g < GRADIENTS; g++)
            outputs[2 + g] = (struct output){
                .name = names[g],
                .axes = "b, h, row, c",
                .dims = 4,
                .shape = gradients.shape[g],
                .rows = gradients.shape[g][2],
                .cols = p->d,
                .right = gradients.right[g],
            };
        compare_all(outputs, 2 + GRADIENTS, in.origin, "dq.npy, dk.npy or dv.npy");
        gradient_check_end(&gradients);
        free(dO);
    }
    attention_check_end(&check);
    attention_input_free(&in);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        options_program(&program, argv[0]);
        options_fail("usage", "against CHAPTER MINE THEIRS [option…]");
    }
    chapter = argv[1];
    mine = argv[2];
    theirs = argv[3];
    argv[3] = argv[0];
    const char number = chapter[1];
    if (number <= '3') {
        char path[4096];
        options_program(&program, argv[0]);
        snprintf(path, sizeof path, "%s/x.npy", mine);
        softmax(&(struct options){ .input = path });
    } else {
        const struct options options = options_parse(&program, argc - 3, argv + 3);
        attention(&options, number == '7');
    }
    options_flush();
    return wrong ? EXIT_DISAGREES : EXIT_VERIFIED;
}
