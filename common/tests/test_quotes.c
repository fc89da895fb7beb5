/*
 * What pages quote: the diff of two lessons in which lines that have only moved are not marked (lesson_diff.sh -b), and
 * when the last tile is done in one order and another (queue_order.sh).
 */
#include "command.h"
#include "test.h"

#include <string.h>

/* A loop has come around three lines, and one of them is another now. */
TEST(quotes, of_a_diff_do_not_mark_what_has_only_moved)
{
    static const char old[] = "void f(void)\n{\n    a();\n    b();\n    c();\n}\n";
    static const char new[] =
        "void f(void)\n{\n    for (;;) {\n        a();\n        d();\n        c();\n    }\n}\n";
    command_text("old", old);
    command_text("new", new);
    const struct command c = command_run("sh common/tools/lesson_diff.sh -b @/old @/new");
    cr_assert(c.status == 0 && strcmp(c.out, " void f(void)\n {\n+    for (;;) {\n         a();\n"
                                             "-    b();\n+        d();\n         c();\n+    }\n"
                                             " }\n") == 0,
              "status %d: %s%s", c.status, c.out, c.err);
}

/* Two multiprocessors and tiles of 1, 2, 3, 4: 1 + 3 and 2 + 4, or 4 + 1 and 3 + 2. With room for all the longest is it. */
TEST(quotes, of_an_order_of_tiles_are_what_one_works_out_by_hand)
{
    struct command c = command_run("sh common/tools/queue_order.sh 2 4 1 1");
    cr_assert(c.status == 0 && strstr(c.out, "| 1 | 4 | 6 | 5 | 5 |\n"), "%s%s", c.out, c.err);
    c = command_run("sh common/tools/queue_order.sh 8 4 4 2 4");
    cr_assert(strstr(c.out, "| 2 | 8 | 4 | 4 | 4 |\n"), "%s%s", c.out, c.err);
    cr_assert(strstr(c.out, "| 4 | 16 | 7 | 5 | 5 |\n"), "%s%s", c.out, c.err);
}

/*
 * Three heads with tiles of 3, 2, 1, and four multiprocessors. The longest of all three first, 3 3 3 2 2 2 1 1 1, is 3 + 2, 3 + 1 + 1,
 * 3 + 1 and 2 + 2; of two heads, 3 3 2 2 1 1, and then of the third, 3 2 1: 3 + 3, 3 + 2, 2 + 1 + 1 and 2 + 1. The third is alone:
 * on two multiprocessors 3 + 2 + 1 + 3 and 3 + 2 + 1 + 2 + 1.
 */
TEST(quotes, of_an_order_of_tiles_know_that_heads_come_in_groups)
{
    struct command c = command_run("sh common/tools/queue_order.sh 4 3 3 3");
    cr_assert(c.status == 0 && strstr(c.out, "| 3 | 9 | 6 | 5 | 5 |\n"), "%s%s", c.out, c.err);
    c = command_run("sh common/tools/queue_order.sh 4 3 2 3");
    cr_assert(strstr(c.out, "| 3 | 9 | 6 | 6 | 5 |\n"), "%s%s", c.out, c.err);
    c = command_run("sh common/tools/queue_order.sh 2 3 2 3");
    cr_assert(strstr(c.out, "| 3 | 9 | 10 | 9 | 9 |\n"), "%s%s", c.out, c.err);
}
