/*
 * Chapter 03 as a program: online softmax, counted, verified and timed, also against chapter 02.
 */
#include "02_safe_softmax/safe_softmax.h"
#include "03_online_softmax/online_softmax.h"
#include "03_online_softmax/program.h"
#include "common/measure/watch.h"
#include "common/program/report.h"

DECLARE_WATCHED(online_softmax);

enum { LOADS = 2 };  // of every score

static const struct program program = {
    .chapter = 3,
    .name = "03_online_softmax",
    .summary = "softmax in two passes: maximum and sum together, then the division",
    .example = "--rows 2 --cols 5 --trace",
};

int main(int argc, char **argv)
{
    const struct options o = options_parse(&program, argc, argv);
    const bool screen = argc == 1;  // no arguments: what the page shows
    struct scores scores = scores_load(&o);
    struct summary summary = { .accesses = "3 N / row", .previous = "02 safe softmax" };

    report_start("03", "Online softmax", "one pass for both statistics, one to normalise", o.quiet);
    if (o.trace)
        scores_trace(&scores, show_row);
    if (screen)
        show_examples();
    show_input(&scores);

    summary.counted = scores_count(&scores, WATCHED(online_softmax), LOADS, "     02: 4 N");
    scores_each_row(&scores, online_softmax);
    scores_check(&scores, safe_softmax, &summary);

    scores_write(&o, &scores);
    if (o.bench)
        scores_bench(program.chapter, LOADS,
                     (softmax_row *const[SCORES_BENCH]){ online_softmax, online_softmax_lanes,
                                                         safe_softmax, safe_softmax_lanes },
                     o.csv);
    else if (o.csv)
        scores_csv(o.csv, &scores, online_softmax, summary);
    if (screen)
        report_next("04_flash_no_tiling: the same recurrence carries a whole row of output");
    scores_free(&scores);
    return report_finish();
}
