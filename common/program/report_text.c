/*
 * Numbers, amounts of memory, times and rows as a report has them, and its usual lines.
 */
#include "common/program/report_parts.h"

#include <math.h>
#include <stdio.h>

char *report_bytes(size_t bytes, char text[32])
{
    if (bytes == 0)
        snprintf(text, 32, "none");
    else if (bytes < 10000)
        snprintf(text, 32, "%zu B", bytes);
    else if (bytes < 10000000)
        snprintf(text, 32, "%.1f kB", 1e-3 * (double)bytes);
    else if (bytes < 10000000000)
        snprintf(text, 32, "%.1f MB", 1e-6 * (double)bytes);
    else
        snprintf(text, 32, "%.1f GB", 1e-9 * (double)bytes);
    return text;
}

char *report_milliseconds(double seconds, char text[24])
{
    if (seconds < 0.9995)
        snprintf(text, 24, "%.3g ms", 1e3 * seconds);
    else
        snprintf(text, 24, "%.0f ms", 1e3 * seconds);
    return text;
}

char *report_row(const char *format, const float *x, size_t n, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "[");
    for (size_t j = 0; j < n && used < size; j++) {
        char number[40];
        if (isnan(x[j]))
            snprintf(number, sizeof number, "NaN");
        else
            snprintf(number, sizeof number, format, (double)x[j]);
        used += (size_t)snprintf(text + used, size - used, j ? " %s" : "%s", number);
    }
    if (used < size)
        snprintf(text + used, size - used, "]");
    return text;
}

char *report_value(double x, int digits, char text[32])
{
    if (isnan(x))
        snprintf(text, 32, "NaN");
    else
        snprintf(text, 32, "%.*g", digits, x);
    return text;
}

void report_aside(void)
{
    report.aside = true;
}

void report_not_counted(const char *label)
{
    if (label)
        report_part(label);
    report_line("not counted here: that takes make, and a compiler with -fsanitize=thread");
}

void report_next(const char *text)
{
    report_part("Next");
    report_line("%s", text);
}
