/*
 * --help, refusals, and what programs ask of the command line when it has been read.
 */
#define _POSIX_C_SOURCE 200809L
#include "common/cpu/memory.h"
#include "common/files/file.h"
#include "common/program/option_table.h"
#include "common/program/step.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void options_fail(const char *what, const char *format, ...)
{
    char message[5000], line[10000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    snprintf(line, sizeof line, "%s: %s: %s", program_name, what, message);
    for (char *c = line; *c; c++)  // a file's name, or a value that was given, may hold anything
        if (iscntrl((unsigned char)*c))
            *c = '?';
    fflush(stdout);
    fprintf(stderr, "%s\n", line);  // at once: another rank may print, too
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

void options_help(const struct program *program)
{
    printf("%s: %s\n\n", program->name, program->summary);
    printf("usage: build/%s [options]\n\n", program->name);
    bool has_devices = false;
    for (const struct option_row *row = option_rows; row < option_rows + OPTION_ROWS; row++) {
        if (!option_taken(program, row))
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
    options_flush();
    exit(EXIT_VERIFIED);
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    return b && stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

void options_check_outputs(const struct program *program, const struct options *options)
{
    for (const char *const *output = options_outputs; *output; output++) {
        struct file_error error;
        if (!file_writable(*output, &error))
            options_fail(*output, "%s", error.text);
        for (const char *const *other = options_outputs; other < output; other++)
            if (strcmp(*other, *output) == 0)
                options_fail(*output, "expected another file for each output");
        for (const struct option_row *in = option_rows; in < option_rows + OPTION_ROWS; in++)
            if (option_taken(program, in) && in->kind == INPUT &&
                is_same_file(*output, *(const char *const *)((const char *)options + in->field)))
                options_fail(*output, "expected an output that is not the input --%s", in->name);
    }
}

const char *options_single(const struct options *options)
{
    const char *const *output = options_outputs;
    while (*output && *output == options->csv)
        output++;
    return options->profile ? "--profile" : *output;
}

const char *options_data(const char *name)
{
    static char path[4096];
    const char *slash = strrchr(options_program_path, '/');
    const int folder = slash ? (int)(slash - options_program_path) : 0;
    snprintf(path, sizeof path, "common/data/%s", name);
    if (access(path, R_OK) == 0)
        return path;
    snprintf(path, sizeof path, "%.*s%s../common/data/%s", folder, options_program_path,
             slash ? "/" : "", name);
    if (access(path, R_OK) == 0)
        return path;
    snprintf(path, sizeof path, "common/data/%s", name);
    options_fail(path, "expected the course's input there: run the program in the course's folder");
}

enum { LONGEST_NAME = 20 };  // of an option

/* How many letters must be changed, added or left out to make `b` of the first n letters of `a`. */
static size_t edits_between(const char *a, size_t n, const char *b)
{
    size_t row[LONGEST_NAME + 1];  // row[j]: from the letters of `a` so far to the first j of `b`
    const size_t length = strlen(b);
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 0; i < n; i++) {
        size_t before = row[0]++;
        for (size_t j = 0; j < length; j++) {
            const size_t changed = before + (a[i] != b[j]);
            const size_t shorter = row[j] < row[j + 1] ? row[j] : row[j + 1];
            before = row[j + 1];
            row[j + 1] = changed < shorter + 1 ? changed : shorter + 1;
        }
    }
    return row[length];
}

/*
 * The program's option that is at most two letters away from `word`, or NULL; also NULL if no
 * letter is wrong.
 */
static const char *nearest_to(const char *word, const struct program *program)
{
    const char *nearest = NULL;
    size_t least = 3;
    if (strncmp(word, "--", 2) != 0)
        return NULL;
    word += 2;
    for (const struct option_row *row = option_rows; row < option_rows + OPTION_ROWS; row++) {
        const size_t length = strlen(row->name);
        const size_t edits = edits_between(word, strcspn(word, "="), row->name);
        if (edits == 0 && !option_taken(program, row))
            return NULL;  // another chapter's
        if (option_taken(program, row) && edits < least && edits + 1 < length) {
            least = edits;
            nearest = row->name;
        }
    }
    return nearest;
}

const struct option_row *option_unknown(const struct program *program, const char *word)
{
    for (const struct option_row *row = option_rows; row < option_rows + OPTION_ROWS; row++)
        if (option_taken(program, row) && strcmp(row->name, "step") == 0 &&
            strncmp(word, "--kernel", strcspn(word, "=")) == 0 && strcspn(word, "=") == 8)
            return row;
    const char *const nearest = nearest_to(word, program);
    if (nearest)
        options_fail(word, "did you mean --%s?", nearest);
    options_fail(word, "expected an option of this chapter; --help lists them");
}

/* Is the name at `at`, which a comma or the end follows, this one? */
static bool is_name(const char *at, const char *name)
{
    return strcspn(at, ",") == strlen(name) && strncmp(at, name, strlen(name)) == 0;
}

static const char *next_name(const char *at)
{
    at += strcspn(at, ",");
    return *at ? at + 1 : at;
}

bool options_excluded(const char *name)
{
    const char *at = options_excluded_names;
    while (*at && !is_name(at, name))
        at = next_name(at);
    return *at;
}

void options_check_excluded(const struct step_table *table)
{
    for (const char *at = options_excluded_names; *at; at = next_name(at)) {
        size_t k = 0;
        while (k < table->count && !is_name(at, table->steps[k].name))
            k++;
        if (k == table->count)
            options_fail("--exclude",
                         "expected names of kernels that --step list names, with "
                         "commas between them, found '%s'",
                         options_excluded_names);
    }
}

bool options_usual(const struct options *o)
{
    return !o->q && !o->step && !options_generated(o);
}
