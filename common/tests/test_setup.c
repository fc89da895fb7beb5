/*
 * setup.sh on a fake Debian without Criterion and install rights: apt-get has two packages, one
 * cached. Also without Python.
 */
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char MACHINE[] =
    "mkdir @/bin && cd @/bin && for tool in sh sed mktemp rm mkdir mv dirname tail head printf "
    "touch find readlink ln; do "
    "ln -s \"$(command -v $tool)\" $tool; done\n"
    "tool() { printf '#!/bin/sh\\n%s\\n' \"$2\" >$1; chmod +x $1; }\n"
    "tool cc 'for a; do case $a in *try.c) while read -r line; do case $line in "
    "*criterion*) exit 1 ;; esac; done <\"$a\" ;; esac; done'\n"
    "tool c++ ''; tool id 'echo 1000'\n"
    "tool apt-get 'case $1 in -s) printf \"Inst %s (2 Debian [all])\\n\" libone libtwo; echo Conf "
    "libone;; "
    "--print-uris) echo \"'\"'\"'http://d/t.deb'\"'\"' libtwo_2_all.deb 9\";; "
    "download) shift; for p; do touch $p.deb; done ;; esac'\n"
    "tool dpkg 'mkdir -p usr/lib && touch usr/lib/$2.so'\n";

static struct command set_up(const char *change, const char *need)
{
    char words[3000];
    snprintf(
        words, sizeof words,
        "script=$PWD/common/setup.sh\n%s%s\ncd .. && PATH=@/bin CC=cc CXX=c++ sh \"$script\" %s",
        MACHINE, change, need);
    return command_run(words);
}

TEST(setup, says_whom_to_ask_and_what_to_do_without)
{
    const char *const parts[] = {
        "Criterion, which the tests are written in", "administrator to run: apt-get install",
        "libcriterion-dev\n",
        "Without an administrator, for this folder alone: sh common/setup.sh unpack\n", NULL
    };
    const struct command c = set_up("", "test");
    cr_assert(c.status == 2 && !missing_part(c.out, parts), "status %d: %s%s", c.status, c.out,
              c.err);
    cr_assert(!command_made("build"), "something was written");
}

TEST(setup, refuses_a_word_that_it_does_not_know)
{
    static const char *const words[] = { "", "nosuch" };
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        char script[100];
        snprintf(script, sizeof script, "sh common/setup.sh %s", words[k]);
        const struct command c = command_run(script);
        cr_assert(c.status == 2 && !c.out[0] && is_one_line_with(c.err, "expected run, test, "),
                  "%s: status %d: %s%s", script, c.status, c.out, c.err);
    }
}

TEST(setup, names_a_compiler_that_is_not_there)
{
    static const char *const wrong[] = { "CC=nosuch", "CXX=nosuch", "CC=\"nosuch -m64\"" };
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        command_run("rm -rf @/bin");
        char change[100];
        snprintf(change, sizeof change,
                 "cd .. && exec env -u CC -u CXX %s PATH=@/bin sh $script run", wrong[k]);
        const struct command c = set_up(change, "run");
        cr_assert(c.status == 2 && is_one_line_with(c.err, "no command nosuch here"),
                  "%s: status %d: %s%s", wrong[k], c.status, c.out, c.err);
    }
}

TEST(setup, repeats_what_a_compiler_says_that_cannot_compile)
{
    const struct command c =
        set_up("tool mine 'echo no such option; exit 1'; cd .. && exec env -u CC "
               "CXX=mine PATH=@/bin sh $script run",
               "run");
    cr_assert(c.status == 2 &&
                  is_one_line_with(c.err, "CXX=mine: expected a compiler for c++17, but "
                                          "it said: no such option"),
              "status %d: %s%s", c.status, c.out, c.err);
}

TEST(setup, refuses_a_compiler_that_is_too_old_before_anything_is_installed)
{
    const struct command c = set_up(
        "tool cc 'case $1 in --version) echo gcc 4.2.1; exit ;; esac; for a; do case $a in "
        "*try.c) while read -r line; do case $line in *vector*) exit 1 ;; esac; done <\"$a\" "
        ";; esac; done'",
        "test");
    cr_assert(c.status == 2 && is_one_line_with(c.err, "gcc 4.2.1: the course needs gcc 10") &&
                  !c.out[0],
              "status %d: %s%s", c.status, c.out, c.err);
}

TEST(setup, does_not_promise_to_unpack_a_compiler)
{
    const struct command c = set_up("rm c++", "test");
    cr_assert(c.status == 2 && strstr(c.out, "g++ libcriterion-dev\nOnce there is a compiler: ") &&
                  !strstr(c.out, "Without an administrator"),
              "status %d: %s%s", c.status, c.out, c.err);
}

