#ifndef COMMON_TESTS_COMMAND_H
#define COMMON_TESTS_COMMAND_H

#include "common/files/npy.h"

#include <stdbool.h>

struct command {
    int status;       // exit status, or 128 + signal
    char out[16000];  // standard output
    char err[2000];   // standard error
};

/* In address sanitizer builds malloc exits if memory is short. */
bool command_is_sanitized(void);

/* A fresh folder for the test's files, without a trailing slash; removed when the process exits. */
const char *command_folder(void);

/*
 * Runs `words` in the shell, in the current folder, with empty standard input. "@" is the fresh
 * folder.
 */
struct command command_run(const char *words);

/* The same for `program`, a name like "03_online_softmax". */
struct command program_run(const char *program, const char *arguments);

/* The status and standard error of a child process that calls work(with). */
struct command command_child(void (*work)(void *with), void *with);

/* Such a child aborts with one line on standard error that contains `part`. */
void child_aborts(void (*work)(void *with), void *with, const char *part);

/* Is this one line of printable characters that contains `part`? */
bool is_one_line_with(const char *text, const char *part);

/* The first of the parts (NULL-terminated) that is missing or out of order; or NULL. */
const char *missing_part(const char *text, const char *const parts[]);

void command_file(const char *name, const void *content, unsigned bytes);

/* Writes a text file; an executable shell script. */
void command_text(const char *name, const char *text);
void command_script(const char *name, const char *text);

void command_array(const char *name, enum npy_type type, int dims, const size_t *shape,
                   const void *data);

void command_zeros(const char *name, enum npy_type type, int dims, const size_t *shape);

/* Running `words` exits with `status` and prints the parts (NULL-terminated) in order. */
void script_prints(const char *words, int status, const char *const parts[]);

/* Running `words` exits with 2 and one line on standard error that contains `part`. */
void script_refuses(const char *words, const char *part);

/*
 * Bad arguments: `program` exits with 2 and one line that contains `part`, and leaves no new file
 * in the fresh folder.
 */
void command_refused(const char *program, const char *arguments, const char *part);

/*
 * In each mode, `program` writes each output option ("--csv") and exits with 0, or refuses it in
 * one line, exits with 2 and leaves no file. Both lists are NULL-terminated.
 */
void command_outputs(const char *program, const char *const modes[], const char *const outputs[]);

/*
 * `program` exits with 0, reports no error, has empty standard error, keeps to 100 columns (except
 * with --quiet), and prints `parts` (NULL or NULL-terminated) in order.
 */
struct command command_verified(const char *program, const char *arguments,
                                const char *const parts[]);

/* `program --story NAME` does so with these parts, and the list has NAME. */
void command_story(const char *program, const char *name, const char *const parts[]);

int lines_of(const char *text);
int lines_of_fields(const char *text, int fields);

/* Reads `name` in the fresh folder: it must be float32 with this shape. */
struct npy command_written(const char *name, int dims, const size_t *shape);

/* Does the fresh folder have this file? How many files has it? */
bool command_made(const char *name);
int command_files(void);

#endif
