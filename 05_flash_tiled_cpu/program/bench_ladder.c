/*
 * The whole ladder, timed.
 */
#include "05_flash_tiled_cpu/program/bench_round.h"
#include "05_flash_tiled_cpu/program/costs.h"
#include "05_flash_tiled_cpu/program/ladder.h"

#include <stdio.h>

/* Is the step timed here? S and P in memory, fa2, and what makes fa2 faster, none of which is counted. */
static bool is_on_the_ladder(const struct step *step)
{
    return step == &steps[STANDARD] || step == &steps[FA2] || step == &steps[COMPLETE] ||
           !step->formula;
}

enum {
    CASES = 4,
    PARTS = CASES + 3  // of the measurement
};

/*
 * The steps on one problem, in about so many seconds; a mark is 0 where one cannot. Returns the peak of one core, in operations
 * per second.
 */
static double time_ladder(struct attention p, double seconds, const struct options *o,
                          struct mark marks[STEPS], char *csv)
{
    struct attention_input input = attention_input_random(p, 1);
    struct bench_round timed;
    size_t where[STEPS];
    round_begin(&timed, &p);
    for (size_t k = 0; k < STEPS; k++) {
        marks[k] = (struct mark){ 0 };
        if (is_on_the_ladder(&steps[k]) && !step_unsupported(&steps[k], &p)) {
            where[timed.count] = k;
            round_enter(&timed, &steps[k], &input, o);
        }
    }
    round_run(&timed, seconds);

    const double peak = round_peak(&timed);
    for (size_t n = 0; n < timed.count; n++) {
        const struct runner *runner = &timed.runners[n];
        char line[SPEED_CSV_LINE], ratio[24] = "";
        if (n > 0)
            snprintf(ratio, sizeof ratio, "%.3f", runner[-1].bench->best / runner->bench->best);
        marks[where[n]] = round_mark(&timed, n);
        speed_csv_line(line, runner, round_threads(runner->job.step), marks[where[n]].flops, peak,
                       ratio);
        report_append(csv, line);
    }
    round_end(&timed);
    attention_input_free(&input);
    return peak;
}

static void print_ladder(struct mark marks[CASES][STEPS], size_t N)
{
    report_part("Ladder");
    report_line("one head, N = %zu; GFLOP/s, and of the peak of so many cores", N);
    report_line(" # %-12s%7s %16s %16s %16s %16s", "step", "threads", "d 64", "causal", "d 128",
                "causal");
    bool disturbed = false;
    for (size_t k = 0; k < STEPS; k++) {
        const struct step *step = &steps[k];
        if (!is_on_the_ladder(step))
            continue;
        char name[32], cell[CASES][24];
        step_label(&table, step, name);
        for (size_t n = 0; n < CASES; n++) {
            disturbed |= marks[n][k].of_peak > 1.0;
            if (marks[n][k].flops > 0.0)
                snprintf(cell[n], sizeof cell[n], "%.1f %5.1f %%", 1e-9 * marks[n][k].flops,
                         100.0 * marks[n][k].of_peak);
            else
                snprintf(cell[n], sizeof cell[n], "-");
        }
        report_line("%s%7zu %16s %16s %16s %16s", name, round_threads(step), cell[0], cell[1],
                    cell[2], cell[3]);
    }
    if (disturbed)
        report_line(
            "More than the peak: other work kept this machine from reaching it. Measure again.");
}

void bench_ladder(size_t N, double seconds, const struct options *o)
{
    struct mark marks[CASES][STEPS];
    char csv[REPORT_CSV] = REPORT_SPEED_CSV("threads");
    double peak = 0.0;
    for (size_t n = 0; n < CASES; n++) {
        struct attention p = attention_of(1, 1, 1, N, N, n < 2 ? 64 : 128);
        p.causal = n % 2;
        bench_progress(n, PARTS);
        peak = time_ladder(p, seconds, o, marks[n], csv);
    }
    print_ladder(marks, N);
    bench_progress(CASES, PARTS);
    bench_options(N, 0.4 * seconds, o);
    bench_progress(CASES + 1, PARTS);
    bench_shapes(N, seconds, o);
    bench_progress(CASES + 2, PARTS);
    bench_pieces(0.2 * seconds);
    bench_progress(0, 1);
    report_line("%s; one core: %.1f GFLOP/s of FMA, %.1f GB/s copied", bench_machine(), 1e-9 * peak,
                1e-9 * bench_copy_bandwidth());
    if (o->csv)
        report_csv(o->csv, csv);
}