TEST(setup, refuses_a_folder_that_cannot_be_written_to)
{
    static const char *const places[] = { "export BUILD=@/bin/sh/build", "export BUILD=@/bin/sh",
                                          "mkdir -m 555 @/shut; export BUILD=@/shut/a/build" };
    const size_t count = geteuid() == 0 ? 2 : 3;  // root may write everywhere
    for (size_t k = 0; k < count; k++) {
        command_run("rm -rf @/bin");
        const struct command c = set_up(places[k], "run");
        cr_assert(c.status == 2 && is_one_line_with(c.err, "expected a folder that you may write"),
                  "%s: status %d: %s%s", places[k], c.status, c.out, c.err);
    }
}

TEST(setup, unpacks_every_package_that_is_wanted)
{
    const struct command c = set_up("", "unpack");
    cr_assert(c.status == 0 && command_made("build/packages/usr/lib/libone.deb.so") &&
                  command_made("build/packages/usr/lib/libtwo.deb.so"),
              "status %d: %s%s", c.status, c.out, c.err);
    cr_assert(!command_made("build/packages/libone.deb") && !command_made("build/packages.part"),
              "something was left behind");
}

TEST(setup, unpacks_no_link_to_a_library_that_is_not_there)
{
    const char *const link = "tool dpkg 'mkdir -p .@/lib && ln -sf %s .@/lib/libone.so'";
    char change[200];
    snprintf(change, sizeof change, link, "libone.so.3");
    const struct command dangling = set_up(change, "unpack");
    cr_assert(dangling.status == 2 && strstr(dangling.out, "libone.so points to nothing"),
              "status %d: %s%s", dangling.status, dangling.out, dangling.err);
    command_run("rm -rf @/bin && mkdir @/lib && touch @/lib/libone.so.3");
    const struct command c = set_up(change, "unpack");
    cr_assert(c.status == 0, "status %d: %s%s", c.status, c.out, c.err);
    const struct command there = command_run("cd @ && test -e build/packages$PWD/lib/libone.so");
    cr_assert(there.status == 0, "the link points to nothing");
}

TEST(setup, leaves_nothing_behind_of_what_it_could_not_unpack)
{
    static const char *const changes[] = {
        "tool dpkg 'test $2 != libtwo.deb && mkdir -p usr'",
        "tool apt-get 'test $1 = -s && exit 0'",
        "tool apt-get 'test $1 = -s && echo Inst libone'",
        "tool apt-get 'test $1 = -s && echo \"Inst libone (2)\"'",
        "tool c++ ''; rm c++",  // a compiler cannot be unpacked
    };
    for (size_t k = 0; k < sizeof changes / sizeof changes[0]; k++) {
        command_run("rm -rf @/bin @/build");
        const struct command c = set_up(changes[k], "unpack");
        cr_assert(c.status == 2 && strstr(c.out, "takes an administrator to run: apt-get install"),
                  "%s: status %d: %s%s", changes[k], c.status, c.out, c.err);
        cr_assert(!command_made("build/packages") && !command_made("build/packages.part"),
                  "%s: something was left behind", changes[k]);
    }
}

TEST(makefile, says_in_one_line_that_a_compiler_has_no_name)
{
    static const char *const empty[] = { "CC=", "CXX=" };
    for (size_t k = 0; k < sizeof empty / sizeof empty[0]; k++) {
        char words[100];
        snprintf(words, sizeof words, "env -u MAKEFLAGS -u MAKELEVEL make run %s BUILD=@/b",
                 empty[k]);
        const struct command c = command_run(words);
        cr_assert(c.status == 2 && is_one_line_with(c.err, "expected a compiler, but C"),
                  "%s: status %d: %s%s", words, c.status, c.out, c.err);
    }
}

TEST(makefile, has_scripts_write_numbers_with_a_point_in_any_language)
{
    const struct command c = command_run(
        "printf 'include Makefile\\nsay:\\n\\techo $$LC_ALL\\n' >@/say && "
        "env -u MAKEFLAGS LC_ALL=de_DE.UTF-8 LC_NUMERIC=de_DE.UTF-8 make -s -f @/say say");
    cr_assert(c.status == 0 && strcmp(c.out, "C\n") == 0, "status %d: %s%s", c.status, c.out,
              c.err);
}

TEST(setup, builds_nothing_for_a_python_that_is_not_there)
{
    command_script("python3", "#!/bin/sh\nexit 1\n");
    const char *const parts[] = { "no python3 with its module venv here",
                                  "skipped: python-check",
                                  "skipped: onnx-check",
                                  "no python3 with its module venv here",
                                  "skipped: minilm",
                                  "skipped: write_check",
                                  NULL };
    script_prints(
        "env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u PYTHON PATH=@:$PATH make python-check "
        "onnx-check minilm write-check BUILD=@/b",
        0, parts);
    cr_assert(!command_made("b/library"), "the library was built");
}
