#include "01_standard_softmax/standard_softmax.h"
#include "02_safe_softmax/program.h"
#include "02_safe_softmax/safe_softmax.h"
#include "common/program/report.h"

#include <math.h>

void show_row(const float *x, size_t n)
{
    float e[SCORES_TRACE], y[SCORES_TRACE], m = -INFINITY, l = 0.0f;
    char text[16 * SCORES_TRACE];
    for (size_t j = 0; j < n; j++)
        m = fmaxf(m, x[j]);
    for (size_t j = 0; j < n; j++) {
        e[j] = expf(x[j] - m);
        l += e[j];
    }
    safe_softmax(x, y, n);
    report_line("x             = %s       m = %.4g", report_row("%.4g", x, n, text, sizeof text),
                (double)m);
    report_line("e^(x - m)     = %s       l = %.4g", report_row("%.4g", e, n, text, sizeof text),
                (double)l);
    report_line("e^(x - m) / l = %s", report_row("%.4f", y, n, text, sizeof text));
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

void show_input(const struct scores *scores)
{
    float least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < scores->rows; i++) {
        const float *x = scores->x + i * scores->cols;
        float m = -INFINITY, l = 0.0f;
        for (size_t j = 0; j < scores->cols; j++)
            m = fmaxf(m, x[j]);
        for (size_t j = 0; j < scores->cols; j++)
            l += expf(x[j] - m);
        if (isnan(l))
            continue;  // a row of -inf, or with NaN or +inf
        least = fminf(least, l);
        most = fmaxf(most, l);
    }
    report_part("Input");
    report_line("%s", scores->origin);
    if (least <= most)
        report_line("the row sums l lie between %.4g and %.4g", (double)least, (double)most);
}

/* Chapters 01 and 02 on factor * scores + shift: finite rows, and errors. */
static void compare_changed(const struct scores *scores, const char *what, float factor,
                            float shift)
{
    struct scores changed = scores_changed(scores, factor, shift);
    const size_t rows = scores->rows;
    size_t first;
    bool right;
    scores_each_row(&changed, standard_softmax);
    const size_t standard = rows - scores_not_finite(&changed, &first);
    scores_each_row(&changed, safe_softmax);
    const size_t safe = rows - scores_not_finite(&changed, &first);
    report_line("%-12s%12zu of %zu%12zu of %zu%19.2e", what, standard, rows, safe, rows,
                scores_error(&changed, &right));
    if (!right)
        report_wrong("%s, that is not softmax", what);
    scores_free(&changed);
}

void show_repair(const struct scores *scores)
{
    report_part("Repaired");
    report_line("real scores     01 is finite     02 is finite   02 off by at most");
    compare_changed(scores, "as they are", 1.0f, 0.0f);
    compare_changed(scores, "times 9.26", 9.26f, 0.0f);
    compare_changed(scores, "times 100", 100.0f, 0.0f);
    compare_changed(scores, "minus 200", 1.0f, -200.0f);
}
