/*
 * From fa2 to complete in four ideas, timed: what the page fast.md is about.
 */
#include "05_flash_tiled_cpu/program/bench_round.h"

#include "common/cpu/threads.h"
#include "common/measure/bench.h"

#include <stdio.h>

/* A step, and the idea that it has and the one above it in the table has not. */
static const struct {
    enum step_name step;
    const char *idea;
} table_rows[] = {
    { FA2, "" },
    { LOOPS, "queries side by side" },
    { POLYNOMIAL, "2^x by a polynomial" },
    { BLOCK, "sums in registers" },
    { COMPLETE, "threads, and every option" },
};
enum { ROWS = sizeof table_rows / sizeof table_rows[0] };

void bench_fast(size_t N, double seconds, const struct options *o)
{
    struct attention_input input = attention_input_random(attention_of(1, 1, 1, N, N, 64), 1);
    struct bench_round timed;
    char time[24], gain[24] = "";
    round_begin(&timed, &input.p);
    for (size_t k = 0; k < ROWS; k++)
        round_enter(&timed, &steps[table_rows[k].step], &input, o);
    round_run(&timed, seconds);
    report_part("Fast");
    report_line("one head, N = %zu, d = 64; fa2 and these on one core, complete on %zu", N,
                threads_in_use());
    for (size_t k = 0; k < ROWS; k++) {
        const double now = timed.runners[k].bench->best;
        if (k > 0)
            snprintf(gain, sizeof gain,
                     "%.1f times as fast:", timed.runners[k - 1].bench->best / now);
        report_line("%-11s%10s %22s  %s", steps[table_rows[k].step].name,
                    report_milliseconds(now, time), gain, table_rows[k].idea);
    }
    report_line("%.0f times as fast in all; %s",
                timed.runners[0].bench->best / timed.runners[ROWS - 1].bench->best,
                bench_machine());
    round_end(&timed);
    attention_input_free(&input);
}
