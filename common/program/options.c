#include "common/program/options.h"

#include "common/cpu/memory.h"
#include "common/program/option_table.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *options_program_path = "";
const char *options_excluded_names = "";
const char *options_outputs[OPTION_ROWS + 1];

void options_flush(void)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        options_fail("standard output", "expected to be able to write it, found: %s",
                     errno ? strerror(errno) : "an error");
}

bool option_taken(const struct program *program, const struct option_row *row)
{
    return row->chapters >> program->chapter & 1;
}

bool options_generated(const struct options *o)
{
    return o->batch || o->heads || o->kv_heads || o->n_q || o->n_k || o->d || o->rows || o->cols ||
           o->seed_given;
}

/* Checks options that are valid only with another, or only without it. */
static void check_partners(const struct options *o)
{
    const bool all = o->q && o->k && o->v;
    if ((o->q || o->k || o->v) && !all)
        options_fail(!o->q   ? "--q"
                     : !o->k ? "--k"
                             : "--v",
                     "expected all of --q, --k and --v, or none of them");
    if ((all || o->input) && options_generated(o))
        options_fail(all ? "--q" : "--input",
                     "does not go with options of a generated input, such as --seed");
    if (o->dropout_seed_given && !o->dropout_given)
        options_fail("--dropout-seed", "expected --dropout too");
    if (o->mask_rows && !o->block_mask)
        options_fail("--mask-block", "expected --block-mask too");
    if (o->dO && !o->q)
        options_fail("--do", "expected --q, --k and --v too");
    if (o->sram && (o->br || o->bc))
        options_fail("--sram", "chooses the tiles itself, so it does not go with %s",
                     o->br ? "--br" : "--bc");
}

void options_program(const struct program *program, const char *path)
{
    options_program_path = path;
    program_name = program->name;
}

uint64_t option_whole_number(const char *option, const char *text, uint64_t least, uint64_t most)
{
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end || errno || value < least || value > most)
        options_fail(option, "expected a whole number from %llu to %llu, found '%s'",
                     (unsigned long long)least, (unsigned long long)most, text);
    return value;
}

static void option_take(struct options *options, const struct option_row *row, const char *text)
{
    char option[40];
    snprintf(option, sizeof option, "--%s", row->name);
    void *field = (char *)options + row->field;
    const char *const value = text ? text : "";  // flags have none
    switch (row->kind) {
    case FLAG:
        *(bool *)field = true;
        break;
    case COUNT:
        *(size_t *)field = (size_t)option_whole_number(option, value, 1, row->most);
        break;
    case NAME:
        if (!*value)
            options_fail(option, "expected a name, found ''");
        *(const char **)field = value;
        break;
    default:
        option_take_other(options, row, option, text);
    }
}

/* The option that `word` begins with, up to its end or "="; NULL if the program has none such. */
static const struct option_row *row_of(const struct program *program, const char *word)
{
    const size_t length = strcspn(word, "=");
    for (const struct option_row *row = option_rows; row < option_rows + OPTION_ROWS; row++)
        if (option_taken(program, row) && length == strlen(row->name) + 2 &&
            strncmp(word, "--", 2) == 0 && strncmp(word + 2, row->name, length - 2) == 0)
            return row;
    return NULL;
}

struct options options_parse(const struct program *program, int argc, char **argv)
{
    struct options options = { .seed = 1, .window_left = -1, .window_right = -1 };
    options_program(program, argv[0]);
    memset(options_outputs, 0, sizeof options_outputs);
    for (int k = 1; k < argc; k++) {
        const char *const word = argv[k], *value = strchr(word, '=');
        const struct option_row *row = row_of(program, word);
        if (*word != '-')
            options_fail(word, "expected an option, which begins with --");
        if (!row || (value && !row->argument))
            row = option_unknown(program, word);
        if (strcmp(row->name, "help") == 0)
            options_help(program);
        if (value)
            value++;
        else if (row->argument && *row->argument != '[' && !(value = argv[++k]))
            options_fail(word, "expected a value after it");
        option_take(&options, row, value);
    }
    if (options.story && argc > 3)
        options_fail("--story", "expected no other option with it");
    check_partners(&options);
    if (options_outputs[0])
        options_check_outputs(program, &options);
    if (!options.mask_rows)
        options.mask_rows = options.mask_cols = 64;
    if (options.exclude)
        options_excluded_names = options.exclude;
    return options;
}
