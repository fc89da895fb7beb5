/*
 * Chapter 02 as a program: safe softmax, counted, verified and timed, also against chapter 01.
 */
#include "01_standard_softmax/standard_softmax.h"
#include "02_safe_softmax/program.h"
#include "02_safe_softmax/safe_softmax.h"
#include "common/measure/watch.h"
#include "common/program/report.h"

DECLARE_WATCHED(safe_softmax);

enum { LOADS = 3 };  // of every score

static const struct program program = {
    .chapter = 2,
    .name = "02_safe_softmax",
    .summary = "softmax with the maximum subtracted: safe, and one pass more",
    .example = "--rows 2 --cols 5 --trace",
};

int main(int argc, char **argv)
{
    const struct options o = options_parse(&program, argc, argv);
    const bool screen = argc == 1;  // no arguments: what the page shows
    struct scores scores = scores_load(&o);
    struct summary summary = { .accesses = "4 N / row", .previous = "01 standard softmax" };

    report_start("02", "Safe softmax", "subtract the maximum: safe, and one pass more", o.quiet);
    if (o.trace)
        scores_trace(&scores, show_row);
    if (screen)
        show_examples();
    show_input(&scores);
    if (screen)
        show_repair(&scores);

    summary.counted = scores_count(&scores, WATCHED(safe_softmax), LOADS, "     01: 3 N");
    scores_each_row(&scores, safe_softmax);
    scores_check(&scores, standard_softmax, &summary);

    scores_write(&o, &scores);
    if (o.bench)
        scores_bench(program.chapter, LOADS,
                     (softmax_row *const[SCORES_BENCH]){ safe_softmax, safe_softmax_lanes,
                                                         standard_softmax, standard_softmax_lanes },
                     o.csv);
    else if (o.csv)
        scores_csv(o.csv, &scores, safe_softmax, summary);
    if (screen)
        report_next("03_online_softmax: maximum and sum in the same pass");
    scores_free(&scores);
    return report_finish();
}
