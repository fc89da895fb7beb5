#define _XOPEN_SOURCE 700
#include "common/tests/command_line.h"

#include "common/problem/attention_input.h"
#include "common/program/attention_load.h"
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct options command_line(int chapter, const char *line)
{
    static char text[16][600];
    static struct program program = { .name = "05_test", .summary = "a test", .example = "" };
    char *words[18] = { (char *)"build/05_test" };
    int count = 1;
    program.chapter = chapter;
    for (const char *c = line; *c; c += strspn(c, " ")) {
        const int length = (int)strcspn(c, " "), plain = (int)strcspn(c, "@ ");
        char *word = text[count - 1];
        if (plain < length)
            snprintf(word, sizeof text[0], "%.*s%s%.*s", plain, c, command_folder(),
                     length - plain - 1, c + plain + 1);
        else
            snprintf(word, sizeof text[0], "%.*s", length, c);
        if (strcmp(word, "''") == 0)
            *word = '\0';
        for (char *gap; (gap = strchr(word, '~'));)
            *gap = ' ';
        words[count++] = word;
        c += length;
    }
    return options_parse(&program, count, words);
}

/*
 * Called by the leak sanitizer. In a child it mistakes the parent's stack for its own and complains
 * on standard error.
 */
static bool in_child;
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return in_child;
}

struct said command_line_said(int chapter, const char *line, int stream, bool loads)
{
    struct said said = { 0 };
    int ends[2], status = 0;
    command_folder();
    fflush(NULL);
    cr_assert(pipe(ends) == 0, "no pipe");
    const pid_t pid = fork();
    cr_assert(pid >= 0, "no child");
    if (pid == 0) {
        in_child = true;
        dup2(ends[1], stream);
        close(ends[0]);
        close(ends[1]);
        const struct options options = command_line(chapter, line);
        if (loads) {
            struct attention_input input = attention_input_load(&options);
            attention_input_free(&input);
        }
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; (got = read(ends[0], said.text + used, sizeof said.text - 1 - used)) > 0;)
        used += (size_t)got;
    close(ends[0]);
    cr_assert(waitpid(pid, &status, 0) == pid, "the child is lost");
    said.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return said;
}

void command_line_refused(int chapter, const char *line, bool loads, const char *part)
{
    const int before = command_files();
    const struct said said = command_line_said(chapter, line, STDERR_FILENO, loads);
    cr_assert(said.status == EXIT_USAGE, "%s: status %d, expected 2; it said: %s", line,
              said.status, said.text);
    cr_assert(strncmp(said.text, "05_test: ", 9) == 0 && is_one_line_with(said.text, part),
              "%s: expected one line with \"%s\", it said: %s", line, part, said.text);
    cr_assert(command_files() == before, "%s: left a file behind", line);
}
