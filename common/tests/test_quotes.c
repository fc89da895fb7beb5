/*
 * What pages quote: the diff of two lessons in which lines that have only moved are not marked (lesson_diff.sh -b).
 */
#include "common/tests/command.h"
#include "common/tests/test.h"

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
