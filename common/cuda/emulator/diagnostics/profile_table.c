/* Prints the profile: source lines and their costs. */
#include "common/cuda/cpu.h"

#include "common/program/options.h"
#include "common/program/report.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { CODE = 38, DEAR = 110 };  // characters per line; a cost above this % is marked

/* The line without surrounding white space; "" if the file cannot be opened. */
static void quote(const char *file, int number, char *code, size_t size)
{
    char text[500] = "";
    FILE *source = fopen(file, "r");
    *code = '\0';
    if (!source && (errno == ENOMEM || errno == EMFILE || errno == ENFILE))
        options_fail(file, "expected a file that can be read, found: %s", strerror(errno));
    if (!source)
        return;
    for (int n = 0; n < number; n++)
        if (!fgets(text, sizeof text, source))
            *text = '\0';
    fclose(source);
    char *begin = text + strspn(text, " \t"), *comment = strstr(text, "//");
    if (comment)
        *comment = '\0';
    size_t length = strcspn(begin, "\n");
    while (length > 0 && isspace((unsigned char)begin[length - 1]))
        length--;
    snprintf(code, size, "%.*s", (int)length, begin);
}

static void print_line(const struct cuda_line *line, const struct cuda_line *before)
{
    char code[CODE + 1] = "", number[32], place[16] = "";
    if (!before || before->line != line->line || strcmp(before->file, line->file) != 0) {
        quote(line->file, line->line, code, sizeof code);
        snprintf(place, sizeof place, "%d", line->line);
    }
    report_line("%5s  %-*s  %-6s %-5s %12s  %6.2f%s", place, CODE, code,
                line->shared ? "shared" : "global", line->store ? "store" : "load",
                report_number(line->accesses, number), (double)line->cost / (double)line->least,
                100 * line->cost > DEAR * line->least ? "  <" : "");
}

void cuda_cpu_print_profile(void)
{
    const struct cuda_line *lines;
    const size_t n = cuda_cpu_profile(&lines);
    if (!cuda_cpu_profile_has_lines())
        options_fail("--profile",
                     "expected a process that finds lines of source, and none can be started");
    for (size_t k = 0; k < n; k++) {
        const struct cuda_line *before = k > 0 ? &lines[k - 1] : NULL;
        if (!before || strcmp(before->file, lines[k].file) != 0)
            report_line("%-*s  %-12s %12s  %s", CODE + 7, lines[k].file, "memory", "accesses",
                        "cost / least");
        print_line(&lines[k], before);
    }
    if (n > 0)
        report_line("shared memory costs cycles of its banks, global memory sectors of 32 bytes");
}
