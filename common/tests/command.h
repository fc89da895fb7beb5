/*
 * Running a chapter's program or a script as a reader would, and looking at what it says.
 */
#ifndef COMMON_TESTS_COMMAND_H
#define COMMON_TESTS_COMMAND_H

#include "common/files/npy.h"

#include <stdbool.h>

struct command {
    int status;       // exit status, or 128 + signal
    char out[16000];  // standard output
    char err[2000];   // standard error
};

/* Is this the address sanitizer's build, whose malloc ends the program where it has no room? */
bool command_is_sanitized(void);

/* A fresh folder for a test's files, without a slash at its end; it goes when the process does. */
const char *command_folder(void);

/*
 * Runs `words` by the shell, in the current folder, with its standard input empty. "@" in `words`
 * stands for the fresh folder.
 */
struct command command_run(const char *words);

/* The same of `program`, a name like "03_online_softmax", with these arguments. */
struct command program_run(const char *program, const char *arguments);

/* The same of a child of this process that calls work(with): its status, and its standard error. */
struct command command_child(void (*work)(void *with), void *with);

/* Such a child aborts, and its standard error is one line that holds `part`. */
void child_aborts(void (*work)(void *with), void *with, const char *part);

/* Is this one line, of printable characters, that holds `part`? */
bool is_one_line_with(const char *text, const char *part);

/* The first of the parts, which end with NULL, that does not follow those before it; or NULL. */
const char *missing_part(const char *text, const char *const parts[]);

/* Writes `bytes` bytes to `name` in the fresh folder. */
void command_file(const char *name, const void *content, unsigned bytes);

/* A text; and a program for the shell, which can be run. */
void command_text(const char *name, const char *text);
void command_script(const char *name, const char *text);

/* Writes an array there, as a .npy file. */
void command_array(const char *name, enum npy_type type, int dims, const size_t *shape,
                   const void *data);

/* Writes a .npy file of zeros in this shape there. */
void command_zeros(const char *name, enum npy_type type, int dims, const size_t *shape);

/* What `words` run ends with `status`, and prints the parts, in this order; they end with NULL. */
void script_prints(const char *words, int status, const char *const parts[]);

/* What `words` run ends with status 2 and one line on standard error that holds `part`. */
void script_refuses(const char *words, const char *part);

/*
 * Bad arguments: `program`, a name like "03_online_softmax", ends with status 2 and one line of its
 * own that holds `part`, and leaves nothing new in the fresh folder.
 */
void command_refused(const char *program, const char *arguments, const char *part);

/*
 * In each mode of `program` each output option, as "--csv", is written and the status 0, or refused in a line and the status
 * 2, and no file is there. Both lists end with NULL.
 */
void command_outputs(const char *program, const char *const modes[], const char *const outputs[]);

/*
 * `program` ends with 0, has found nothing wrong, says nothing on standard error, and keeps to 100
 * columns, but for the one line of --quiet. If `parts` is not NULL, what it prints holds them, in
 * this order; they end with NULL.
 */
struct command command_verified(const char *program, const char *arguments,
                                const char *const parts[]);

/* How many lines of the text have so many fields, which commas separate? */
int lines_of_fields(const char *text, int fields);

/* Reads the array `name` in the fresh folder: it must be of float32 and have this shape. */
struct npy command_written(const char *name, int dims, const size_t *shape);

/* Is there a file called `name` in the fresh folder? How many files are there? */
bool command_made(const char *name);
int command_files(void);

#endif
