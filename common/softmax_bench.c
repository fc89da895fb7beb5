#include "bench.h"
#include "memory.h"
#include "report.h"
#include "softmax_chapter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 4, CSV_ROOM = 2000 };

struct job {
    const struct scores *scores;
    softmax_row *softmax;
    float *y;
};

static void run(void *arg)
{
    const struct job *job = arg;
    const size_t n = job->scores->cols;
    for (size_t i = 0; i < job->scores->rows; i++)
        job->softmax(job->scores->x + i * n, job->y + i * n, n);
}

double softmax_milliseconds(const struct softmax_chapter *chapter, const struct scores *scores,
                            float *y)
{
    struct job job = { scores, chapter->softmax, y };
    struct bench all_rows = { .name = chapter->number, .work = run, .arg = &job };
    bench_run(&all_rows, 1, 0.05);
    return 1e3 * all_rows.best;
}

/* One row of n scores: prints a line, and adds one to `csv`. */
static void bench_row(const struct softmax_chapter *chapter, const char *fits, size_t n, char *csv)
{
    struct scores scores = scores_random(1, n, 1);
    float *y = allocate(n, sizeof *y, "y");
    struct job jobs[2] = { { &scores, chapter->softmax, y }, { &scores, chapter->previous, y } };
    struct bench candidates[2] = {
        { .name = chapter->number, .work = run, .arg = &jobs[0] },
        { .name = chapter->previous_name, .work = run, .arg = &jobs[1] },
    };
    bench_run(candidates, chapter->previous ? 2 : 1, 1.0);

    char number[32], faster[32] = "-";
    const double ns = 1e9 * candidates[0].best / (double)n;
    const double gigabytes = (double)((chapter->loads + 1) * sizeof(float)) / ns;
    if (chapter->previous)
        snprintf(faster, sizeof faster, "%.2f", candidates[1].best / candidates[0].best);
    report_line("%-10s %12s %16.2f %12.2f %20s", fits, report_number(n, number), ns, gigabytes,
                faster);
    const size_t used = strlen(csv);
    snprintf(csv + used, CSV_ROOM - used, "%s,%s,%zu,%.4f,%.3f,%s\n", chapter->number, fits, n, ns,
             gigabytes, faster);
    free(y);
    scores_free(&scores);
}

void softmax_bench(const struct softmax_chapter *chapter, const char *csv)
{
    static const char *const fits[LEVELS] = { "L1", "L2", "L3", "no cache" };
    char text[CSV_ROOM] = "chapter,fits,n,nanoseconds,gigabytes_per_second,times_previous\n";
    report_part("Speed");
    char ratio[32] = "";
    if (chapter->previous)
        snprintf(ratio, sizeof ratio, "time %.2s / time %s", chapter->previous_name,
                 chapter->number);
    report_line("%-10s %12s %16s %12s %20s", "a row fits", "N", "ns an element", "GB/s", ratio);
    for (int level = 1; level <= LEVELS; level++) {
        const size_t bytes =
            level < LEVELS ? bench_cache_bytes(level) / 2 : 4 * bench_cache_bytes(3);
        bench_row(chapter, fits[level - 1], bytes / (2 * sizeof(float)), text);  // x and y
    }
    report_line("one core of %s", bench_machine());
    report_line("copies memory at %.1f GB/s and does at most %.0f GFLOP/s in float32",
                1e-9 * bench_copy_bandwidth(), 1e-9 * bench_fma_peak());
    if (csv)
        report_csv(csv, text);
}
