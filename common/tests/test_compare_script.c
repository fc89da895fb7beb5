/*
 * compare.sh with fake stages, which return prepared outputs and log their arguments.
 */
#include "common/check/plain.h"
#include "common/cpu/memory.h"
#include "common/program/scores.h"
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define Q_K_V "Q=common/data/q.npy K=common/data/k.npy V=common/data/v.npy "
#define MASK "MASK=common/data/key_mask.npy "
#define ALL "01_one 02_two 03_three 04_four 05_five"

/* It answers with y.npy and o.npy next to it; `status` is added to its exit status. */
static const char PRETENDER[] =
    "#!/bin/sh\n"
    "here=$(dirname \"$0\")\n"
    "echo \"$(basename \"$0\") $*\" >>\"$here/asked\"\n"
    "case \"$*\" in\n"
    "*'--step list'*) printf 'block_matmul\\nmasks\\ntiles\\n'; exit 0 ;;\n"
    "*'--step masks'*) echo 'five: masks: expected no mask' >&2; exit 2 ;;\n"
    "esac\n"
    "case $0 in */0[1-3]_*) right=$here/y.npy ;; *) right=$here/o.npy ;; esac\n"
    "while [ $# -gt 1 ] && [ \"$1\" != --output ]; do shift; done\n"
    "[ -e \"$here/mute\" ] || cp \"$right\" \"$2\"\n"
    "[ ! -e \"$here/status\" ] || exit \"$(cat \"$here/status\")\"\n";

/* Fills @/build with compare, the fakes called ALL, and their answers. */
static void set_up(void)
{
    const struct options options = { .input = "common/data/scores.npy" };
    struct scores scores = scores_load(&options);
    float *y = allocate(scores.rows * scores.cols, sizeof *y, "y");
    plain_softmax(scores.x, y, scores.rows, scores.cols);
    command_array("y.npy", NPY_F4, 2, scores.shape, y);
    y[7] += 0.125f;
    command_array("spoilt.npy", NPY_F4, 2, scores.shape, y);
    command_script("pretender", PRETENDER);
    const struct command c = command_run(
        "mkdir @/build && cp ${BUILD:-build}/compare @/y.npy @/build && "
        "cp common/data/o.npy @/build && for n in " ALL "; do cp @/pretender @/build/$n; done");
    cr_assert(c.status == 0, "%s", c.err);
    scores_free(&scores);
    free(y);
}

/* Runs the script with `settings`, inheriting none. */
static struct command run(const char *settings, const char *chapters)
{
    char words[1000];
    snprintf(words, sizeof words,
             "unset INPUT Q K V MASK OPTIONS MINE; rm -f @/build/asked; "
             "%s sh common/tools/compare.sh @/build %s",
             settings, chapters);
    return command_run(words);
}

static void rows_are(struct command c, int status, unsigned count, const char *const rows[])
{
    unsigned found = 0;
    for (const char *at = c.out; (at = strstr(at, ".npy  ")); at++)
        found++;
    const char *const missing = missing_part(c.out, rows);
    cr_assert(c.status == status, "status %d, expected %d: %s%s", c.status, status, c.out, c.err);
    cr_assert(!missing, "expected %s in its place in: %s", missing, c.out);
    cr_assert(found == count, "expected %u rows, found %u: %s", count, found, c.out);
}
#define ROWS(command, status, ...)                                                     \
    rows_are(command, status,                                                          \
             sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *const), \
             (const char *const[]){ __VA_ARGS__, NULL })

#define SOFTMAX_ROWS "01_one.npy", "02_two.npy", "03_three.npy"
#define ATTENTION_ROWS "04_four.npy", "05_masks.npy    expected no mask\n", "05_tiles.npy"

static void refuses(struct command c, const char *part)
{
    cr_assert(c.status == 2 && is_one_line_with(c.err, part), "status %d, expected \"%s\": %s%s",
              c.status, part, c.out, c.err);
}

static void refuses_at_once(struct command c, const char *part)
{
    refuses(c, part);
    cr_assert(!command_made("build/asked"), "expected \"%s\" before a stage is asked", part);
}

TEST(compare_script, shows_both_tables_or_the_one_that_is_asked_for)
{
    set_up();
    ROWS(run("", ALL), 0, SOFTMAX_ROWS, ATTENTION_ROWS);
    ROWS(run("INPUT=common/data/scores.npy", ALL), 0, SOFTMAX_ROWS);
    ROWS(run(Q_K_V MASK, ALL), 0, ATTENTION_ROWS);
    ROWS(run("OPTIONS=--verify=all", ALL), 0, ATTENTION_ROWS);
    ROWS(run(MASK, ALL), 0, ATTENTION_ROWS);
    const struct command c = run("", "01_one 02_absent 04_four 04_absent 05_absent");
    ROWS(c, 0, "01_one.npy", "04_four.npy");
    cr_assert(!*c.err, "a chapter that is not built was missed: %s", c.err);
}

