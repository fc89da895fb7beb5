/*
 * compare --softmax X.npy Y.npy… : outputs of several stages for one input, in one table.
 *
 * Each is held against the double-precision reference and against the one before it in the list.
 * The last may be yours, from any language that writes .npy. Exit status as in every chapter.
 */
#include "memory.h"
#include "npy.h"
#include "options.h"
#include "plain.h"
#include "reference.h"
#include "scores.h"
#include "tolerance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A stage's output, in the shape of the input or not at all. */
static float *output_for(const struct scores *scores, const char *path)
{
    struct npy array;
    struct file_error error;
    if (!npy_read(path, &array, &error))
        options_fail(path, "%s", error.text);
    const size_t cols = array.shape[array.dims - 1];
    if (array.dims != scores->dims || cols != scores->cols ||
        array.count != scores->rows * scores->cols) {
        char shape[100], right[100];
        const size_t wanted[2] = { scores->rows, scores->cols };
        options_fail(path, "expected the shape of the input, %s, found %s",
                     npy_shape_text(scores->dims, wanted + 2 - scores->dims, right, sizeof right),
                     npy_shape_text(array.dims, array.shape, shape, sizeof shape));
    }
    if (array.type == NPY_B1 || array.type == NPY_U1)
        options_fail(path, "expected float16, float32 or float64 numbers, found a mask");
    float *y = npy_floats(&array);
    npy_free(&array);
    return y;
}

/* The largest error, or that there is something worse than a number. */
static const char *text_of(const struct difference *d, char text[32])
{
    if (d->mismatched)
        snprintf(text, 32, "NaN or inf");
    else
        snprintf(text, 32, "%.2e", d->max_abs);
    return text;
}

int main(int argc, char **argv)
{
    static const struct program program = { .name = "compare" };
    options_program(&program, argv[0]);
    if (argc < 4 || strcmp(argv[1], "--softmax") != 0)
        options_fail("usage",
                     "compare --softmax X.npy Y.npy…: the input, then each stage's output");

    const struct options options = { .input = argv[2] };
    struct scores scores = scores_load(&options);
    const size_t n = scores.rows * scores.cols, shape[2] = { scores.rows, scores.cols };
    double *right = allocate(n, sizeof *right, "the reference");
    double *before = allocate(n, sizeof *before, "the stage before");
    float *plain = allocate(n, sizeof *plain, "the textbook softmax");
    reference_softmax(scores.x, right, scores.rows, scores.cols);
    plain_softmax(scores.x, plain, scores.rows, scores.cols);
    const struct allowance allowance =
        allowance_for_sums(plain, right, n, scores.cols, scores.rows);

    bool all_right = true;
    printf("%s; %.2e is allowed against the reference\n\n", scores.origin, allowance.max_abs);
    printf("%-44s %14s %17s     %s\n", "", "against double", "the stage before", "at row, column");
    for (int k = 3; k < argc; k++) {
        float *y = output_for(&scores, argv[k]);
        const struct difference error = difference_between(y, right, n);
        const struct difference step = difference_between(y, before, n);
        const struct difference *where = k == 3 || error.mismatched ? &error : &step;
        char place[100], against[32], from_before[32];
        printf("%-44s %14s %17s     %-14s %s\n", argv[k], text_of(&error, against),
               k == 3 ? "-" : text_of(&step, from_before),
               place_of(where->worst, 2, shape, place, sizeof place),
               within(error, allowance) ? "ok" : "WRONG");
        if (!within(error, allowance))
            printf("    at %s: got %.6g, expected %.6g\n",
                   place_of(error.worst, 2, shape, place, sizeof place), error.got, error.expected);
        all_right &= within(error, allowance);
        for (size_t i = 0; i < n; i++)
            before[i] = (double)y[i];
        free(y);
    }
    free(right);
    free(before);
    free(plain);
    scores_free(&scores);
    options_flush();
    return all_right ? EXIT_VERIFIED : EXIT_DISAGREES;
}
