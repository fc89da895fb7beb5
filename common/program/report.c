#include "common/program/report.h"

#include "common/measure/accesses.h"
#include "common/program/options.h"
#include "common/program/report_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_WIDTH = 18, TITLE_WIDTH = 47 };

struct report report = { .label = "" };

void report_start(const char *chapter, const char *title, const char *idea, bool quiet)
{
    report.chapter = chapter;
    report.title = title;
    report.quiet = quiet;
    report.begun = true;
    if (!quiet)
        printf("%s  %s%*s%s\n", chapter, title,
               TITLE_WIDTH - (int)strlen(chapter) - 2 - (int)strlen(title), "", idea);
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
    printf("%-*s", LABEL_WIDTH, report.label);
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

void report_counted(const struct counted *lines, size_t n, const char *per, size_t unit,
                    const char *suffix)
{
    char count[32], predicted[32];
    int width = 14;
    for (const struct counted *line = lines; line < lines + n; line++)
        width = columns_of(line->formula) > width ? columns_of(line->formula) : width;
    report_part("Counted");
    report_line("%-12s %13s %17s %*s", "slow memory", "counted", per, width, "formula");
    for (const struct counted *line = lines; line < lines + n; line++) {
        const double each = (double)line->count / (double)(unit ? unit : 1);
        const bool right = line->count == line->predicted;
        report_line("%-14s %11s %15.2f%-2s %*s%s   %s%s%s", line->what,
                    report_number(line->count, count), each, suffix,
                    width - columns_of(line->formula), "", line->formula,
                    right ? "ok" : "WRONG: the formula gives ",
                    right ? "" : report_number(line->predicted, predicted), line->note);
        report.wrong |= !right;
    }
}

char *report_number(size_t number, char text[32])
{
    char digits[24], *to = text;
    const int n = snprintf(digits, sizeof digits, "%zu", number);
    for (int k = 0; k < n; k++)
        to += sprintf(to, k > 0 && (n - k) % 3 == 0 ? " %c" : "%c", digits[k]);
    return text;
}

int report_finish(void)
{
    if (options_outputs[0])
        report_check_files();
    if (report.aside)
        options_flush();  // no verdict about output that could not be written
    if (report.quiet)
        fprintf(report.aside ? stderr : stdout, "%s  %-27s %s\n", report.chapter, report.title,
                report.wrong ? "WRONG" : "ok");
    options_flush();
    if (options_outputs[0])
        report_close();
    return report.wrong ? EXIT_DISAGREES : EXIT_VERIFIED;
}
