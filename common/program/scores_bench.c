#include "common/measure/bench.h"
#include "common/measure/traffic.h"
#include "common/program/report.h"
#include "common/program/scores.h"

#include <stdio.h>
#include <string.h>

enum { LEVELS = 4, CSV_ROOM = 2000 };

struct job {
    const struct scores *scores;
    softmax_row *softmax;
};

static void run(void *arg)
{
    const struct job *job = arg;
    const size_t n = job->scores->cols;
    for (size_t i = 0; i < job->scores->rows; i++)
        job->softmax(job->scores->x + i * n, job->scores->y + i * n, n);
}

void scores_csv(const char *path, const struct scores *scores, softmax_row *softmax,
                struct summary summary)
{
    struct job job = { scores, softmax };
    struct bench all_rows = { .name = "all rows", .work = run, .arg = &job };
    summary.extra_bytes = extra_slow_peak() + extra_fast_peak();
    bench_run(&all_rows, 1, 0.05);
    summary.milliseconds = 1e3 * all_rows.best;
    report_summary(path, &summary);
}

/* One row of n scores: prints a line, and adds one to `csv`. */
static void bench_row(int chapter, size_t loads, softmax_row *const of[SCORES_BENCH],
                      const char *fits, size_t n, char *csv)
{
    enum { PLAIN, LANES, PREVIOUS };
    struct scores scores = scores_random(1, n, 1);
    struct job jobs[SCORES_BENCH];
    struct bench candidates[SCORES_BENCH];
    for (size_t k = 0; k < SCORES_BENCH; k++) {
        jobs[k] = (struct job){ &scores, of[k] };
        candidates[k] = (struct bench){ .name = "softmax", .work = run, .arg = &jobs[k] };
    }
    bench_run(candidates, of[PREVIOUS] ? SCORES_BENCH : PREVIOUS, 1.0);

    char number[32], ratio[2][16] = { "", "" }, times[2][16] = { "", "" };
    double ns[2], gigabytes[2];
    for (size_t k = PLAIN; k <= LANES; k++) {
        ns[k] = 1e9 * candidates[k].best / (double)n;
        gigabytes[k] = (double)((loads + 1) * sizeof(float)) / ns[k];
        if (!of[PREVIOUS])
            continue;
        const double previous = candidates[k + PREVIOUS].best;
        snprintf(ratio[k], sizeof ratio[k], "%.2f", previous / candidates[k].best);
        snprintf(times[k], sizeof times[k], "%.2f", candidates[k].best / previous);
    }
    report_line("%-9s %10s  %9.2f %7.1f %7s   %12.3f %7.1f %7s", fits, report_number(n, number),
                ns[PLAIN], gigabytes[PLAIN], times[PLAIN], ns[LANES], gigabytes[LANES],
                times[LANES]);
    const size_t used = strlen(csv);
    snprintf(csv + used, CSV_ROOM - used, "%02d,%s,%zu,%.4f,%.3f,%s,%.4f,%.3f,%s\n", chapter, fits,
             n, ns[PLAIN], gigabytes[PLAIN], ratio[PLAIN], ns[LANES], gigabytes[LANES],
             ratio[LANES]);
    scores_free(&scores);
}

void scores_bench(int chapter, size_t loads, softmax_row *const of[SCORES_BENCH], const char *csv)
{
    static const char *const fits[LEVELS] = { "L1", "L2", "L3", "no cache" };
    char text[CSV_ROOM] = "chapter,fits,n,nanoseconds,gigabytes_per_second,previous_over_this,"
                          "lanes_nanoseconds,lanes_gigabytes_per_second,lanes_previous_over_this\n";
    char ratio[32] = "";
    if (chapter > 1)
        snprintf(ratio, sizeof ratio, "%02d/%02d", chapter, chapter - 1);
    report_part("Speed");
    report_line("%-20s  %25s   %28s", "", "as in the lesson, expf", "16 at a time, polynomial exp");
    report_line("%-9s %10s  %9s %7s %7s   %12s %7s %7s", "row fits", "N", "ns each", "GB/s", ratio,
                "ns each", "GB/s", ratio);
    for (int level = 1; level <= LEVELS; level++) {
        const size_t bytes =
            level < LEVELS ? bench_cache_bytes(level) / 2 : 4 * bench_cache_bytes(3);
        bench_row(chapter, loads, of, fits[level - 1], bytes / (2 * sizeof(float)),
                  text);  // x and y
    }
    report_line("one core of %s", bench_machine());
    report_line("copies memory at %.1f GB/s and does at most %.0f GFLOP/s in float32",
                1e-9 * bench_copy_bandwidth(), 1e-9 * bench_fma_peak());
    if (csv)
        report_csv(csv, text);
}
