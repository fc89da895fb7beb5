/*
 * Between the files of options.h: which options there are, which chapters take them, and what
 * values they accept.
 */
#ifndef COMMON_OPTION_TABLE_H
#define COMMON_OPTION_TABLE_H

#include "common/program/options.h"

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

/* Does the program take the option of this row? */
bool option_taken(const struct program *program, const struct option_row *row);

/*
 * --step for its old name, --kernel. Exits for all other words; names an option that is
 * at most two letters away.
 */
const struct option_row *option_unknown(const struct program *program, const char *word);

/* Takes a value that is more than a flag, a count or a name; `option` is "--NAME". */
void option_take_other(struct options *options, const struct option_row *row, const char *option,
                       const char *text);

/* A whole number written in digits and nothing else, `least` to `most`. */
uint64_t option_whole_number(const char *option, const char *text, uint64_t least, uint64_t most);

/* The value of --block-mask: "band:W", "random:DENSITY:SEED", or else a file's name. */
enum block_mask_kind { BLOCK_MASK_FILE, BLOCK_MASK_BAND, BLOCK_MASK_RANDOM };
struct block_mask_source {
    enum block_mask_kind kind;
    size_t width;    // of a band
    double density;  // of a random mask
    uint64_t seed;
};
struct block_mask_source block_mask_source(const char *text);

/* --help: prints the options, and exits. */
_Noreturn void options_help(const struct program *program);

/* Exits unless all outputs can be written and are no inputs. */
void options_check_outputs(const struct program *program, const struct options *options);

extern const char *options_program_path;
extern const char *options_excluded_names;  // the value of --exclude, or ""

#endif
