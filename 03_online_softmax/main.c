/*
 * Chapter 03 as a program: the recurrence by hand, blocks merged, the real scores, the count.
 */
#include "memory.h"
#include "online_softmax.h"
#include "options.h"
#include "report.h"
#include "scores.h"
#include "softmax_state.h"
#include "traffic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct program program = {
    .chapter = 3,
    .name = "03_online_softmax",
    .summary = "softmax in two passes: maximum and sum together, then the division",
    .example = "--rows 2 --cols 5 --trace",
};

enum { TRACE_LIMIT = 64 };

/* "e^(2 - 3)" for e^{x - m}, with the signs as one would write them. */
static const char *power(float x, float m, char text[40])
{
    snprintf(text, 40, "e^(%.4g %c %.4g)", (double)x, m < 0.0f ? '+' : '-', fabs((double)m));
    return text;
}

/* m and l after every element of a row, and the line of the recurrence that made them. */
static void show_recurrence(const float *x, size_t n)
{
    struct softmax_state old = SOFTMAX_EMPTY;
    report_line("   j      x_j        m        l");
    for (size_t j = 0; j < n; j++) {
        const struct softmax_state state = softmax_state_of(x, j + 1);
        char factor[40], term[40];
        report_line("%4zu %8.4g %8.4g %8.4g      l = %.4g %s + %s", j + 1, (double)x[j],
                    (double)state.m, (double)state.l, (double)old.l, power(old.m, state.m, factor),
                    power(x[j], state.m, term));
        old = state;
    }
}

static void show_row(const float *x, size_t n)
{
    float y[TRACE_LIMIT];
    char text[16 * TRACE_LIMIT];
    online_softmax(x, y, n);
    report_line("x = %s", report_row("%.4g", x, n, text, sizeof text));
    show_recurrence(x, n);
    report_line("y = %s", report_row("%.4f", y, n, text, sizeof text));
}

static void by_hand(void)
{
    report_part("By hand");
    show_row((const float[]){ 1, 3, 2 }, 3);
}

static void trace(const struct scores *scores)
{
    if (scores->rows * scores->cols > TRACE_LIMIT)
        options_fail("--trace", "expected an input of at most %d numbers, found %zu", TRACE_LIMIT,
                     scores->rows * scores->cols);
    for (size_t i = 0; i < scores->rows; i++) {
        report_part(i ? "" : "Trace");
        show_row(scores->x + i * scores->cols, scores->cols);
    }
}

/* Three blocks of one row: the state of each, and of all so far. */
static void merge_by_hand(void)
{
    static const float blocks[3][2] = { { 1, 3 }, { 2, 4 }, { 3, 2 } };
    struct softmax_state so_far = SOFTMAX_EMPTY;
    report_part("Merging blocks");
    report_line("block           m        l      m so far  l so far");
    for (size_t k = 0; k < 3; k++) {
        const struct softmax_state block = softmax_state_of(blocks[k], 2);
        so_far = softmax_merge(so_far, block);
        report_line("[%g %g]   %8g %8.4f      %8g  %8.4f", (double)blocks[k][0],
                    (double)blocks[k][1], (double)block.m, (double)block.l, (double)so_far.m,
                    (double)so_far.l);
    }
}

/* Two blocks with values: an average over the row is the blocks' averages, each times its share. */
static void merge_values_by_hand(void)
{
    static const float s[4] = { 0.1f, 0.3f, 0.5f, 0.7f }, v[4] = { 7, 8, 9, 10 };
    const struct softmax_state row = softmax_state_of(s, 4);
    float merged = 0.0f;
    report_part("");
    report_line("the average of v = [7 8 | 9 10], weighted by softmax of s = [0.1 0.3 | 0.5 0.7]");
    report_line("block           m        l     share   average of v");
    for (size_t k = 0; k < 4; k += 2) {
        const struct softmax_state block = softmax_state_of(s + k, 2);
        const float share = softmax_share(block, row);
        float p[2];
        online_softmax(s + k, p, 2);
        const float average = p[0] * v[k] + p[1] * v[k + 1];
        merged += share * average;
        report_line("[%g %g] %8g %8.4f  %8.4f       %8.4f", (double)s[k], (double)s[k + 1],
                    (double)block.m, (double)block.l, (double)share, (double)average);
    }
    report_line("row       %8g %8.4f  %8.4f       %8.4f", (double)row.m, (double)row.l, 1.0,
                (double)merged);
}

/* Where the scores come from, and how often the recurrence has to rescale. */
static void describe(const struct scores *scores)
{
    size_t moves = 0;
    for (size_t i = 0; i < scores->rows; i++) {
        float m = -INFINITY;
        for (size_t j = 0; j < scores->cols; j++) {
            const float x_j = scores->x[i * scores->cols + j];
            moves += x_j > m;
            m = fmaxf(m, x_j);
        }
    }
    report_part("Input");
    report_line("%s", scores->origin);
    report_line("the maximum moves %.1f times a row; in %.1f %% of the steps l is multiplied by 1",
                (double)moves / (double)scores->rows,
                100.0 - 100.0 * (double)moves / (double)(scores->rows * scores->cols));
}

static size_t count(const struct scores *scores, float *y)
{
    const size_t elements = scores->rows * scores->cols;
    traffic_reset();
    traffic_watch("x", scores->x, elements);
    traffic_watch("y", y, elements);
    scores_each_row(scores, online_softmax_counted, y);
    const struct traffic x = traffic_of("x"), of_y = traffic_of("y"), all = traffic_total();
    const struct counted lines[] = {
        { "x loads", x.loads, 2 * elements, "2 N", "" },
        { "y stores", of_y.stores, elements, "N", "" },
        { "all", all.loads + all.stores, 3 * elements, "3 N", "     02 safe softmax: 4 N" },
    };
    report_counted(lines, 3, "row of N", elements);
    return all.loads + all.stores;
}

int main(int argc, char **argv)
{
    const struct options options = options_parse(&program, argc, argv);
    struct scores scores = scores_load(&options);
    float *y = allocate(scores.rows * scores.cols, sizeof *y, "y");
    const bool own_input = options.input || options.rows || options.cols || options.seed_given;
    const bool story = !own_input && !options.trace && !options.traffic && !options.bench;

    report_start("03", "Online softmax", "one pass for both statistics, one to normalise",
                 options.quiet);
    if (options.trace)
        trace(&scores);
    if (story) {
        by_hand();
        merge_by_hand();
        merge_values_by_hand();
    }
    describe(&scores);
    const size_t accesses = count(&scores, y);
    scores_each_row(&scores, online_softmax, y);
    const struct compared compared = scores_compare(&scores, y, NULL, NULL);
    if (options.bench)
        scores_bench(online_softmax, 3, options.csv);
    else if (options.csv)
        scores_summary(&scores, online_softmax, options.csv,
                       (struct summary){ .accesses = "3 N a row", .counted = accesses }, compared);
    scores_write(&options, &scores, y);
    if (story)
        report_next("04_flash_no_tiling: the same recurrence carries a whole row of output");

    free(y);
    scores_free(&scores);
    return report_finish();
}
