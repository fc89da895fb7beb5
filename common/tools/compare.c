/*
 * compare --softmax X.npy Y.npy… : outputs of several stages for one input, in one table.
 * compare --attention [options] -- O.npy… : the same for attention.
 *
 * It compares each output with the double precision reference and the previous output. The last may
 * be yours, from any language that writes .npy. Exit status as in every chapter.
 */
#include "common/tools/compare.h"

#include "common/files/npy.h"
#include "common/program/options.h"
#include "common/program/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 40, REASON_WIDTH = 100 - NAME_WIDTH - 4 };

float *compare_output(const char *path, int dims, const size_t *shape)
{
    struct npy array;
    struct file_error error;
    if (!npy_read(path, &array, &error))
        options_fail(path, "%s", error.text);
    if (array.dims != dims || memcmp(array.shape, shape, (size_t)dims * sizeof *shape) != 0) {
        char found[100], right[100];
        options_fail(path, "expected the shape of the input, %s, found %s",
                     npy_shape_text(dims, shape, right, sizeof right),
                     npy_shape_text(array.dims, array.shape, found, sizeof found));
    }
    if (array.type == NPY_B1 || array.type == NPY_U1)
        options_fail(path, "expected float16, float32 or float64 numbers, found a mask");
    float *y = npy_floats(&array);
    npy_free(&array);
    return y;
}

static const char *name_of(const char *path, char name[NAME_WIDTH + 1])
{
    const size_t length = strlen(path);
    if (length > NAME_WIDTH)
        snprintf(name, NAME_WIDTH + 1, "...%s", path + length - (NAME_WIDTH - 3));
    else
        snprintf(name, NAME_WIDTH + 1, "%s", path);
    return name;
}

static const char *text_of(const struct difference *d, char text[32])
{
    if (d->mismatched)
        snprintf(text, 32, "NaN or inf");
    else
        snprintf(text, 32, "%.2e", d->max_abs);
    return text;
}

void compare_heading(const char *axes)
{
    printf("\n%-*s %14s %16s   at %s\n", NAME_WIDTH, "", "against double", "the stage before",
           axes);
}

static void show_fault(const struct compare_row *row)
{
    const struct difference *error = &row->error;
    static const char *const of[] = { [OF_ELEMENT] = "it",
                                      [OF_ROW] = "its row",
                                      [OF_COLUMN] = "its column",
                                      [OF_HEAD] = "its head" };
    char got[32], expected[32];
    printf("    at %s: got %s, expected %s", row->fault_place, report_value(row->fault_got, 6, got),
           report_value(row->fault_expected, 6, expected));
    if (error->mismatched)
        printf("\n");
    else
        printf("; %s is %.3g times what rounding explains\n", of[error->extent], error->explained);
}

bool compare_print(const struct compare_row *row)
{
    const bool right = is_explained(row->error);
    const bool of_error = row->first || row->error.mismatched;
    char name[NAME_WIDTH + 1], error[32], step[32];
    printf("%-*s %14s %16s   %-17s %s\n", NAME_WIDTH, name_of(row->path, name),
           text_of(&row->error, error), row->first ? "-" : text_of(&row->step, step),
           of_error ? row->error_place : row->step_place, right ? "ok" : "WRONG");
    if (!right)
        show_fault(row);
    return right;
}

void compare_print_unable(const char *path, const char *reason)
{
    char name[NAME_WIDTH + 1];
    const char *const gap = strlen(reason) > REASON_WIDTH ? "\n" : "";
    printf("%-*s%s    %s\n", *gap ? 0 : NAME_WIDTH, name_of(path, name), gap, reason);
}

int main(int argc, char **argv)
{
    static const struct program program = { .name = "compare" };
    options_program(&program, argv[0]);
    if (argc >= 4 && strcmp(argv[1], "--softmax") == 0)
        return compare_softmax(argc, argv);
    if (argc >= 3 && strcmp(argv[1], "--attention") == 0)
        return compare_attention(argc, argv);
    options_fail("usage", "compare --softmax X.npy Y.npy… or compare --attention [options] -- "
                          "O.npy…: the input, then each stage's output");
}
