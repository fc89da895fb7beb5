#define _POSIX_C_SOURCE 200809L
#include "common/program/report.h"

#include "common/measure/accesses.h"
#include "common/program/options.h"
#include "common/program/report_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LABEL_WIDTH = 18, TITLE_WIDTH = 47 };

static struct {
    const char *chapter, *title;
    const char *label;                       // of the part whose first line is to come, else ""
    const char *bold, *green, *red, *reset;  // escape sequences, or "" where no colour is wanted
    char verified_with[200];
    bool begun, quiet, aside, wrong;
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
    report.begun = true;
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
    if (report.begun && !report.quiet)
        putchar('\n');
    report.begun = true;
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
        report_line("%-14s %11s %15.2f%-2s %*s%s   %s%s%s%s%s", line->what,
                    report_number(line->count, count), each, suffix,
                    width - columns_of(line->formula), "", line->formula,
                    line->count == line->predicted ? report.green : report.red,
                    line->count == line->predicted ? "ok" : "WRONG: the formula gives ",
                    line->count == line->predicted ? "" : report_number(line->predicted, predicted),
                    report.reset, line->note);
        report.wrong |= line->count != line->predicted;
    }
}

char *report_mark(bool right, char text[32])
{
    snprintf(text, 32, "%s%s%s", right ? report.green : report.red, right ? "ok" : "WRONG",
             report.reset);
    report.wrong |= !right;
    return text;
}

void report_verified(const char *with, const char *error)
{
    static const char *const details[] = { "double ", "its " };  // the line has 100 columns
    const size_t used = strlen(report.verified_with);
    for (size_t k = 0; k < sizeof details / sizeof details[0]; k++)
        if (strncmp(with, details[k], strlen(details[k])) == 0)
            with += strlen(details[k]);
    if (strstr(report.verified_with, with))
        return;  // of the first table
    snprintf(report.verified_with + used, sizeof report.verified_with - used, "%s%s %s",
             used ? ", " : "", with, error);
}

const char *report_chapter(void)
{
    return report.chapter;
}

bool report_is_wrong(void)
{
    return report.wrong;
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

int report_finish(void)
{
    if (options_output(0))
        report_check_files();
    if (report.aside)
        options_flush();  // no verdict about output that could not be written
    if (report.quiet)
        fprintf(report.aside ? stderr : stdout, "%s  %-27s off by: %-46s %s%s%s\n", report.chapter,
                report.title, report.verified_with, report.wrong ? report.red : report.green,
                report.wrong ? "WRONG" : "ok", report.reset);
    options_flush();
    if (options_output(0))
        report_close();
    return report.wrong ? EXIT_DISAGREES : EXIT_VERIFIED;
}
