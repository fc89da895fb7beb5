/*
 * Chapter 02 as a program: what subtracting the maximum does, by hand and on the real scores.
 */
#include "01_standard_softmax/standard_softmax.h"
#include "02_safe_softmax/safe_softmax.h"
#include "common/check/reference.h"
#include "common/cpu/memory.h"
#include "common/measure/watch.h"
#include "common/program/report.h"
#include "common/program/softmax_chapter.h"

#include <math.h>
#include <stdlib.h>

static void show_row(const float *x, size_t n)
{
    float e[SOFTMAX_TRACE_LIMIT], y[SOFTMAX_TRACE_LIMIT], m = -INFINITY, l = 0.0f;
    char text[16 * SOFTMAX_TRACE_LIMIT];
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

static void by_hand(void)
{
    report_part("By hand");
    show_row((const float[]){ 1, 2, 3, 4 }, 4);
    report_part("Overflow");
    show_row((const float[]){ 1, 2, 300 }, 3);
    report_part("Underflow");
    show_row((const float[]){ -200, -201, -202 }, 3);
}

/* The range of the row sums: from 1 to N for all scores. */
static void describe(const struct scores *scores)
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
    if (least <= most)
        report_line("the row sums l lie between %.4g and %.4g", (double)least, (double)most);
}

struct rows {
    float *x, *safe, *standard;
    struct exact *right;
};

/* Compares chapters 01 and 02 on factor * scores + shift: finite rows, and errors. */
static void compare_changed(const struct scores *scores, const char *what, float factor,
                            float shift)
{
    const size_t n = scores->cols;
    struct rows r = {
        .x = allocate(n, sizeof(float), "a row"),
        .safe = allocate(n, sizeof(float), "a row"),
        .standard = allocate(n, sizeof(float), "a row"),
        .right = allocate(n, sizeof(struct exact), "a row"),
    };
    size_t standard_rows = 0, safe_rows = 0;
    bool right = true;
    double largest = 0.0;
    for (size_t i = 0; i < scores->rows; i++) {
        bool standard_finite = true;
        for (size_t j = 0; j < n; j++)
            r.x[j] = factor * scores->x[i * n + j] + shift;
        safe_softmax(r.x, r.safe, n);
        standard_softmax(r.x, r.standard, n);
        rounding_softmax(r.x, r.right, 1, n);
        for (size_t j = 0; j < n; j++)
            standard_finite = standard_finite && isfinite(r.standard[j]);
        const struct difference d = difference_between(r.safe, r.right, 1, n);
        standard_rows += standard_finite ? 1 : 0;
        safe_rows += d.mismatched ? 0 : 1;
        right = right && is_explained(d);
        largest = fmax(largest, d.max_abs);
    }
    report_line("%-12s%12zu of %zu%12zu of %zu%19.2e", what, standard_rows, scores->rows, safe_rows,
                scores->rows, largest);
    if (!right)
        report_wrong("%s, that is not softmax", what);
    free(r.x);
    free(r.safe);
    free(r.standard);
    free(r.right);
}

static void mend_the_scores(const struct scores *scores)
{
    report_part("Repaired");
    report_line("real scores     01 is finite     02 is finite   02 off by at most");
    compare_changed(scores, "as they are", 1.0f, 0.0f);
    compare_changed(scores, "times 9.26", 9.26f, 0.0f);
    compare_changed(scores, "times 100", 100.0f, 0.0f);
    compare_changed(scores, "minus 200", 1.0f, -200.0f);
}

DECLARE_WATCHED(safe_softmax);

int main(int argc, char **argv)
{
    static const struct softmax_chapter chapter = {
        .program = {
            .chapter = 2,
            .name = "02_safe_softmax",
            .summary = "softmax with the maximum subtracted: safe, and one pass more",
            .example = "--rows 2 --cols 5 --trace",
        },
        .number = "02",
        .title = "Safe softmax",
        .idea = "subtract the maximum: safe, and one pass more",
        .softmax = safe_softmax,
        .watched = WATCHED(safe_softmax),
        .lanes = safe_softmax_lanes,
        .loads = 3,
        .formula = "3 N",
        .formula_all = "4 N",
        .formula_note = "     01: 3 N",
        .previous_name = "01 standard softmax",
        .previous_lanes = standard_softmax_lanes,
        .previous = standard_softmax,
        .by_hand = by_hand,
        .show_row = show_row,
        .describe = describe,
        .shown_on_scores = mend_the_scores,
        .next = "03_online_softmax: maximum and sum in the same pass",
    };
    return softmax_chapter_main(&chapter, argc, argv);
}
