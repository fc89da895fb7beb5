#define _POSIX_C_SOURCE 200809L
#include "common/program/options.h"

#include "common/cpu/memory.h"
#include "common/files/file.h"
#include "common/program/option_table.h"
#include "common/program/option_values.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *program_name = "course";
static const char *program_path = "";
static const char *excluded = "";
static const char *outputs[OPTION_ROWS + 1];  // the files of output options; NULL ends them

/* A file's name, or a value that was given, may hold anything. */
static void say_in_one_line(const char *text)
{
    for (; *text; text++)
        fputc(iscntrl((unsigned char)*text) ? '?' : *text, stderr);
}

void options_fail(const char *what, const char *format, ...)
{
    char message[5000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fflush(stdout);
    fprintf(stderr, "%s: ", program_name);
    say_in_one_line(what);
    fputs(": ", stderr);
    say_in_one_line(message);
    fputc('\n', stderr);
    exit(EXIT_USAGE);
}

void options_skip(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: SKIPPED: ", program_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(EXIT_SKIPPED);
}

void options_flush(void)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        options_fail("standard output", "expected to be able to write it, found: %s",
                     errno ? strerror(errno) : "an error");
}

static bool takes(const struct program *program, const struct option_row *row)
{
    return row->chapters >> program->chapter & 1;
}

static void print_help(const struct program *program)
{
    printf("%s: %s\n\n", program->name, program->summary);
    printf("usage: build/%s [options]\n\n", program->name);
    bool has_devices = false;
    for (const struct option_row *row = option_rows; row < option_rows + OPTION_ROWS; row++) {
        if (!takes(program, row))
            continue;
        char left[40];
        const char *const argument = row->argument ? row->argument : "";
        snprintf(left, sizeof left, *argument == '[' ? "--%s[=%s" : "--%s %s", row->name,
                 argument + (*argument == '['));
        printf("  %-16s %s\n", left, row->help);
        has_devices = has_devices || row->kind == DEVICE;
    }
    printf("\nexample: build/%s %s\n", program->name, program->example);
    printf("exit status: 0 verified, 1 disagrees with the reference or the previous stage, "
           "2 unusable input\n"
           "             or a machine that lacks memory, threads or files");
    printf(has_devices ? ", %d no GPU for --device gpu\n" : "\n", EXIT_SKIPPED);
    puts("files: written last, when all is verified; with status 2 none is half-written");
}

/* The file that was given to the option of this row, which the chapter takes; else NULL. */
static const char *file_of(const struct program *program, const struct options *options,
                           const struct option_row *row, enum option_kind kind)
{
    const bool block_mask = row->kind == BLOCK_MASK && kind == INPUT;
    if (!takes(program, row) || !(row->kind == kind || block_mask))
        return NULL;
    const char *const name = *(const char *const *)((const char *)options + row->field);
    const bool made =
        block_mask && name && block_mask_source("--block-mask", name).kind != BLOCK_MASK_FILE;
    return made ? NULL : name;
}

/* Every output can be written, and is neither an input nor another output. */
static void check_files(const struct program *program, const struct options *options)
{
    for (const struct option_row *out = option_rows; out < option_rows + OPTION_ROWS; out++) {
        const char *output = file_of(program, options, out, OUTPUT);
        struct file_error error;
        if (output && !file_writable(output, &error))
            options_fail(output, "%s", error.text);
        for (const struct option_row *row = option_rows; row < option_rows + OPTION_ROWS && output;
             row++) {
            const char *input = file_of(program, options, row, INPUT);
            const char *other = row < out ? file_of(program, options, row, OUTPUT) : NULL;
            if (input && file_same(output, input))
                options_fail(output, "expected an output that is not the input --%s", row->name);
            if (other && file_same(output, other))
                options_fail(output, "expected one output a file, but --%s writes there too",
                             row->name);
        }
    }
}

const char *options_output(size_t k)
{
    return outputs[k];
}

void options_spare(const char *input)
{
    for (size_t k = 0; outputs[k]; k++)
        if (file_same(outputs[k], input))
            options_fail(outputs[k], "expected an output that is not the course's own input");
}

void options_no_run(const struct options *o, const char *mode)
{
    const char *const more = options_single(o) ? options_single(o)
                             : o->bench        ? "--bench"
                             : o->csv          ? "--csv"
                                               : NULL;
    if (more)
        options_fail(more, "expected a program that runs a step, and %s runs none", mode);
}

