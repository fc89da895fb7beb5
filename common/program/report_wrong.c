#include "common/program/report_parts.h"

#include <stdarg.h>
#include <stdio.h>

enum { NEIGHBOURS = 7 };  // shown around a wrong element

static const char *what_is_wrong(const struct comparison *c, char *text, size_t size)
{
    static const char *const what[] = {
        [NEVER_WRITTEN] = "never written",
        [NOT_A_NUMBER] = "NaN against a number",
        [INFINITE] = "an infinity against a number",
    };
    static const char *const extents[] = { [OF_ELEMENT] = "",
                                           [OF_ROW] = "its row is ",
                                           [OF_COLUMN] = "its column is ",
                                           [OF_HEAD] = "its head is " };
    const struct difference *d = &c->difference;
    if (d->mismatched)
        snprintf(text, size, "%s (%zu such)", what[d->mismatch], d->mismatched);
    else
        snprintf(text, size, "%soff by %.3g times what rounding explains", extents[d->extent],
                 d->explained);
    return text;
}

/* The elements around the worst one, along the last axis: where, got, expected. */
void report_neighbourhood(const struct comparison *c)
{
    const struct axes axes = c->axes;
    const size_t length = axes.rows ? axes.row_length : axes.shape[axes.dims - 1];
    const size_t element = c->difference.mismatched ? c->difference.worst : c->difference.farthest;
    const size_t column = element % length, row = element - column;
    const size_t first = column < NEIGHBOURS / 2 ? 0 : column - NEIGHBOURS / 2;
    const size_t last = first + NEIGHBOURS < length ? first + NEIGHBOURS : length;
    char place[100], wrong[100];
    char columns[NEIGHBOURS * 16 + 1] = "", got[sizeof columns] = "", right[sizeof columns] = "";
    for (size_t j = first; j < last; j++) {
        const size_t at = 12 * (j - first);
        char name[32];
        snprintf(name, sizeof name, j == column ? "[%zu]" : "%zu", j);
        snprintf(columns + at, sizeof columns - at, "%12s", name);
        snprintf(got + at, sizeof got - at, "%12s", report_value((double)c->got[row + j], 5, name));
        snprintf(right + at, sizeof right - at, "%12s",
                 report_value(c->expected[row + j].value, 5, name));
    }
    report_line("  at %s = %s: %s", axes.names, report_place(axes, element, place, sizeof place),
                what_is_wrong(c, wrong, sizeof wrong));
    report_line("    %-10s%s", "", columns);
    report_line("    %-10s%s", "got", got);
    report_line("    %-10s%s", "expected", right);
}

void report_wrong(const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    report_line("WRONG %s", text);
    report.wrong = true;
}
