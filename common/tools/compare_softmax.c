/*
 * The table of chapters 01 to 03: outputs of softmax for one input.
 */
#include "common/tools/compare.h"

#include "common/check/plain.h"
#include "common/check/reference.h"
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
    double *right = allocate(n, sizeof *right, "the reference");
    double *before = allocate(n, sizeof *before, "the stage before");
    float *plain = allocate(n, sizeof *plain, "the textbook softmax");
    reference_softmax(scores.x, right, scores.rows, scores.cols);
    plain_softmax(scores.x, plain, scores.rows, scores.cols);
    const struct allowance allowance =
        allowance_for_sums(plain, right, n, scores.cols, scores.rows, 0.0);

    bool all_right = true;
    printf("%s; %.2e is allowed against the reference\n", scores.origin, allowance.max_abs);
    compare_heading("row, column");
    for (int k = 3; k < argc; k++) {
        char error_place[100], step_place[100];
        float *y = compare_output(argv[k], scores.dims, scores.shape + 2 - scores.dims);
        struct compare_row row = {
            .path = argv[k],
            .first = k == 3,
            .error = difference_between(y, right, n),
            .allowance = allowance,
        };
        if (!row.first)
            row.step = difference_between(y, before, n);
        row.error_place =
            place_of(row.error.worst, 2, scores.shape, error_place, sizeof error_place);
        row.step_place = place_of(row.step.worst, 2, scores.shape, step_place, sizeof step_place);
        all_right &= compare_print(&row);
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
