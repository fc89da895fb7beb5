#define _POSIX_C_SOURCE 200809L
#include "report.h"

#include "bench.h"
#include "options.h"
#include "whole_file.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LABEL_WIDTH = 18, TITLE_WIDTH = 47, NEIGHBOURS = 7 };

static struct {
    const char *chapter, *title;
    const char *label;                       // of the part whose first line is to come, else ""
    const char *bold, *green, *red, *reset;  // escape sequences, or "" where no colour is wanted
    char verified_with[200];
    bool quiet, aside, wrong;
} report = { .label = "", .bold = "", .green = "", .red = "", .reset = "" };

static void choose_colours(void)
{
    const char *no_color = getenv("NO_COLOR");
    if (!isatty(STDOUT_FILENO) || (no_color && *no_color))
        return;
    report.bold = "\033[1m";
    report.green = "\033[32m";
    report.red = "\033[31m";
    report.reset = "\033[0m";
}

void report_start(const char *chapter, const char *title, const char *idea, bool quiet)
{
    report.chapter = chapter;
    report.title = title;
    report.quiet = quiet;
    choose_colours();
    if (!quiet)
        printf("%s%s  %s%s%*s%s\n", report.bold, chapter, title, report.reset,
               TITLE_WIDTH - (int)strlen(chapter) - 2 - (int)strlen(title), "", idea);
}

void report_aside(void)
{
    report.aside = true;
    report.green = report.red = report.reset = "";
}

void report_part(const char *label)
{
    report.label = label;
    if (!report.quiet)
        putchar('\n');
}

void report_line(const char *format, ...)
{
    if (report.quiet)
        return;
    va_list arguments;
    va_start(arguments, format);
    printf("%s%-*s%s", report.bold, LABEL_WIDTH, report.label, report.reset);
    vprintf(format, arguments);
    putchar('\n');
    report.label = "";
    va_end(arguments);
}

char *report_number(size_t number, char text[32])
{
    char digits[24];
    const int n = snprintf(digits, sizeof digits, "%zu", number);
    char *to = text;
    for (int k = 0; k < n; k++) {
        if (k > 0 && (n - k) % 3 == 0)
            *to++ = ' ';
        *to++ = digits[k];
    }
    *to = '\0';
    return text;
}

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

/* "0.25", "NaN": printf would give NaN a sign that means nothing. */
static const char *number_text(double x, char text[24])
{
    if (isnan(x))
        snprintf(text, 24, "NaN");
    else
        snprintf(text, 24, "%.5g", x);
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

/* The columns that a text takes: all bytes count but those that continue a character of UTF-8. */
static int columns_of(const char *text)
{
    int columns = 0;
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xC0) != 0x80;
    return columns;
}

void report_counted(const char *label, const struct counted *lines, size_t n, const char *per,
                    size_t unit, const char *suffix)
{
    char heading[40], count[32], predicted[32];
    snprintf(heading, sizeof heading, "per %s", per);
    int width = 14;
    for (const struct counted *line = lines; line < lines + n; line++)
        width = columns_of(line->formula) > width ? columns_of(line->formula) : width;
    report_part(label);
    report_line("%-12s %13s %17s %*s", "slow memory", "counted", heading, width, "formula");
    for (const struct counted *line = lines; line < lines + n; line++) {
        const double each = (double)line->count / (double)unit;
        report_line("%-12s %13s %15.2f%-2s %*s%s   %s%s%s%s%s", line->what,
                    report_number(line->count, count), each, suffix,
                    width - columns_of(line->formula), "", line->formula,
                    line->count == line->predicted ? report.green : report.red,
                    line->count == line->predicted ? "ok" : "WRONG: the formula gives ",
                    line->count == line->predicted ? "" : report_number(line->predicted, predicted),
                    report.reset, line->note);
        report.wrong |= line->count != line->predicted;
    }
}

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
        [MATCHED] = "too far off",
        [NEVER_WRITTEN] = "never written",
        [NOT_A_NUMBER] = "NaN against a number",
        [INFINITE] = "an infinity against a number",
    };
    const struct difference *d = &c->difference;
    if (d->mismatched)
        snprintf(text, size, "%s (%zu such)", what[d->mismatch], d->mismatched);
    else if (d->max_abs <= c->allowance.max_abs)
        snprintf(text, size, "all together too far off: rms %.2e, allowed %.2e", d->rms,
                 c->allowance.rms);
    else
        snprintf(text, size, "%s", what[MATCHED]);
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

/* The elements around the worst one, along the last axis: where, got, expected. */
static void show_neighbourhood(const struct comparison *c)
{
    const struct axes axes = c->axes;
    const size_t length = axes.rows ? axes.row_length : axes.shape[axes.dims - 1];
    const size_t column = c->difference.worst % length, row = c->difference.worst - column;
    const size_t first = column < NEIGHBOURS / 2 ? 0 : column - NEIGHBOURS / 2;
    const size_t last = first + NEIGHBOURS < length ? first + NEIGHBOURS : length;
    char place[100], wrong[100];
    char columns[NEIGHBOURS * 16 + 1] = "", got[sizeof columns] = "", right[sizeof columns] = "";
    for (size_t j = first; j < last; j++) {
        const size_t at = 12 * (j - first);
        char name[24];
        snprintf(name, sizeof name, j == column ? "[%zu]" : "%zu", j);
        snprintf(columns + at, sizeof columns - at, "%12s", name);
        snprintf(got + at, sizeof got - at, "%12s", number_text((double)c->got[row + j], name));
        snprintf(right + at, sizeof right - at, "%12s", number_text(c->expected[row + j], name));
    }
    report_line("  at %s = %s: %s", axes.names,
                place_in(axes, c->difference.worst, place, sizeof place),
                what_is_wrong(c, wrong, sizeof wrong));
    report_line("    %-10s%s", "", columns);
    report_line("    %-10s%s", "got", got);
    report_line("    %-10s%s", "expected", right);
}

