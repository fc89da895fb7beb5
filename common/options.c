#define _POSIX_C_SOURCE 200809L
#include "options.h"

#include "whole_file.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { FLAG, INPUT, OUTPUT, COUNT, SEED };

/* Chapters are bits of a set, so that a row can say which of them take it. */
enum { SOFTMAX = 1 << 1 | 1 << 2 | 1 << 3, ALL = ~0 };

static const struct row {
    const char *name, *argument;
    enum kind kind;
    int chapters;
    size_t field;   // where in struct options the value goes
    uint64_t most;  // COUNT: 1 to this many
    const char *help;
} rows[] = {
    { "input", "X.npy", INPUT, SOFTMAX, offsetof(struct options, input), 0,
      "scores of shape (N) or (R, N), float16, 32 or 64; default: the course's real scores" },
    { "output", "Y.npy", OUTPUT, SOFTMAX, offsetof(struct options, output), 0,
      "write the result there, float32, in the input's shape" },
    { "rows", "R", COUNT, SOFTMAX, offsetof(struct options, rows), 1000000000,
      "instead of --input: R rows of random normal numbers (default 164)" },
    { "cols", "N", COUNT, SOFTMAX, offsetof(struct options, cols), 1000000000,
      "… of N each (default 164)" },
    { "seed", "S", SEED, ALL, offsetof(struct options, seed), 0,
      "… drawn with this seed (default 1)" },
    { "trace", NULL, FLAG, ALL, offsetof(struct options, trace), 0,
      "print the state after every step, for inputs of at most 64 numbers" },
    { "traffic", NULL, FLAG, ALL, offsetof(struct options, traffic), 0,
      "print the counted accesses to slow memory and nothing else" },
    { "bench", NULL, FLAG, ALL, offsetof(struct options, bench), 0,
      "measure the speed, with this machine's peak beside it" },
    { "csv", "FILE", OUTPUT, ALL, offsetof(struct options, csv), 0,
      "write the results there as comma-separated values too" },
    { "quiet", NULL, FLAG, ALL, offsetof(struct options, quiet), 0,
      "print one line: what was verified" },
    { "help", NULL, FLAG, ALL, 0, 0, "print this" },
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static const char *program_name = "course";
static const char *program_path = "";

void options_fail(const char *what, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    fprintf(stderr, "%s: %s: ", program_name, what);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(EXIT_USAGE);
}

static bool takes(const struct program *program, const struct row *row)
{
    return row->chapters >> program->chapter & 1;
}

static void print_help(const struct program *program)
{
    printf("%s: %s\n\n", program->name, program->summary);
    printf("usage: build/%s [options]\n\n", program->name);
    for (const struct row *row = rows; row < rows + ROWS; row++) {
        char left[40];
        snprintf(left, sizeof left, "--%s%s%s", row->name, row->argument ? " " : "",
                 row->argument ? row->argument : "");
        if (takes(program, row))
            printf("  %-16s %s\n", left, row->help);
    }
    printf("\nexample: build/%s %s\n", program->name, program->example);
    printf("exit status: 0 verified, 1 disagrees with the reference or the previous stage, "
           "2 unusable input\n");
}

/* A whole number written in digits and nothing else, `least` to `most`. */
static uint64_t whole_number(const char *option, const char *text, uint64_t least, uint64_t most)
{
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end || errno || value < least || value > most)
        options_fail(option, "expected a whole number from %llu to %llu, found '%s'",
                     (unsigned long long)least, (unsigned long long)most, text);
    return value;
}

static void take(struct options *options, const struct row *row, const char *text)
{
    char option[40];
    snprintf(option, sizeof option, "--%s", row->name);
    void *field = (char *)options + row->field;
    switch (row->kind) {
    case FLAG:
        *(bool *)field = true;
        break;
    case INPUT:
    case OUTPUT:
        if (!*text)
            options_fail(option, "expected a file's name, found nothing");
        *(const char **)field = text;
        break;
    case COUNT:
        *(size_t *)field = (size_t)whole_number(option, text, 1, row->most);
        break;
    case SEED:
        *(uint64_t *)field = whole_number(option, text, 0, UINT64_MAX);
        options->seed_given = true;
        break;
    }
}

/* The file that a row's option was given, or NULL. */
static const char *file_of(const struct options *options, const struct row *row, enum kind kind)
{
    return row->kind == kind ? *(const char *const *)((const char *)options + row->field) : NULL;
}

/* Every output can be written, and is neither an input nor another output. */
static void check_files(const struct options *options)
{
    for (const struct row *out = rows; out < rows + ROWS; out++) {
        const char *output = file_of(options, out, OUTPUT);
        struct file_error error;
        if (output && !whole_file_writable(output, &error))
            options_fail(output, "%s", error.text);
        for (const struct row *row = rows; row < rows + ROWS && output; row++) {
            const char *input = file_of(options, row, INPUT);
            const char *other = row < out ? file_of(options, row, OUTPUT) : NULL;
            if (input && same_file(output, input))
                options_fail(output, "expected an output that is not the input --%s", row->name);
            if (other && same_file(output, other))
                options_fail(output, "expected one output a file, but --%s writes there too",
                             row->name);
        }
    }
}

/* Options that contradict one another. */
static void check_combinations(const struct options *options)
{
    const char *made = options->rows         ? "--rows"
                       : options->cols       ? "--cols"
                       : options->seed_given ? "--seed"
                                             : NULL;
    if (options->input && made)
        options_fail(made, "makes an input of its own, so it does not go with --input");
}

void options_program(const struct program *program, const char *path)
{
    program_name = program->name;
    program_path = path;
}

struct options options_parse(const struct program *program, int argc, char **argv)
{
    struct options options = { .seed = 1 };
    struct option names[ROWS + 1] = { { 0 } };
    const struct row *row_of[ROWS];
    int count = 0;
    for (const struct row *row = rows; row < rows + ROWS; row++) {
        if (!takes(program, row))
            continue;
        row_of[count] = row;
        names[count++] = (struct option){
            .name = row->name,
            .has_arg = row->argument ? required_argument : no_argument,
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
            print_help(program);
            exit(EXIT_VERIFIED);
        }
        take(&options, row_of[which], optarg);
    }
    if (optind < argc)
        options_fail(argv[optind], "expected an option, which begins with --");
    check_combinations(&options);
    check_files(&options);
    return options;
}

const char *options_data(const char *name)
{
    static char path[4096];
    const char *slash = strrchr(program_path, '/');
    const int folder = slash ? (int)(slash - program_path) : 0;
    snprintf(path, sizeof path, "common/data/%s", name);
    if (access(path, R_OK) == 0)
        return path;
    snprintf(path, sizeof path, "../common/data/%s", name);
    if (access(path, R_OK) == 0)
        return path;
    snprintf(path, sizeof path, "%.*s%s../common/data/%s", folder, program_path, slash ? "/" : "",
             name);
    if (access(path, R_OK) == 0)
        return path;
    snprintf(path, sizeof path, "common/data/%s", name);
    options_fail(path, "expected it below the current folder, the course's; found nothing");
}
