/*
 * The values that options take, read strictly: a number has nothing before or after it, and is in
 * its range. What is wrong ends the program with one line that names the option and what was
 * expected.
 */
#ifndef COMMON_OPTION_VALUES_H
#define COMMON_OPTION_VALUES_H

#include "common/program/option_table.h"
#include "common/program/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes the value `text`, NULL if there is none, of the option in this row. */
void option_take(struct options *options, const struct option_row *row, const char *text);

/* The same where that is more than a flag, a count or a name; `option` is "--NAME". */
void option_take_other(struct options *options, const struct option_row *row, const char *option,
                       const char *text);

/* A whole number written in digits and nothing else, `least` to `most`. */
uint64_t option_whole_number(const char *option, const char *text, uint64_t least, uint64_t most);

/* A number from 0 to 1; 1 itself is refused if it must be `below_one`. */
double option_fraction(const char *option, const char *text, bool below_one);

/* Two values with a separator between them, neither longer than a number needs. */
struct option_pair {
    char left[24], right[24];
};

/* Takes `text` apart at its first `separator`. False if there is none, or a side is too long. */
bool option_pair(const char *text, char separator, struct option_pair *pair);

/* The value of --block-mask: "band:W", "random:DENSITY:SEED", or else a file's name. */
enum block_mask_kind { BLOCK_MASK_FILE, BLOCK_MASK_BAND, BLOCK_MASK_RANDOM };
struct block_mask_source {
    enum block_mask_kind kind;
    size_t width;    // of a band
    double density;  // of a random mask
    uint64_t seed;
};

/* Reads `text`, the value of `option`. Ends the program if it is none of the three. */
struct block_mask_source block_mask_source(const char *option, const char *text);

#endif