void comparison_keep_worse(struct comparison *worst, struct comparison c)
{
    if (!worst->with) {  // the first there is
        *worst = c;
        return;
    }
    const bool right = within(c.difference, c.allowance);
    if (within(worst->difference, worst->allowance) &&
        (!right || c.difference.max_abs > worst->difference.max_abs))
        *worst = c;
}

void report_verified(const char *with, const char *error)
{
    static const char *const details[] = { "double ", "its " };  // the line has 100 columns
    const size_t used = strlen(report.verified_with);
    for (size_t k = 0; k < sizeof details / sizeof details[0]; k++)
        if (strncmp(with, details[k], strlen(details[k])) == 0)
            with += strlen(details[k]);
    snprintf(report.verified_with + used, sizeof report.verified_with - used, "%s%s %s",
             used ? ", " : "", with, error);
}

/* What stands after the comma: "dQ, reference" is a comparison with the reference. */
static const char *compared_with(const struct comparison *c)
{
    const char *const comma = strstr(c->with, ", ");
    return comma ? comma + 2 : c->with;
}

/* The line of --quiet has room for the worst comparison with each stage: "reference 7.69e-06 (dV)". */
static void remember(const struct comparison *all, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const char *const with = compared_with(&all[k]);
        struct comparison worst = all[k];
        bool told = false;
        for (size_t other = 0; other < n; other++)
            if (strcmp(compared_with(&all[other]), with) == 0) {
                told |= other < k;
                comparison_keep_worse(&worst, all[other]);
            }
        if (told)
            continue;
        char error[32], text[80];
        error_text(&worst.difference, error, sizeof error);
        const int array = (int)(compared_with(&worst) - worst.with);  // its name, comma and space
        snprintf(text, sizeof text, array ? "%s (%.*s)" : "%s", error, array - 2, worst.with);
        report_verified(with, text);
    }
}

void report_compared(const struct comparison *comparisons, size_t n)
{
    char place[100], heading[60], error[32];
    snprintf(heading, sizeof heading, "at %s", comparisons->axes.names);
    report_part("Compared with");
    report_line("%-20s %13s %12s     %s", "", "largest error", "allowed", heading);
    for (const struct comparison *c = comparisons; c < comparisons + n; c++) {
        const bool right = within(c->difference, c->allowance);
        report_line("%-20s %13s %12.2e     %-16s %s%s%s", c->with,
                    error_text(&c->difference, error, sizeof error), c->allowance.max_abs,
                    place_in(c->axes, c->difference.worst, place, sizeof place),
                    right ? report.green : report.red, right ? "ok" : "WRONG", report.reset);
        if (!right)
            show_neighbourhood(c);
        report.wrong |= !right;
    }
    remember(comparisons, n);
}

void report_progress(const char *what, size_t done, size_t total)
{
    static double last;
    static bool shown;
    if (!isatty(STDERR_FILENO))
        return;
    const double now = bench_now();
    if (done == total) {
        if (shown)
            fputs("\r\033[K", stderr);
        shown = false;
        last = 0.0;
    } else if (last == 0.0) {
        last = now;
    } else if (now - last > 0.2) {
        fprintf(stderr, "\r%s: %.0f %%", what, 100.0 * (double)done / (double)total);
        last = now;
        shown = true;
    }
}

void report_next(const char *text)
{
    report_part("Next");
    report_line("%s", text);
}

void report_wrong(const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    report_line("%sWRONG%s %s", report.red, report.reset, text);
    report.wrong = true;
}

void report_append(char text[REPORT_CSV], const char *line)
{
    const size_t used = strlen(text);
    snprintf(text + used, REPORT_CSV - used, "%s", line);
}

void report_csv(const char *path, const char *text)
{
    struct file_error error;
    const struct bytes piece = { text, strlen(text) };
    options_flush();
    if (!whole_file_write(path, &piece, 1, &error))
        options_fail(path, "%s", error.text);
}

void report_summary(const char *path, const struct summary *s)
{
    char text[600], counts[60] = ",", previous[32] = "";
    if (s->counted)
        snprintf(counts, sizeof counts, "%zu,%zu", s->counted, s->extra_bytes);
    if (s->previous)
        snprintf(previous, sizeof previous, "%.3e", s->previous_error);
    snprintf(text, sizeof text,
             "chapter,accesses,counted,extra_bytes,milliseconds,error,previous,"
             "previous_error,verified\n%s,%s,%s,%.6f,%.3e,%s,%s,%s\n",
             report.chapter, s->accesses, counts, s->milliseconds, s->error,
             s->previous ? s->previous : "", previous, report.wrong ? "no" : "yes");
    report_csv(path, text);
}

int report_finish(void)
{
    if (report.quiet)
        fprintf(report.aside ? stderr : stdout, "%s  %-27s off by: %-46s %s%s%s\n", report.chapter,
                report.title, report.verified_with, report.wrong ? report.red : report.green,
                report.wrong ? "WRONG" : "ok", report.reset);
    options_flush();
    return report.wrong ? EXIT_DISAGREES : EXIT_VERIFIED;
}
