#include "bench.h"
#include "memory.h"
#include "plain.h"
#include "scores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
    struct scores scores;
    softmax_row *softmax;
    float *y;
};

static void run(void *arg)
{
    const struct job *job = arg;
    for (size_t i = 0; i < job->scores.rows; i++)
        job->softmax(job->scores.x + i * job->scores.cols, job->y, job->scores.cols);
}

static void textbook(const float *x, float *y, size_t n)
{
    plain_softmax(x, y, 1, n);
}

/* One row length: prints a line, and adds two lines to `csv`. */
static void bench_row(const char *fits, size_t n, softmax_row *softmax, int accesses, char *csv,
                      size_t size)
{
    struct job job = { scores_random(1, n, 1), softmax, allocate(n, sizeof(float), "y") };
    struct job textbook_job = { job.scores, textbook, job.y };
    struct bench candidates[] = {
        { .name = "textbook", .work = run, .arg = &textbook_job },
        { .name = "this", .work = run, .arg = &job },
    };
    bench_run(candidates, 2, 1.0);

    const double textbook_ns = 1e9 * candidates[0].best / (double)n;
    const double ns = 1e9 * candidates[1].best / (double)n;
    const double gigabytes = accesses * (double)sizeof(float) / ns;  // bytes in a nanosecond
    char number[32];
    report_line("%-8s %12s %17.2f %17.2f %17.2f %14.2f", fits, report_number(n, number), ns,
                textbook_ns, gigabytes, textbook_ns / ns);
    const size_t used = strlen(csv);
    snprintf(csv + used, size - used, "%s,%zu,%.4f,%.4f,%.3f\n", fits, n, ns, textbook_ns,
             gigabytes);
    free(job.y);
    scores_free(&job.scores);
}

void scores_bench(softmax_row *softmax, int accesses, const char *csv)
{
    static const char *const fits[] = { "L1", "L2", "L3", "memory" };
    char text[1000] = "fits,n,nanoseconds,textbook_nanoseconds,gigabytes_per_second\n";
    report_part("Speed");
    report_line("%-8s %12s %17s %17s %17s %14s", "row fits", "N", "ns an element", "textbook: ns",
                "GB/s (count)", "textbook/this");
    for (int level = 1; level <= 4; level++) {
        const size_t bytes = level < 4 ? bench_cache_bytes(level) / 2 : 4 * bench_cache_bytes(3);
        bench_row(fits[level - 1], bytes / (2 * sizeof(float)), softmax, accesses, text,
                  sizeof text);
    }
    report_line("one core copies memory at %.1f GB/s", 1e-9 * bench_copy_bandwidth());
    report_line("%s", bench_machine());
    if (csv)
        report_csv(csv, text);
}

void scores_summary(const struct scores *scores, softmax_row *softmax, const char *csv,
                    struct summary summary, struct compared compared)
{
    const size_t n = scores->rows * scores->cols;
    struct job job = { *scores, softmax, allocate(n, sizeof(float), "y") };
    struct bench all_rows = { .name = "all rows", .work = run, .arg = &job };
    bench_run(&all_rows, 1, 0.05);
    free(job.y);
    summary.milliseconds = 1e3 * all_rows.best;
    summary.error = compared.error;
    summary.previous_error = compared.previous_error;
    report_summary(csv, &summary);
}
