/*
 * --help, refusals, and what programs ask of the command line when it has been read.
 */
#define _POSIX_C_SOURCE 200809L
#include "common/program/option_table.h"
#include "common/program/options.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    fprintf(stderr, "%s: ", options_program_name);
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
    fprintf(stderr, "%s: SKIPPED: ", options_program_name);
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
}

const char *options_data(const char *name)
{
    static char path[4096];
    const char *slash = strrchr(options_program_path, '/');
    const int folder = slash ? (int)(slash - options_program_path) : 0;
    snprintf(path, sizeof path, "common/data/%s", name);
    if (access(path, R_OK) == 0)
        return path;
    snprintf(path, sizeof path, "../common/data/%s", name);
    if (access(path, R_OK) == 0)
        return path;
    snprintf(path, sizeof path, "%.*s%s../common/data/%s", folder, options_program_path,
             slash ? "/" : "", name);
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
    for (const char *at = options_excluded_names; *at; at = next_name(at))
        if (name_length(at) == strlen(name) && strncmp(at, name, strlen(name)) == 0)
            return true;
    return false;
}

void options_check_excluded(const char *(*name_of)(size_t k), size_t n)
{
    for (const char *at = options_excluded_names; *at; at = next_name(at)) {
        size_t k = 0;
        while (k < n && (strlen(name_of(k)) != name_length(at) ||
                         strncmp(at, name_of(k), name_length(at)) != 0))
            k++;
        if (k == n)
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
