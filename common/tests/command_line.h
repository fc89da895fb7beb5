/*
 * The command line of a chapter, read without its program: what is good in the test's own process,
 * what is bad in a child, which it ends.
 *
 * In the words of a line "@" stands for the test's folder (command.h), at most once in each, "~" for
 * a space, and '' is an empty word.
 */
#ifndef COMMON_TESTS_COMMAND_LINE_H
#define COMMON_TESTS_COMMAND_LINE_H

#include "common/program/options.h"

/* What options_parse makes of the line. Its words are good until the next call. */
struct options command_line(int chapter, const char *line);

struct said {
    int status;       // exit status, or 128 + signal
    char text[8000];  // what stood in the stream that was listened to
};

/* What a child writes to `stream` that reads the line, and then loads its input if `loads`. */
struct said command_line_said(int chapter, const char *line, int stream, bool loads);

/* Such a child ends with status 2 and one line that holds `part`, and leaves no file behind. */
void command_line_refused(int chapter, const char *line, bool loads, const char *part);

#endif
