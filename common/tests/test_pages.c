/*
 * pages.sh, which looks whether the lessons ask questions and whether pictures are described; and chain.sh, which
 * looks whether each page's "Next" leads to another one until all have been read.
 */
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <string.h>

#define QUESTION               \
    "**Check yourself.** How " \
    "many?\n\n<details><summary>Answer</summary>\n\nTwo.\n\n</details>\n\n"
#define LESSON                                                                                \
    "# 03 A lesson\n\n*Time:* an hour; nothing to skip.\n\n## The idea\n\nText.\n\n" QUESTION \
    "## Next\n\nMore.\n"
#define PICTURE "![A line that rises as the square of N does](x.svg)\n"

/* What pages.sh says of `text` as a page of that name. */
static struct command look(const char *page, const char *text)
{
    char words[200];
    snprintf(words, sizeof words,
             "mkdir -p @/03_x/exercise @/common/cuda/pages && cp @/text @/%s && sh "
             "common/tools/pages.sh @/%s",
             page, page);
    command_text("text", text);
    return command_run(words);
}

static void accepts(const char *page, const char *text)
{
    const struct command c = look(page, text);
    cr_assert(c.status == 0 && !*c.out, "%s: %s%s", page, c.out, c.err);
}

static void rejects(const char *page, const char *text, const char *part)
{
    const struct command c = look(page, text);
    cr_assert(c.status == 1 && strstr(c.out, part), "%s: status %d, expected \"%s\": %s%s", page,
              c.status, part, c.out, c.err);
}

TEST(pages, that_ask_after_each_section_are_accepted)
{
    accepts("03_x/README.md", LESSON PICTURE);
    accepts("03_x/README.md", LESSON "```text\n## no section\n![x](y)\n```\n");
}

TEST(pages, a_section_without_a_question_is_named)
{
    rejects("03_x/README.md", "# 03\n\n## The idea\n\nText.\n\n## Next\n",
            "03_x/README.md:3: no question after \"The idea\"");
    rejects("03_x/more.md", LESSON "## Last\n\nText.\n", "no question after \"Last\"");
    rejects("common/cuda/README.md", "# C\n\n## The idea\n\nText.\n",
            "no question after \"The idea\"");
    accepts("03_x/exercise/README.md", "# 03\n\n## The idea\n\nText.\n");
    accepts("common/cuda/pages/mistakes.md", "# C\n\n## The idea\n\nText.\n");
}

TEST(pages, a_question_must_have_a_folded_answer)
{
    rejects("03_x/README.md",
            "# 03\n\n## The idea\n\n**Check yourself.** How many?\n\nTwo.\n\n## Next\n",
            "a question without a folded answer");
    rejects("03_x/README.md",
            "# 03\n\n## The idea\n\n**Check yourself.** One?\n\n" QUESTION "## Next\n",
            "a question without a folded answer");
    rejects("03_x/README.md",
            "# 03\n\n## The idea\n\n**Check yourself.** "
            "One?\n\n<details><summary>Answer</summary>\n\nYes.\n\n## Next\n",
            "a fold is not closed");
}

TEST(pages, a_lessons_head_says_how_long_it_takes)
{
    rejects("03_x/README.md", "# 03\n\nNothing to skip.\n\n## Next\n",
            "03_x/README.md:1: its head does not say");
    rejects("03_x/README.md", "# 03\n\n*Time:* an hour.\n\n## Next\n", "its head does not say");
    rejects("03_x/README.md", "# 03\n\nText.\n\n## Run it\n\n*Time:* an hour; nothing to skip.\n",
            "its head does not say");
    accepts("README.md", "# Front\n\n## Next\n");
}

TEST(pages, a_picture_says_what_it_shows)
{
    rejects("03_x/README.md", LESSON "![Accesses against N](x.svg)\n",
            "says too little: Accesses against N");
    rejects("README.md", "# Front\n\n![](x.svg)\n", "says too little");
    accepts("README.md", "# Front\n\n" PICTURE);
}

/* What chain.sh says of a chapter whose README.md and more.md end with `first` and `second`. */
static struct command follow(const char *first, const char *second)
{
    command_text("first", first);
    command_text("second", second);
    return command_run(
        "rm -rf @/03_x && mkdir -p @/03_x/exercise && cp @/first @/03_x/README.md && "
        "cp @/second @/03_x/more.md && : >@/03_x/exercise/README.md && "
        "sh common/tools/chain.sh @/03_x");
}

static void leads_astray(const char *first, const char *second, const char *part)
{
    const struct command c = follow(first, second);
    cr_assert(c.status == 1 && strstr(c.out, part), "status %d, expected \"%s\": %s%s", c.status,
              part, c.out, c.err);
}

#define TO_MORE                                                                      \
    "# 03\n\n[exercise](exercise/README.md)\n\n## Next\n\n[more](more.md#at-once); " \
    "[04](../04_x/README.md)\n"
#define TO_04 "\n\n[04](../04_x/README.md), or back to [03](README.md).\n"

TEST(pages, next_leads_from_page_to_page)
{
    struct command c = follow(TO_MORE, "# More\n\n## Next" TO_04);
    cr_assert(c.status == 0 && !*c.out, "%s%s", c.out, c.err);
    c = follow(TO_MORE, "# More\n\n```c\n**Next:** a[0](b.md)\n```\n\n**Next:** on to" TO_04);
    cr_assert(c.status == 0 && !*c.out, "%s%s", c.out, c.err);
}

TEST(pages, next_that_leads_astray_is_named)
{
    leads_astray("# 03\n\n## Next" TO_04, "# More\n\n## Next" TO_04,
                 "03_x/more.md: no \"Next\" leads to it");
    leads_astray(TO_MORE, "# More\n\n## Next\n\n[03](README.md)\n",
                 "03_x/README.md: the pages before lead to it twice");
    leads_astray(TO_MORE, "# More\n\n[04](../04_x/README.md)\n",
                 "03_x/more.md: no link under \"Next\"");
    leads_astray(TO_MORE, "# More\n\n## Next\n\n[less](less.md)\n",
                 "03_x/more.md: there is no less.md");
}

/* What pages.sh says of a chapter with two pages, of which the first has this line at its end. */
static struct command look_at_two(const char *line)
{
    char words[400];
    snprintf(words, sizeof words,
             "mkdir -p @/03_x && cp @/text @/03_x/other.md && cp @/text @/03_x/README.md && "
             "echo '%s' >>@/03_x/README.md && "
             "sh common/tools/pages.sh @/03_x/README.md @/03_x/other.md",
             line);
    command_text("text", LESSON);
    return command_run(words);
}

TEST(pages, the_first_page_of_a_chapter_leads_to_all_others)
{
    struct command c = look_at_two("See [this](another.md).");
    cr_assert(c.status == 1 && strstr(c.out, "other.md:1: no link to it in "), "%s%s", c.out,
              c.err);
    c = look_at_two("See [this](another.md) and [that](other.md#the-idea).");
    cr_assert(c.status == 0 && !*c.out, "%s%s", c.out, c.err);
}
