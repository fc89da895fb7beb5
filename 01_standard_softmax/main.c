/*
 * Chapter 01 as a program: the formula by hand, and where float32 breaks it.
 */
#include "01_standard_softmax/standard_softmax.h"
#include "common/cpu/memory.h"
#include "common/measure/watch.h"
#include "common/program/report.h"
#include "common/program/softmax_chapter.h"

#include <math.h>
#include <stdlib.h>

static void show_row(const float *x, size_t n)
{
    float e[SOFTMAX_TRACE_LIMIT], y[SOFTMAX_TRACE_LIMIT], l = 0.0f;
    char text[16 * SOFTMAX_TRACE_LIMIT];
    for (size_t j = 0; j < n; j++) {
        e[j] = expf(x[j]);
        l += e[j];
    }
    standard_softmax(x, y, n);
    report_line("x       = %s", report_row("%.4g", x, n, text, sizeof text));
    report_line("e^x     = %s       l = %.4g", report_row("%.4g", e, n, text, sizeof text),
                (double)l);
    report_line("e^x / l = %s", report_row("%.4f", y, n, text, sizeof text));
}

static void by_hand(void)
{
    report_part("By hand");
    show_row((const float[]){ 1, 2, 3, 4 }, 4);
    report_part("Overflow");
    show_row((const float[]){ 1, 2, 300 }, 3);
    report_part("Underflow");
    show_row((const float[]){ -200, -201, -202 }, 3);
}

/* Counts the rows with a NaN or infinite element; *first is the first of them. */
static size_t rows_without_numbers(const struct scores *scores, size_t *first)
{
    float *y = allocate(scores->cols, sizeof *y, "a row");
    size_t count = 0;
    for (size_t i = 0; i < scores->rows; i++) {
        bool finite = true;
        standard_softmax(scores->x + i * scores->cols, y, scores->cols);
        for (size_t j = 0; j < scores->cols; j++)
            finite = finite && isfinite(y[j]);
        if (!finite && count++ == 0)
            *first = i;
    }
    free(y);
    return count;
}

static void describe(const struct scores *scores)
{
    const size_t n = scores->rows * scores->cols;
    float low = INFINITY, high = -INFINITY;
    size_t first, bad = rows_without_numbers(scores, &first);
    for (size_t i = 0; i < n; i++) {
        low = fminf(low, scores->x[i]);
        high = fmaxf(high, scores->x[i]);
    }
    report_line("from %.4g to %.4g", (double)low, (double)high);
    if (bad)
        report_line("%zu row%s of %zu came out without numbers (NaN or inf), the first is row %zu",
                    bad, bad == 1 ? "" : "s", scores->rows, first);
}

/* rows_without_numbers of factor * scores + shift. */
static size_t try(const struct scores *scores, float factor, float shift, size_t *first)
{
    struct scores other = *scores;
    const size_t n = scores->rows * scores->cols;
    other.x = allocate(n, sizeof *other.x, "the scaled scores");
    for (size_t i = 0; i < n; i++)
        other.x[i] = factor * scores->x[i] + shift;
    const size_t bad = rows_without_numbers(&other, first);
    free(other.x);
    return bad;
}

/* Scales the real scores until the first row overflows, and shifts them until rows underflow. */
static void break_the_scores(const struct scores *scores)
{
    size_t row = 0, largest = 0;
    int hundredths = 100;
    while (hundredths < 10000 && !try(scores, 0.01f * (float)hundredths, 0.0f, &row))
        hundredths++;
    for (size_t j = 0; j < scores->cols; j++)
        if (scores->x[row * scores->cols + j] > scores->x[row * scores->cols + largest])
            largest = j;
    const float factor = 0.01f * (float)hundredths, score = scores->x[row * scores->cols + largest];
    report_part("Broken");
    report_line("times %.2f  row %zu, column %zu: %.4g becomes %.4g, and its e^x is %g",
                (double)factor, row, largest, (double)score, (double)(factor * score),
                (double)expf(factor * score));
    const size_t bad = try(scores, 1.0f, -200.0f, &row);
    report_line("minus 200   %zu of %zu rows are NaN", bad, scores->rows);
}

DECLARE_WATCHED(standard_softmax);

int main(int argc, char **argv)
{
    static const struct softmax_chapter chapter = {
        .program = {
            .chapter = 1,
            .name = "01_standard_softmax",
            .summary = "softmax as its formula says, and where float32 breaks it",
            .example = "--rows 2 --cols 5 --trace",
        },
        .number = "01",
        .title = "Standard softmax",
        .idea = "the formula: one pass for the sum, one to normalise",
        .softmax = standard_softmax,
        .watched = WATCHED(standard_softmax),
        .lanes = standard_softmax_lanes,
        .loads = 2,
        .formula = "2 N",
        .formula_all = "3 N",
        .formula_note = "",
        .by_hand = by_hand,
        .show_row = show_row,
        .describe = describe,
        .shown_on_scores = break_the_scores,
        .next = "02_safe_softmax: subtract the maximum, and nothing overflows",
    };
    return softmax_chapter_main(&chapter, argc, argv);
}
