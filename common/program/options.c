#define _POSIX_C_SOURCE 200809L
#include "common/program/options.h"

#include "common/cpu/memory.h"
#include "common/files/file.h"
#include "common/program/option_table.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *options_program_name = "course";
const char *options_program_path = "";
const char *options_excluded_names = "";
static const char *outputs[OPTION_ROWS + 1];  // the files of output options; NULL ends them

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

/* Collects the outputs, and checks that they can be written. */
static void check_outputs(const struct program *program, const struct options *options)
{
    size_t count = 0;
    for (const struct option_row *row = option_rows; row < option_rows + OPTION_ROWS; row++) {
        if (!option_taken(program, row) || row->kind != OUTPUT)
            continue;
        const char *const output = *(const char *const *)((const char *)options + row->field);
        struct file_error error;
        if (output && !file_writable(output, &error))
            options_fail(output, "%s", error.text);
        if (output)
            outputs[count++] = output;
    }
}

const char *options_output(size_t k)
{
    return outputs[k];
}

const char *options_single(const struct options *options)
{
    return options->profile ? "--profile" : outputs[0] != options->csv ? outputs[0] : NULL;
}

bool options_generated(const struct options *o)
{
    return o->batch || o->heads || o->kv_heads || o->n_q || o->n_k || o->d || o->rows || o->cols ||
           o->seed_given;
}

/* Requires an input from files or a generated one, not parts of both. */
static void check_input(const struct options *o)
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
}

/* Checks options that are valid only with another, or only without it. */
static void check_partners(const struct options *options)
{
    if (options->dropout_seed_given && !options->dropout_given)
        options_fail("--dropout-seed", "expected --dropout too");
    if (options->mask_rows && !options->block_mask)
        options_fail("--mask-block", "expected --block-mask too");
    if (options->dO && !options->q)
        options_fail("--do", "expected --q, --k and --v too");
    if (options->sram && (options->br || options->bc))
        options_fail("--sram", "chooses the tiles itself, so it does not go with %s",
                     options->br ? "--br" : "--bc");
}

void options_program(const struct program *program, const char *path)
{
    options_program_name = program->name;
    options_program_path = path;
    memory_program(program->name);
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

void option_take(struct options *options, const struct option_row *row, const char *text)
{
    char option[40];
    snprintf(option, sizeof option, "--%s", row->name);
    void *field = (char *)options + row->field;
    switch (row->kind) {
    case FLAG:
        *(bool *)field = true;
        break;
    case COUNT:
        *(size_t *)field = (size_t)option_whole_number(option, text, 1, row->most);
        break;
    case NAME:
        if (!*text)
            options_fail(option, "expected a name, found ''");
        *(const char **)field = text;
        break;
    default:
        option_take_other(options, row, option, text);
    }
}

struct options options_parse(const struct program *program, int argc, char **argv)
{
    struct options options = { .seed = 1, .window_left = -1, .window_right = -1 };
    struct option names[OPTION_ROWS + 1] = { { 0 } };
    const struct option_row *row_of[OPTION_ROWS];
    int count = 0, given = 0;
    for (const struct option_row *row = option_rows; row < option_rows + OPTION_ROWS; row++) {
        if (!option_taken(program, row))
            continue;
        row_of[count] = row;
        names[count++] = (struct option){
            .name = row->name,
            .has_arg = !row->argument          ? no_argument
                       : *row->argument == '[' ? optional_argument
                                               : required_argument,
        };
    }

    options_program(program, argv[0]);
    opterr = 0;
    for (;;) {
        int which = -1;
        const char *word = argv[optind < argc ? optind : argc];
        const int found = getopt_long(argc, argv, "+:", names, &which);
        if (found == -1)
            break;
        if (found == ':')
            options_fail(word, "expected a value after it");
        if (found != 0)
            options_fail(word, "expected an option of this chapter; --help lists them");
        if (strcmp(names[which].name, "help") == 0) {
            options_help(program);
            options_flush();
            exit(EXIT_VERIFIED);
        }
        option_take(&options, row_of[which], optarg);
        given++;
    }
    if (optind < argc)
        options_fail(argv[optind], "expected an option, which begins with --");
    if (options.story && given > 1)
        options_fail("--story", "expected no other option with it");
    check_input(&options);
    check_partners(&options);
    check_outputs(program, &options);
    if (!options.mask_rows)
        options.mask_rows = options.mask_cols = 64;
    if (options.exclude)
        options_excluded_names = options.exclude;
    return options;
}
