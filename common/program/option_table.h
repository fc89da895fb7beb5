/*
 * The table of options: which there are, which chapters take them, and what values they accept.
 */
#ifndef COMMON_OPTION_TABLE_H
#define COMMON_OPTION_TABLE_H

#include "common/program/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What kind of value an option takes, where that is more than its name says. */
enum option_kind {
    FLAG,
    INPUT,   // a file that is read
    OUTPUT,  // a file that is written
    NAME,
    COUNT,
    SEED,
    SCALE,
    SOFTCAP,
    DROPOUT,
    CAUSAL,
    WINDOW,
    BLOCK_MASK,  // a file that is read, or the name of a mask
    MASK_BLOCK,
    VERIFY,
    TRACE,
    DEVICE,
    DTYPE,
};

/* The largest number that counts and widths accept. */
enum { OPTION_MOST = 1000000000 };

struct option_row {
    const char *name;
    const char *argument;  // NULL: none; in brackets: may be left out
    enum option_kind kind;
    int chapters;   // bit n is set: chapter n takes it
    size_t field;   // where in struct options the value goes
    uint64_t most;  // COUNT: 1 to this many
    const char *help;
};

enum { OPTION_ROWS = 56 };
extern const struct option_row option_rows[OPTION_ROWS];

// ---- between the files of options.h ---------------------------------------------------------------

/* Does the program take the option of this row? */
bool option_taken(const struct program *program, const struct option_row *row);

/*
 * Exits because `word`, such as "--causl", is not one of its options. Names one that is at most two
 * letters away.
 */
_Noreturn void option_refuse(const struct program *program, const char *word);

/* Prints the program's options. */
void options_help(const struct program *program);

extern const char *options_program_name, *options_program_path;

/* The value of --exclude, or "". */
const char *options_names_excluded(void);

#endif
