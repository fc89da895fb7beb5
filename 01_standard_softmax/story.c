#include "01_standard_softmax/program.h"
#include "01_standard_softmax/standard_softmax.h"
#include "common/program/report.h"

#include <math.h>

void show_row(const float *x, size_t n)
{
    float e[SCORES_TRACE], y[SCORES_TRACE], l = 0.0f;
    char text[16 * SCORES_TRACE];
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

void show_examples(void)
{
    report_part("By hand");
    show_row((const float[]){ 1, 2, 3, 4 }, 4);
    report_part("Overflow");
    show_row((const float[]){ 1, 2, 300 }, 3);
    report_part("Underflow");
    show_row((const float[]){ -200, -201, -202 }, 3);
}

static size_t count_not_finite(const struct scores *scores, size_t *first)
{
    scores_each_row(scores, standard_softmax);
    return scores_not_finite(scores, first);
}

void show_input(const struct scores *scores)
{
    const size_t n = scores->rows * scores->cols;
    float low = INFINITY, high = -INFINITY;
    size_t first, bad = count_not_finite(scores, &first);
    for (size_t i = 0; i < n; i++) {
        low = fminf(low, scores->x[i]);
        high = fmaxf(high, scores->x[i]);
    }
    report_part("Input");
    report_line("%s", scores->origin);
    report_line("from %.4g to %.4g", (double)low, (double)high);
    if (bad)
        report_line("%zu row%s of %zu with NaN or inf, the first is row %zu", bad,
                    bad == 1 ? "" : "s", scores->rows, first);
}

static size_t count_not_finite_changed(const struct scores *scores, float factor, float shift,
                                       size_t *first)
{
    struct scores changed = scores_changed(scores, factor, shift);
    const size_t bad = count_not_finite(&changed, first);
    scores_free(&changed);
    return bad;
}

void show_breaking(const struct scores *scores)
{
    size_t row = 0, largest = 0;
    int hundredths = 100;
    while (hundredths < 10000 &&
           !count_not_finite_changed(scores, 0.01f * (float)hundredths, 0.0f, &row))
        hundredths++;
    for (size_t j = 0; j < scores->cols; j++)
        if (scores->x[row * scores->cols + j] > scores->x[row * scores->cols + largest])
            largest = j;
    const float factor = 0.01f * (float)hundredths, score = scores->x[row * scores->cols + largest];
    report_part("Broken");
    report_line("times %.2f  row %zu, column %zu: %.4g becomes %.4g, and its e^x is %g",
                (double)factor, row, largest, (double)score, (double)(factor * score),
                (double)expf(factor * score));
    const size_t bad = count_not_finite_changed(scores, 1.0f, -200.0f, &row);
    report_line("minus 200   %zu of %zu rows are NaN", bad, scores->rows);
}
