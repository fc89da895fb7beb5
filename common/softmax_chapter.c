#include "softmax_chapter.h"

#include "memory.h"
#include "plain.h"
#include "reference.h"
#include "report.h"
#include "traffic.h"

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

static size_t count(const struct softmax_chapter *chapter, const struct scores *scores, float *y)
{
    const size_t n = scores->rows * scores->cols;
    traffic_reset();
    traffic_watch("x", scores->x, n);
    traffic_watch("y", y, n);
    scores_each_row(scores, chapter->counted, y);
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

/* Has a row of n numbers one that is not finite? */
static bool broken(const float *y, size_t n)
{
    for (size_t j = 0; j < n; j++)
        if (!isfinite(y[j]))
            return true;
    return false;
}

/* Rows in which the previous stage fails, so that the reference stands in for it. */
struct stand_in {
    size_t rows, first;
};

/* The previous stage's output in double, and how far off it is where it has numbers. */
static double *previous_output(const struct softmax_chapter *chapter, const struct scores *scores,
                               const double *right, struct difference *error,
                               struct stand_in *stand_in)
{
    const size_t n = scores->rows * scores->cols;
    float *y = allocate(n, sizeof *y, "the previous stage's output");
    double *wide = allocate(n, sizeof *wide, "the previous stage's output");
    scores_each_row(scores, chapter->previous, y);
    *error = difference_between(y, right, n);
    for (size_t i = 0; i < scores->rows; i++) {
        const size_t row = i * scores->cols;
        const bool fails = broken(y + row, scores->cols);
        for (size_t j = row; j < row + scores->cols; j++)
            wide[j] = fails ? right[j] : (double)y[j];
        if (fails && stand_in->rows++ == 0)
            stand_in->first = i;
    }
    free(y);
    return wide;
}

/* The part "Compared with". Returns the largest errors, for the summary. */
static struct summary compare(const struct softmax_chapter *chapter, const struct scores *scores,
                              const float *y)
{
    const size_t n = scores->rows * scores->cols, shape[2] = { scores->rows, scores->cols };
    double *right = allocate(n, sizeof *right, "the reference"), *before = NULL;
    float *plain = allocate(n, sizeof *plain, "the textbook softmax");
    reference_softmax(scores->x, right, scores->rows, scores->cols);
    plain_softmax(scores->x, plain, scores->rows, scores->cols);

    const struct axes axes = { .dims = 2, .shape = shape, .names = "row, column" };
    struct comparison comparisons[2] = { {
        .with = "double reference",
        .got = y,
        .expected = right,
        .difference = difference_between(y, right, n),
        .allowance = allowance_for(plain, right, n, FORWARD),
        .axes = axes,
    } };
    struct difference other = { 0 };
    struct stand_in stand_in = { 0 };
    if (chapter->previous) {
        before = previous_output(chapter, scores, right, &other, &stand_in);
        comparisons[1] = (struct comparison){
            .with = chapter->previous_name,
            .got = y,
            .expected = before,
            .difference = difference_between(y, before, n),
            .allowance = allowance_between(comparisons[0].allowance, other),
            .axes = axes,
        };
    }
    report_compared(comparisons, chapter->previous ? 2 : 1);
    if (stand_in.rows)
        report_line("  %s has no numbers in %zu row%s, the first is %zu: the reference stands in",
                    chapter->previous_name, stand_in.rows, stand_in.rows == 1 ? "" : "s",
                    stand_in.first);
    free(right);
    free(before);
    free(plain);
    return (struct summary){
        .error = comparisons[0].difference.max_abs,
        .previous = chapter->previous_name,
        .previous_error = comparisons[1].difference.max_abs,
    };
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
        char a_row[32];
        snprintf(a_row, sizeof a_row, "%s a row", chapter->formula_all);
        summary.accesses = a_row;
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