/* An input from files, or one made up: not parts of both. */
static void check_input(const struct options *options)
{
    const char *made = options->rows         ? "--rows"
                       : options->cols       ? "--cols"
                       : options->seed_given ? "--seed"
                                             : NULL;
    if (options->input && made)
        options_fail(made, "makes an input of its own, so it does not go with --input");

    const char *shaped = options->batch      ? "--batch"
                         : options->heads    ? "--heads"
                         : options->kv_heads ? "--kv-heads"
                         : options->n_q      ? "--n-q"
                         : options->n_k      ? "--n-k"
                         : options->d        ? "--d"
                                             : made;
    const int files = (options->q != NULL) + (options->k != NULL) + (options->v != NULL);
    if (files > 0 && files < 3)
        options_fail(!options->q   ? "--q"
                     : !options->k ? "--k"
                                   : "--v",
                     "expected all of --q, --k and --v, or none of them");
    if (files && shaped)
        options_fail(shaped, "makes an input of its own, so it does not go with --q, --k and --v");
}

/* Options that mean something only with another, or only without it. */
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
    program_name = program->name;
    program_path = path;
    memory_program(program->name);
}

struct options options_parse(const struct program *program, int argc, char **argv)
{
    struct options options = { .seed = 1, .window_left = -1, .window_right = -1 };
    struct option names[OPTION_ROWS + 2] = { { 0 } };
    const struct option_row *row_of[OPTION_ROWS + 1];
    bool seen[OPTION_ROWS] = { false };
    int count = 0;
    for (const struct option_row *row = option_rows; row < option_rows + OPTION_ROWS; row++) {
        if (!takes(program, row))
            continue;
        row_of[count] = row;
        names[count++] = (struct option){
            .name = row->name,
            .has_arg = !row->argument          ? no_argument
                       : *row->argument == '[' ? optional_argument
                                               : required_argument,
        };
        if (strcmp(row->name, "step") == 0) {  // its old name is still taken
            row_of[count] = row;
            names[count++] = (struct option){ .name = "kernel", .has_arg = required_argument };
        }
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
            options_flush();
            exit(EXIT_VERIFIED);
        }
        bool *const again = &seen[row_of[which] - option_rows];
        if (*again)
            options_fail(word, "expected each option once, found it again");
        *again = true;
        option_take(&options, row_of[which], optarg);
    }
    if (optind < argc)
        options_fail(argv[optind], "expected an option, which begins with --");
    check_input(&options);
    check_partners(&options);
    check_files(program, &options);
    if (!options.mask_rows)
        options.mask_rows = options.mask_cols = 64;
    excluded = options.exclude ? options.exclude : "";
    size_t count_outputs = 0;
    for (const struct option_row *row = option_rows; row < option_rows + OPTION_ROWS; row++)
        if (file_of(program, &options, row, OUTPUT))
            outputs[count_outputs++] = file_of(program, &options, row, OUTPUT);
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
    options_fail(path, "expected the course's input there: run the program in the course's folder");
}

/* The names between commas: the length of the one at `at`, and where the next begins. */
static size_t name_length(const char *at)
{
    return strcspn(at, ",");
}

static const char *next_name(const char *at)
{
    at += name_length(at);
    return *at ? at + 1 : at;
}

bool options_excluded(const char *name)
{
    for (const char *at = excluded; *at; at = next_name(at))
        if (name_length(at) == strlen(name) && strncmp(at, name, strlen(name)) == 0)
            return true;
    return false;
}

void options_check_excluded(const char *(*name_of)(size_t k), size_t n)
{
    for (const char *at = excluded; *at; at = next_name(at)) {
        size_t k = 0;
        while (k < n && (strlen(name_of(k)) != name_length(at) ||
                         strncmp(at, name_of(k), name_length(at)) != 0))
            k++;
        if (k == n)
            options_fail("--exclude",
                         "expected names of kernels that --step list names, with "
                         "commas between them, found '%s'",
                         excluded);
    }
}

bool options_usual(const struct options *o)
{
    return !o->q && !o->batch && !o->heads && !o->kv_heads && !o->n_q && !o->n_k && !o->d &&
           !o->seed_given && !o->step;
}

const char *options_single(const struct options *o)
{
    static char name[32];
    for (const struct option_row *row = option_rows; row < option_rows + OPTION_ROWS; row++) {
        const void *const field = (const char *)o + row->field;
        if (row->kind != OUTPUT || strcmp(row->name, "csv") == 0 || !*(const char *const *)field)
            continue;
        snprintf(name, sizeof name, "--%s", row->name);
        return name;
    }
    return o->profile ? "--profile" : NULL;
}
