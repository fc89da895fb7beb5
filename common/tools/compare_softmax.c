/*
 * The table of chapters 01 to 03.
 */
#include "common/tools/compare.h"

#include "common/check/output.h"
#include "common/cpu/memory.h"
#include "common/program/options.h"
#include "common/program/scores.h"

#include <stdio.h>
#include <stdlib.h>

int compare_softmax(int argc, char **argv)
{
    const struct options options = { .input = argv[2] };
    struct scores scores = scores_load(&options);
    const size_t n = scores.rows * scores.cols;
    const size_t rows = scores.rows, cols = scores.cols;
    struct exact *right = allocate(n, sizeof *right, "the reference");
    struct exact *before = allocate(n, sizeof *before, "the stage before");
    rounding_softmax(scores.x, right, rows, cols);

    bool all_right = true;
    printf("%s\n", scores.origin);
    compare_heading("row, column");
    for (int k = 3; k < argc; k++) {
        char error_place[100], step_place[100], fault_place[100];
        float *y = compare_output(argv[k], scores.dims, scores.shape + 2 - scores.dims);
        struct compare_row row = {
            .path = argv[k],
            .first = k == 3,
            .error = difference_between_heads(y, right, rows, 1, cols),
        };
        if (!row.first)
            row.step = difference_between_heads(y, before, rows, 1, cols);
        const size_t fault = row.error.mismatched ? row.error.worst : row.error.farthest;
        row.fault_place = coordinates_of(fault, 2, scores.shape, fault_place, sizeof fault_place);
        row.fault_got = (double)y[fault];
        row.fault_expected = right[fault].value;
        row.error_place =
            coordinates_of(row.error.worst, 2, scores.shape, error_place, sizeof error_place);
        row.step_place =
            coordinates_of(row.step.worst, 2, scores.shape, step_place, sizeof step_place);
        all_right &= compare_print(&row);
        for (size_t i = 0; i < n; i++)
            before[i] = rounding_between(right[i], y[i]);
        free(y);
    }
    free(right);
    free(before);
    scores_free(&scores);
    options_flush();
    return all_right ? EXIT_VERIFIED : EXIT_DISAGREES;
}
