/*
 * The part "Compared with": errors, what is allowed, and where the worst element is.
 */
#include "common/program/report.h"

#include <stdio.h>
#include <string.h>

enum { NEIGHBOURS = 7 };  // that are shown of an element that is wrong

static const char EXPLAINED[] = "of rounding's limit";

/* The coordinates of the element at `index` of what is at hand, in the whole result. */
static const char *place_in(struct axes axes, size_t index, char *text, size_t size)
{
    if (axes.rows)
        index = axes.rows[index / axes.row_length] * axes.row_length + index % axes.row_length;
    return place_of(index, axes.dims, axes.shape, text, size);
}

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

/* The largest error as it is printed: a number, unless there is something worse than a number. */
static const char *error_text(const struct difference *d, char *text, size_t size)
{
    static const char *const worse[] = {
        [NEVER_WRITTEN] = "never written", [NOT_A_NUMBER] = "NaN", [INFINITE] = "infinite"
    };
    if (d->mismatched)
        snprintf(text, size, "%s", worse[d->mismatch]);
    else
        snprintf(text, size, "%.2e", d->max_abs);
    return text;
}

/* "0.35": the error in units of what rounding explains, where it is a number. */
static const char *explained_text(const struct difference *d, char *text, size_t size)
{
    if (d->mismatched)
        snprintf(text, size, "-");
    else
        snprintf(text, size, d->explained < 10.0 ? "%.2f" : "%.3g", d->explained);
    return text;
}

/* The elements around the worst one, along the last axis: where, got, expected. */
static void show_neighbourhood(const struct comparison *c)
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
    report_line("  at %s = %s: %s", axes.names, place_in(axes, element, place, sizeof place),
                what_is_wrong(c, wrong, sizeof wrong));
    report_line("    %-10s%s", "", columns);
    report_line("    %-10s%s", "got", got);
    report_line("    %-10s%s", "expected", right);
}

/* The line of --quiet has room for the worst comparison with each stage: "reference 7.69e-06 (dV)". */
static void remember(const struct comparison *all, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        struct comparison worst = all[k];
        bool told = false;
        for (size_t other = 0; other < n; other++)
            if (strcmp(all[other].with, all[k].with) == 0) {
                told |= other < k;
                comparison_keep_worse(&worst, all[other]);
            }
        if (told)
            continue;
        char error[32], text[80];
        error_text(&worst.difference, error, sizeof error);
        snprintf(text, sizeof text, worst.of ? "%s (%s)" : "%s", error, worst.of);
        report_verified(worst.with, text);
    }
}

void report_compared(const struct comparison *comparisons, size_t n)
{
    char place[100], heading[60], with[60], error[32], explained[32], mark[32];
    snprintf(heading, sizeof heading, "at %s", comparisons->axes.names);
    report_part("Compared with");
    report_line("%-22s %13s  %s  %s", "", "largest error", EXPLAINED, heading);
    for (const struct comparison *c = comparisons; c < comparisons + n; c++) {
        const bool right = is_explained(c->difference);
        snprintf(with, sizeof with, "%s%s%.20s", c->of ? c->of : "", c->of ? ", " : "", c->with);
        report_line(
            "%-22s %13s  %*s  %-16s %s", with, error_text(&c->difference, error, sizeof error),
            (int)sizeof EXPLAINED - 1, explained_text(&c->difference, explained, sizeof explained),
            place_in(c->axes, c->difference.worst, place, sizeof place), report_mark(right, mark));
        if (!right)
            show_neighbourhood(c);
    }
    remember(comparisons, n);
}
