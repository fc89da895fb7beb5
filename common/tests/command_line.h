/*
 * Parses a chapter's command line without its program, bad ones in a child that exits. In a line
 * "@" is the test's folder (command.h), at most once in a word, "~" a space, and '' an empty word.
 */
#ifndef COMMON_TESTS_COMMAND_LINE_H
#define COMMON_TESTS_COMMAND_LINE_H

#include "common/program/options.h"

/* options_parse of the line. Valid until the next call. */
struct options command_line(int chapter, const char *line);

struct said {
    int status;       // exit status, or 128 + signal
    char text[8000];  // of the captured stream
};

/* Captures `stream` of a child that parses the line and, if `loads`, loads its input. */
struct said command_line_said(int chapter, const char *line, int stream, bool loads);

/* Such a child exits with 2 and one line that contains `part`, and leaves no file. */
void command_line_refused(int chapter, const char *line, bool loads, const char *part);

#endif