TEST(compare_script, asks_every_kernel_of_chapter_06)
{
    set_up();
    cr_assert(command_run("cp @/pretender @/build/06_six").status == 0, "no pretender");
    ROWS(run(Q_K_V MASK, "06_six"), 0, "06_masks.npy    expected no mask\n", "06_tiles.npy");
}

TEST(compare_script, holds_yours_last)
{
    set_up();
    ROWS(run("MINE=@/y.npy", ALL), 0, SOFTMAX_ROWS, "y.npy");
    ROWS(run("INPUT=common/data/scores.npy MINE=@/spoilt.npy", ALL), 1, SOFTMAX_ROWS, "spoilt.npy");
    ROWS(run(Q_K_V MASK "MINE=common/data/o.npy", ALL), 0, ATTENTION_ROWS, "data/o.npy");
    ROWS(run(Q_K_V "MINE=common/data/v.npy", "04_four 05_five"), 1, ATTENTION_ROWS, "data/v.npy");
    ROWS(run(Q_K_V MASK "MINE=common/data/o.npy", "01_one"), 0, "data/o.npy");
    refuses(run("MINE=@/none.npy", ALL), "none.npy: ");
    refuses(run(Q_K_V "MINE=@/y.npy", ALL), "y.npy: expected the shape of the input");
}

TEST(compare_script, asks_every_stage_for_the_same)
{
    set_up();
    command_run("cp common/data/q.npy '@/a q.npy'");
    ROWS(run("Q='@/a q.npy' K=common/data/k.npy V=common/data/v.npy " MASK
             "OPTIONS='--window -1,-1 --verify=all'",
             ALL),
         0, ATTENTION_ROWS);
    const char *const all =
        "/a q.npy --k common/data/k.npy --v common/data/v.npy --key-mask "
        "common/data/key_mask.npy --window -1,-1 --verify=all --quiet --output ";
    const char *const asked[] = { "04_four --q ",
                                  all,
                                  "05_five --step list",
                                  "05_five --step masks --q ",
                                  all,
                                  "05_five --step tiles --q ",
                                  all,
                                  NULL };
    const struct command c = command_run("cat @/build/asked");
    const char *const missing = missing_part(c.out, asked);
    cr_assert(!missing && !strstr(c.out, "block_matmul"), "expected \"%s\" in: %s", missing, c.out);
}

TEST(compare_script, asks_nobody_where_the_input_cannot_be_used)
{
    set_up();
    refuses_at_once(run("INPUT=common/data/scores.npy " Q_K_V, ALL),
                    "INPUT: expected scores or an att");
    refuses_at_once(run("Q=common/data/q.npy", ALL), "--k: expected all of --q, --k and --v");
    refuses_at_once(run("V=common/data/v.npy", ALL), "--q: expected all of --q, --k and --v");
    refuses_at_once(run("K=common/data/k.npy", ALL), "--q: expected all of --q, --k and --v");
    refuses_at_once(run("MASK=common/data/q.npy", ALL), "q.npy: expected a mask");
    refuses_at_once(run(Q_K_V "OPTIONS='--window *'", ALL), "found '*'");
    refuses_at_once(run(Q_K_V "OPTIONS='--lse @/lse.npy'", ALL), "--lse: expected only options");
    const struct command c = run("OPTIONS=--help", ALL);
    cr_assert(c.status == 0 && strstr(c.out, "usage: "), "status %d: %s", c.status, c.out);
    cr_assert(!command_made("build/asked"), "a stage was asked");
}

TEST(compare_script, believes_no_stage_that_wrote_nothing)
{
    set_up();
    ROWS(run("", ALL), 0, SOFTMAX_ROWS, ATTENTION_ROWS);  // keeps outputs
    command_file("build/mute", "", 0);
    refuses(run(MASK, "04_four"), "04_four: expected an output, found status 0");
    command_file("build/status", "2", 1);
    refuses(run(MASK, "04_four"), "no stage can do what is asked");
    ROWS(run(MASK "MINE=common/data/o.npy " Q_K_V, "04_four"), 0, "04_four.npy", "data/o.npy");
    command_run("rm @/build/mute; echo 3 >@/build/status");
    refuses(run(MASK, "04_four"), "04_four: expected an output, found status 3");
    cr_assert(run("", "01_one").status == 2, "a softmax stage with status 3 passed");
    command_run("rm @/build/status @/build/y.npy @/build/stages/*");
    const struct command c = run("", ALL);
    cr_assert(c.status == 2 && !strstr(c.out, "04_four"), "it went on: %s", c.out);
}

TEST(compare_script, ends_with_the_worse_of_two_verdicts)
{
    set_up();
    command_run("cp @/spoilt.npy @/build/y.npy");
    ROWS(run("", ALL), 1, SOFTMAX_ROWS, ATTENTION_ROWS);
    command_run("cp @/y.npy @/build; cp common/data/v.npy @/build/o.npy; echo 1 >@/build/status");
    ROWS(run("", ALL), 1, SOFTMAX_ROWS, ATTENTION_ROWS);
}
