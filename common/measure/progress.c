#define _POSIX_C_SOURCE 200809L
#include "common/measure/progress.h"

#include "common/measure/bench.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* Seconds between lines. */
static const double BETWEEN_LINES = 0.2;

void progress(const char *what, size_t done, size_t total)
{
    static double begun, last;
    static bool shown;
    if (!isatty(STDERR_FILENO))
        return;
    const double now = bench_now();
    if (done == total) {
        if (shown)
            fputs("\r\033[K", stderr);
        shown = false;
        last = 0.0;
    } else if (done == 0 || last == 0.0) {
        begun = last = now;
    } else if (now - last > BETWEEN_LINES) {
        const double part = (double)done / (double)total;
        fprintf(stderr, "\r%s: %.0f %%, %.0f s left\033[K", what, 100.0 * part,
                (now - begun) * (1.0 - part) / part);
        last = now;
        shown = true;
    }
}
