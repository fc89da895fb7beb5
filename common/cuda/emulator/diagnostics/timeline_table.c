/* The timeline as a table of units, and as CSV. */
#include "common/cpu/memory.h"
#include "common/cuda/cpu.h"

#include "common/program/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS = 4, LINE = 200 };

static const char *const units[UNITS] = { "copies", "sums", "tensor cores", "exponentials" };
static const char *const measures[UNITS] = { "bytes", "bytes", "FLOP", "exponentials" };

static void write_works(const char *path, const struct cuda_work *works, size_t n)
{
    char *text = allocate(n + 1, LINE, "the timeline"), *end = text;
    end += snprintf(end, LINE, "launch,unit,warp,run,what,begin,end,work,place\n");
    for (const struct cuda_work *w = works; w < works + n; w++) {
        char place[100] = "";
        if (w->line > 0)
            snprintf(place, sizeof place, "%.80s:%d", w->file, w->line);
        end += snprintf(end, LINE, "%u,%s,%u,%u,%.31s,%.1f,%.1f,%.0f,%s\n", w->launch, w->unit,
                        w->warp, w->run, w->what, w->begin, w->end, w->work, place);
    }
    report_csv(path, text);
    free(text);
}

void cuda_cpu_print_timeline(const char *kernel, const char *path)
{
    const struct cuda_work *works;
    const size_t n = cuda_cpu_timeline(&works);
    double end = 0.0, work[UNITS] = { 0.0 }, cycles[UNITS] = { 0.0 };
    for (size_t k = 0; k < n; k++)
        for (size_t u = 0; u < UNITS; u++)
            if (strcmp(works[k].unit, units[u]) == 0) {
                work[u] += works[k].work;
                cycles[u] += works[k].cycles;
                end = works[k].end > end ? works[k].end : end;
            }
    report_part("Timeline");
    report_line("the first block of %s, if each unit worked at its published rate on an H100,",
                kernel);
    report_line("and nothing else took time; one multiprocessor, this block alone on it");
    report_line("%-14s %14s  %-12s  %10s  %6s", "unit", "work", "", "cycles", "busy");
    for (size_t u = 0; u < UNITS; u++) {
        char number[32];
        if (work[u] > 0.0)
            report_line("%-14s %14s  %-12s  %10.0f  %4.0f %%", units[u],
                        report_number((size_t)work[u], number), measures[u], cycles[u],
                        100.0 * cycles[u] / end);
    }
    report_line("from the first to the last              %12.0f cycles", end);
    write_works(path, works, n);
}
