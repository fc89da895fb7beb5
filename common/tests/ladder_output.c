#include "common/tests/ladder_output.h"

#include "common/cpu/threads.h"
#include "common/program/report.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <string.h>

struct command ladder_output(void (*climb)(const struct options *options))
{
    char printed[300], csv[300];
    snprintf(printed, sizeof printed, "%s/printed", command_folder());
    snprintf(csv, sizeof csv, "%s/l.csv", command_folder());
    const struct options o = { .csv = csv };
    threads_use(2);
    cr_assert(freopen(printed, "w", stdout), "%s cannot be written", printed);
    climb(&o);
    report_close();
    return command_run("cat @/printed; cut -d, -f 1-10 @/l.csv");
}

/* "…; one core: 220.0 GFLOP/s of FMA, 12.0 GB/s copied" is the last line before the --csv. */
static void assert_ends_with_the_machine(const char *printed)
{
    const char *const csv = strstr(printed, "chapter,kernel");
    cr_assert(csv, "it printed: %s", printed);
    const char *last = csv - 1;
    while (last > printed && last[-1] != '\n')
        last--;
    const char *const one = strstr(last, "; one core: ");
    char *rest = NULL;
    const double peak = one ? strtod(one + strlen("; one core: "), &rest) : 0.0;
    const char *const between = " GFLOP/s of FMA, ";
    const bool told = rest && strncmp(rest, between, strlen(between)) == 0;
    const double copied = told ? strtod(rest + strlen(between), &rest) : 0.0;
    cr_assert(told && strncmp(rest, " GB/s copied\n", 13) == 0 && peak > 0.1 && copied > 0.01,
              "its last line is: %s", last);
}

void assert_ladder_output(const struct command *c, const char *const parts[])
{
    const char *const missing = missing_part(c->out, parts);
    cr_assert(!missing && !strstr(c->out, "WRONG"), "no '%s' where it belongs: %s", missing,
              c->out);
    assert_ends_with_the_machine(c->out);
}
