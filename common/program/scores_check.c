#include "common/check/tolerance.h"
#include "common/cpu/memory.h"
#include "common/measure/accesses.h"
#include "common/measure/progress.h"
#include "common/measure/traffic.h"
#include "common/measure/watch.h"
#include "common/program/report.h"
#include "common/program/scores.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void scores_trace(const struct scores *scores, void (*show_row)(const float *x, size_t n))
{
    if (scores->rows * scores->cols > SCORES_TRACE)
        options_fail("--trace", "expected an input of at most %d numbers, found %zu", SCORES_TRACE,
                     scores->rows * scores->cols);
    for (size_t i = 0; i < scores->rows; i++) {
        report_part(i ? "" : "Trace");
        show_row(scores->x + i * scores->cols, scores->cols);
    }
}

size_t scores_count(const struct scores *scores, softmax_row *watched, size_t loads,
                    const char *note)
{
    const size_t n = scores->rows * scores->cols;
    char formula[32], all_formula[32];
    if (!CAN_WATCH) {
        report_not_counted("Counted");
        return 0;
    }
    traffic_reset();
    traffic_watch("x", scores->x, n);
    traffic_watch("y", scores->y, n);
    scores_each_row(scores, watched);
    const struct traffic x = traffic_of("x"), y = traffic_of("y"), all = traffic_total();
    const size_t accesses = all.loads + all.stores;
    snprintf(formula, sizeof formula, "%zu N", loads);
    snprintf(all_formula, sizeof all_formula, "%zu N", loads + 1);
    const struct counted lines[] = {
        { "x loads", x.loads, loads * n, formula, "" },
        { "y stores", y.stores, n, "N", "" },
        { "all", accesses, (loads + 1) * n, all_formula, note },
    };
    report_counted(lines, 3, "per row of N", n, " N");
    return accesses;
}

/* The expected values of every row; free() it. */
static struct exact *right_of(const struct scores *scores)
{
    struct exact *right = allocate(scores->rows * scores->cols, sizeof *right, "the reference");
    for (size_t i = 0; i < scores->rows; i++) {
        const size_t row = i * scores->cols;
        progress("reference", i, scores->rows);
        rounding_softmax(scores->x + row, right + row, 1, scores->cols);
    }
    progress("reference", scores->rows, scores->rows);
    return right;
}

size_t scores_not_finite(const struct scores *scores, size_t *first)
{
    size_t count = 0;
    for (size_t i = 0; i < scores->rows; i++) {
        bool finite = true;
        for (size_t j = 0; j < scores->cols; j++)
            finite = finite && isfinite(scores->y[i * scores->cols + j]);
        if (!finite && count++ == 0)
            *first = i;
    }
    return count;
}

double scores_error(const struct scores *scores, bool *right)
{
    struct exact *const expected = right_of(scores);
    double largest = 0.0;
    *right = true;
    for (size_t row = 0; row < scores->rows * scores->cols; row += scores->cols) {
        const struct difference d =
            difference_between(scores->y + row, expected + row, 1, scores->cols);
        *right = *right && is_explained(d);
        largest = fmax(largest, d.max_abs);
    }
    free(expected);
    return largest;
}

/* Row *row of y against what it should be. */
static struct comparison compare_row(const struct scores *scores, const char *with,
                                     const struct exact *expected, const size_t *row)
{
    const size_t first = *row * scores->cols;
    return (struct comparison){
        .with = with,
        .got = scores->y + first,
        .expected = expected + first,
        .difference = difference_between(scores->y + first, expected + first, 1, scores->cols),
        .axes = { 2, scores->shape, "row, column", row, scores->cols },
    };
}

/*
 * The expected y, given the output of `previous`; in rows that it gets wrong, that of the
 * reference.
 */
static struct exact *right_given(const struct scores *scores, softmax_row *previous,
                                 const struct exact *right, size_t *wrong_rows, size_t *first)
{
    const size_t cols = scores->cols, n = scores->rows * cols;
    struct exact *given = allocate(n, sizeof *given, "the previous stage's output");
    struct scores before = *scores;
    before.y = allocate(n, sizeof *before.y, "the previous stage's output");
    scores_each_row(&before, previous);
    for (size_t i = 0; i < scores->rows; i++) {
        const size_t row = i * cols;
        const bool usable = is_explained(difference_between(before.y + row, right + row, 1, cols));
        for (size_t j = row; j < row + cols; j++)
            given[j] = usable ? rounding_between(right[j], before.y[j]) : right[j];
        if (!usable && (*wrong_rows)++ == 0)
            *first = i;
    }
    free(before.y);
    return given;
}

void scores_check(const struct scores *scores, softmax_row *previous, struct summary *summary)
{
    struct exact *const right = right_of(scores), *given = NULL;
    size_t *numbers = allocate(scores->rows, sizeof *numbers, "the rows' numbers");
    struct comparison worst[2] = { { 0 } };
    size_t wrong_rows = 0, first = 0;
    if (previous)
        given = right_given(scores, previous, right, &wrong_rows, &first);
    for (size_t i = 0; i < scores->rows; i++) {
        numbers[i] = i;
        comparison_keep_worse(&worst[0],
                              compare_row(scores, "double reference", right, &numbers[i]));
        if (previous)
            comparison_keep_worse(&worst[1],
                                  compare_row(scores, summary->previous, given, &numbers[i]));
    }
    report_compared(worst, 2);
    if (wrong_rows)
        report_line(
            "  %s is itself wrong in %zu row%s, first in row %zu: compared with the reference",
            summary->previous, wrong_rows, wrong_rows == 1 ? "" : "s", first);
    summary->error = worst[0].difference.max_abs;
    summary->previous_error = worst[1].difference.max_abs;
    free(numbers);
    free(given);
    free(right);
}
