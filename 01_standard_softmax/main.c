/*
 * Chapter 01 as a program: softmax by its formula, counted, verified and timed.
 */
#include "01_standard_softmax/program.h"
#include "01_standard_softmax/standard_softmax.h"
#include "common/measure/watch.h"
#include "common/program/report.h"

DECLARE_WATCHED(standard_softmax);

enum { LOADS = 2 };  // of every score

static const struct program program = {
    .chapter = 1,
    .name = "01_standard_softmax",
    .summary = "softmax as its formula says, and where float32 breaks it",
    .example = "--rows 2 --cols 5 --trace",
};

int main(int argc, char **argv)
{
    const struct options o = options_parse(&program, argc, argv);
    const bool screen = argc == 1;  // no arguments: what the page shows
    struct scores scores = scores_load(&o);
    struct summary summary = { .accesses = "3 N / row" };

    report_start("01", "Standard softmax", "the formula: one pass for the sum, one to normalise",
                 o.quiet);
    if (o.trace)
        scores_trace(&scores, show_row);
    if (screen)
        show_examples();
    show_input(&scores);
    if (screen)
        show_breaking(&scores);

    summary.counted = scores_count(&scores, WATCHED(standard_softmax), LOADS, "");
    scores_each_row(&scores, standard_softmax);
    scores_check(&scores, NULL, &summary);

    scores_write(&o, &scores);
    if (o.bench)
        scores_bench(program.chapter, LOADS,
                     (softmax_row *const[SCORES_BENCH]){ standard_softmax, standard_softmax_lanes },
                     o.csv);
    else if (o.csv)
        scores_csv(o.csv, &scores, standard_softmax, summary);
    if (screen)
        report_next("02_safe_softmax: subtract the maximum, and nothing overflows");
    scores_free(&scores);
    return report_finish();
}
