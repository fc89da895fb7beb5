/*
 * `caught` spoils right results and checks the verdicts. It exits with 1 if a right one is refused,
 * or a wrong one accepted that must be caught.
 */
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <string.h>

/* The line of this fault has `cells` cells; no required one is "no". */
static void has(const char *table, const char *way, int cells, bool is_required)
{
    char line[200] = "", *rest = line;
    const char *const at = strstr(table, way);
    cr_assert(at, "expected \"%s\" in:\n%s", way, table);
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    for (rest += strlen(way); strtok(rest, " "); rest = NULL)
        cells--;
    cr_assert(cells == 0, "%s: %d cells too few in:\n%s", way, cells, table);
    const char *const missed = strstr(at, " no");
    cr_assert(!is_required || !missed || missed > at + strcspn(at, "\n"), "%s is not caught:\n%s",
              way, table);
}

TEST(caught, accepts_right_results_and_catches_the_wrong_ones_that_it_must)
{
    const struct command c = command_run("${BUILD:-build}/caught");
    cr_assert(c.status == 0, "status %d:\n%s%s", c.status, c.out, c.err);
    cr_assert(c.err[0] == '\0', "it complained: %s", c.err);
    has(c.out, "O: a row of zeros", 6, true);
    has(c.out, "O: two rows exchanged", 6, true);
    has(c.out, "O: half of a column is zero", 6, true);
    has(c.out, "O: 5 % of a head's rows times", 6, true);
    has(c.out, "O: one row of one head times", 6, false);
    has(c.out, "O: a row's last key left out", 6, false);
    has(c.out, "lse: one of them plus", 6, true);
    has(c.out, "dQ: 5 % of a head's rows times", 9, true);
    has(c.out, "dK: a key's row of another head", 9, true);
    has(c.out, "dV: half of a head is zero", 9, true);
    for (const char *line = c.out; *line; line += strcspn(line, "\n") + 1)
        cr_assert(strcspn(line, "\n") <= 100, "wider than a hundred: %.120s", line);
}

TEST(caught, refuses_other_words)
{
    const struct command c = command_run("${BUILD:-build}/caught --lang");
    cr_assert(c.status == 2 && is_one_line_with(c.err, "--long"), "status %d: %s", c.status, c.err);
}
