#include "03_online_softmax/online_softmax.h"
#include "03_online_softmax/program.h"
#include "03_online_softmax/softmax_state.h"
#include "common/program/report.h"

#include <math.h>
#include <stdio.h>

/* e^{x - m} as text with proper signs: "e^(2 - 3)". */
static const char *power(float x, float m, char text[40])
{
    snprintf(text, 40, "e^(%.4g %c %.4g)", (double)x, m < 0.0f ? '+' : '-', fabs((double)m));
    return text;
}

static void show_recurrence(const float *x, size_t n)
{
    struct softmax_state old = SOFTMAX_EMPTY;
    report_line("   j      x_j        m        l");
    for (size_t j = 0; j < n; j++) {
        const struct softmax_state state = online_statistics(x, j + 1);
        char factor[40], term[40];
        report_line("%4zu %8.4g %8.4g %8.4g      l = %.4g %s + %s", j + 1, (double)x[j],
                    (double)state.m, (double)state.l, (double)old.l, power(old.m, state.m, factor),
                    power(x[j], state.m, term));
        old = state;
    }
}

void show_row(const float *x, size_t n)
{
    float y[SCORES_TRACE];
    char text[16 * SCORES_TRACE];
    online_softmax(x, y, n);
    report_line("x = %s", report_row("%.4g", x, n, text, sizeof text));
    show_recurrence(x, n);
    report_line("y = %s", report_row("%.4f", y, n, text, sizeof text));
}

static void merge_blocks(void)
{
    static const float x[6] = { 1, 3, 2, 4, 3, 2 };
    const struct softmax_state row = online_statistics(x, 6);
    struct softmax_state so_far = SOFTMAX_EMPTY;
    report_line("block           m        l      m so far  l so far     share");
    for (size_t j = 0; j < 6; j += 2) {
        const struct softmax_state block = online_statistics(x + j, 2);
        so_far = softmax_merge(so_far, block);
        report_line("[%g %g]   %8g %8.4f      %8g  %8.4f  %8.4f", (double)x[j], (double)x[j + 1],
                    (double)block.m, (double)block.l, (double)so_far.m, (double)so_far.l,
                    (double)softmax_share(block, row));
    }
    report_line("whole row%5g %8.4f", (double)row.m, (double)row.l);
    if (!(fabsf(so_far.l - row.l) <= 1e-6f * row.l) || so_far.m != row.m)
        report_wrong("the blocks give (%g, %g), the whole row (%g, %g)", (double)so_far.m,
                     (double)so_far.l, (double)row.m, (double)row.l);
}

static struct softmax_state state_of_merged_blocks(const float *x, size_t n, size_t block)
{
    struct softmax_state merged = SOFTMAX_EMPTY;
    for (size_t j = 0; j < n; j += block)
        merged = softmax_merge(merged, online_statistics(x + j, j + block < n ? block : n - j));
    return merged;
}

void show_examples(void)
{
    report_part("By hand");
    show_row((const float[]){ 1, 3, 2 }, 3);
    report_part("Merging blocks");
    merge_blocks();
}

static void check_merging(const struct scores *scores)
{
    enum { BLOCK = 10 };
    double difference = 0.0;
    size_t merged_rows = 0;
    for (size_t i = 0; i < scores->rows; i++) {
        const float *x = scores->x + i * scores->cols;
        const struct softmax_state row = online_statistics(x, scores->cols);
        const struct softmax_state merged = state_of_merged_blocks(x, scores->cols, BLOCK);
        if (isnan(row.l) && isnan(merged.l))
            continue;
        const double error = fabs((double)merged.l - (double)row.l) / fmax(1.0, (double)row.l);
        difference = fmax(difference, error);
        merged_rows++;
        if (!(merged.m == row.m && error <= 1e-4)) {
            report_wrong("row %zu: its blocks merged give m %g, l %g; the whole row m %g, l %g", i,
                         (double)merged.m, (double)merged.l, (double)row.m, (double)row.l);
            return;
        }
    }
    if (merged_rows)
        report_line("merging blocks of %d gives the same m, and l to within %.1e", BLOCK,
                    difference);
}

void show_input(const struct scores *scores)
{
    size_t rises = 0;
    for (size_t i = 0; i < scores->rows; i++) {
        float m = -INFINITY;
        for (size_t j = 0; j < scores->cols; j++) {
            const float x_j = scores->x[i * scores->cols + j];
            rises += j > 0 && x_j > m;
            m = fmaxf(m, x_j);
        }
    }
    report_part("Input");
    report_line("%s", scores->origin);
    report_line("on average, the maximum rises %.1f times after the first; %.1f %% of factors "
                "are 1",
                (double)rises / (double)scores->rows,
                100.0 - 100.0 * (double)rises / (double)(scores->rows * (scores->cols - 1)));
    check_merging(scores);
}
