#include "common/program/softmax_chapter.h"

#include "common/check/tolerance.h"
#include "common/cpu/memory.h"
#include "common/measure/progress.h"
#include "common/measure/traffic.h"
#include "common/measure/watch.h"
#include "common/program/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void trace(const struct softmax_chapter *chapter, const struct scores *scores)
{
    if (scores->rows * scores->cols > SOFTMAX_TRACE_LIMIT)
        options_fail("--trace", "expected an input of at most %d numbers, found %zu",
                     SOFTMAX_TRACE_LIMIT, scores->rows * scores->cols);
    for (size_t i = 0; i < scores->rows; i++) {
        report_part(i ? "" : "Trace");
        chapter->show_row(scores->x + i * scores->cols, scores->cols);
    }
}

/* The accesses in all; 0: they are not counted here. */
static size_t count(const struct softmax_chapter *chapter, const struct scores *scores, float *y)
{
    const size_t n = scores->rows * scores->cols;
    if (!CAN_WATCH) {
        report_not_counted("Counted");
        return 0;
    }
    traffic_reset();
    traffic_watch("x", scores->x, n);
    traffic_watch("y", y, n);
    scores_each_row(scores, chapter->watched, y);
    const struct traffic x = traffic_of("x"), of_y = traffic_of("y"), all = traffic_total();
    const size_t accesses = all.loads + all.stores;
    const struct counted lines[] = {
        { "x loads", x.loads, chapter->loads * n, chapter->formula, "" },
        { "y stores", of_y.stores, n, "N", "" },
        { "all", accesses, (chapter->loads + 1) * n, chapter->formula_all, chapter->formula_note },
    };
    report_counted("Counted", lines, 3, "row of N", n, " N");
    return accesses;
}

/* What is right for every row; free() it. */
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

/* Row *row of y against what it should be. */
static struct comparison compare_row(const struct scores *scores, const char *with, const float *y,
                                     const struct exact *expected, const size_t *row)
{
    const size_t first = *row * scores->cols;
    return (struct comparison){
        .with = with,
        .got = y + first,
        .expected = expected + first,
        .difference = difference_between(y + first, expected + first, 1, scores->cols),
        .axes = { 2, scores->shape, "row, column", row, scores->cols },
    };
}

/*
 * Every row against the reference and against the previous stage, and of each comparison the worst row reported. Where
 * the previous stage itself is wrong, the reference stands in for it.
 */
static struct summary compare(const struct softmax_chapter *chapter, const struct scores *scores,
                              const float *y)
{
    const size_t cols = scores->cols, n = scores->rows * cols;
    struct exact *right = right_of(scores);
    struct exact *before = allocate(n, sizeof *before, "the previous stage's output");
    size_t *numbers = allocate(scores->rows, sizeof *numbers, "the rows' numbers");
    float *previous = allocate(n, sizeof *previous, "the previous stage's output");
    struct comparison worst[2] = { { 0 } };
    size_t stand_ins = 0, first_stand_in = 0;
    if (chapter->previous)
        scores_each_row(scores, chapter->previous, previous);
    for (size_t i = 0; i < scores->rows; i++) {
        const size_t row = i * cols;
        numbers[i] = i;
        comparison_keep_worse(&worst[0],
                              compare_row(scores, "double reference", y, right, &numbers[i]));
        if (!chapter->previous)
            continue;
        const bool usable = is_explained(difference_between(previous + row, right + row, 1, cols));
        for (size_t j = row; j < row + cols; j++)
            before[j] = usable ? rounding_between(right[j], previous[j]) : right[j];
        if (!usable && stand_ins++ == 0)
            first_stand_in = i;
        comparison_keep_worse(&worst[1],
                              compare_row(scores, chapter->previous_name, y, before, &numbers[i]));
    }
    report_compared(worst, chapter->previous ? 2 : 1);
    if (stand_ins)
        report_line(
            "  %s is wrong itself in %zu row%s, first in row %zu: there the reference counts",
            chapter->previous_name, stand_ins, stand_ins == 1 ? "" : "s", first_stand_in);
    const struct summary summary = {
        .error = worst[0].difference.max_abs,
        .previous = chapter->previous_name,
        .previous_error = worst[1].difference.max_abs,
    };
    free(before);
    free(previous);
    free(numbers);
    free(right);
    return summary;
}

int softmax_chapter_main(const struct softmax_chapter *chapter, int argc, char **argv)
{
    const struct options options = options_parse(&chapter->program, argc, argv);
    const bool usual = !options.input && !options.rows && !options.cols && !options.seed_given;
    const bool story = usual && !options.trace && !options.traffic && !options.bench;
    struct scores scores = scores_load(&options);
    float *y = allocate(scores.rows * scores.cols, sizeof *y, "y");

    report_start(chapter->number, chapter->title, chapter->idea, options.quiet);
    if (options.trace)
        trace(chapter, &scores);
    if (story)
        chapter->by_hand();
    report_part("Input");
    report_line("%s", scores.origin);
    chapter->describe(&scores);
    if (story && chapter->shown_on_scores)
        chapter->shown_on_scores(&scores);
    const size_t accesses = count(chapter, &scores, y);
    scores_each_row(&scores, chapter->softmax, y);
    struct summary summary = compare(chapter, &scores, y);
    scores_write(&options, &scores, y);
    if (options.bench) {
        softmax_bench(chapter, options.csv);
    } else if (options.csv) {
        char per_row[32];
        snprintf(per_row, sizeof per_row, "%s / row", chapter->formula_all);
        summary.accesses = per_row;
        summary.counted = accesses;
        summary.extra_bytes = extra_slow_peak() + extra_fast_peak();
        summary.milliseconds = softmax_milliseconds(chapter, &scores, y);
        report_summary(options.csv, &summary);
    }
    if (story)
        report_next(chapter->next);
    free(y);
    scores_free(&scores);
    return report_finish();
}
