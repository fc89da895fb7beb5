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
#include "common/check/doctor.h"
#include "common/cpu/memory.h"
#include "common/files/npy.h"
#include "common/program/attention_load.h"
#include "common/program/scores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct program program = { .chapter = 7, .name = "check-against" };
static const char *chapter, *mine, *theirs;

/* The array in FOLDER/NAME.npy, or NULL if there is none; ends the program if it has another shape. */
static float *take(const char *folder, const char *name, int dims, const size_t *shape)
{
    char path[4096], wanted[100], found[100];
    struct npy array;
    struct file_error error;
    size_t count = 1;
    for (int k = 0; k < dims; k++)
        count *= shape[k];
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    FILE *there = fopen(path, "rb");
    if (!there)
        return NULL;
    fclose(there);
    if (!npy_read(path, &array, &error))
        options_fail(path, "%s", error.text);
    if (array.count != count || array.type == NPY_B1 || array.type == NPY_U1)
        options_fail(path, "expected numbers of shape %s, found %s",
                     npy_shape_text(dims, shape, wanted, sizeof wanted),
                     npy_shape_text(array.dims, array.shape, found, sizeof found));
    float *x = npy_floats(&array);
    npy_free(&array);
    return x;
}

static bool softmax(const struct options *options)
{
    struct scores scores = scores_load(options);
    const size_t n = scores.rows * scores.cols;
    float *const x = take(mine, "y", 2, scores.shape), *const stage =
                                                           take(theirs, "y", 2, scores.shape);
    if (!x)
        options_fail(mine, "expected an output: y.npy");
    struct output y = { .name = "y",
                        .axes = "row, column",
                        .dims = 2,
                        .shape = { scores.shape[0], scores.shape[1] },
                        .rows = 1,
                        .cols = scores.cols,
                        .right = allocate(n, sizeof *y.right, "the reference"),
                        .x = x,
                        .stage = stage };
    const enum dtype type = output_dtype(x, n) % DTYPES;
    rounding_softmax(scores.x, y.right, scores.rows, scores.cols);
    for (size_t k = 0; k < n; k++)
        y.right[k] = rounding_stored(y.right[k], type);
    const struct difference d = output_difference(&y);
    printf("%s against %s\n%s\n", mine, chapter, scores.origin);
    if (type != DTYPE_F32)
        printf("judged as %s: y has no more digits than that\n", dtype_words(type));
    output_heading(stdout, stage);
    output_print(stdout, &y, &d, stage);
    if (!is_explained(d))
        output_print_first(stdout, &y);
    free(x);
    free(stage);
    free(y.right);
    scores_free(&scores);
    return is_explained(d);
}

static bool attention(const struct options *options, bool backward, bool has_dtype)
{
    struct attention_input in = attention_input_load(options);
    float *const dO = backward ? attention_input_dO(&in, options) : NULL;
    struct doctor x = { .in = &in, .dO = dO, .has_dtype = has_dtype };
    size_t found = 0;
    for (enum result of = 0; of < (backward ? RESULTS : RESULT_DQ); of++) {
        const struct output o = doctor_output(&x, of);
        x.got[of] = take(mine, o.name, o.dims, o.shape);
        x.stage[of] = take(theirs, o.name, o.dims, o.shape);
        found += x.got[of] != NULL;
    }
    if (found == 0)
        options_fail(mine, "expected an output: %s",
                     backward ? "dq.npy, dk.npy or dv.npy" : "o.npy or lse.npy");
    printf("%s against %s\n%s\n", mine, chapter, in.origin);
    double explained[RESULTS];
    const bool right = doctor_report(stdout, &x, explained);
    for (enum result of = 0; of < RESULTS; of++) {
        free((void *)x.got[of]);
        free((void *)x.stage[of]);
    }
    free(dO);
    attention_input_free(&in);
    return right;
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
    bool right, has_dtype = false;
    for (int k = 3; k < argc; k++)
        has_dtype |= strncmp(argv[k], "--dtype", 7) == 0;
    if (number <= '3') {
        char path[4096];
        options_program(&program, argv[0]);
        snprintf(path, sizeof path, "%s/x.npy", mine);
        right = softmax(&(struct options){ .input = path });
    } else {
        const struct options options = options_parse(&program, argc - 3, argv + 3);
        right = attention(&options, number == '7', has_dtype);
    }
    options_flush();
    return right ? EXIT_VERIFIED : EXIT_DISAGREES;
}
