/*
 * The command line, the same in every chapter. One table (option_table.c) says which options there
 * are, which chapters take them and what values they accept; parsing and --help both follow it.
 *
 * Numbers are read strictly. Any error ends the program with one line on standard error
 * that names the option or file and what was expected, and with exit status 2.
 */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include "common/problem/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum exit_status {
    EXIT_VERIFIED = 0,   // done, and the result was found correct
    EXIT_DISAGREES = 1,  // the result differs from the reference or the previous stage
    EXIT_USAGE = 2,      // the command line or a file cannot be used; nothing was written
    EXIT_SKIPPED = 77,   // a GPU was demanded and there is none
};

struct options {
    const char *output, *csv;
    uint64_t seed;
    bool seed_given, trace, traffic, bench, quiet;

    const char *input;  // 01 to 03: scores from a file, or generated
    size_t rows, cols;  // 0: not given

    const char *q, *k, *v, *lse, *key_mask;  // 04 to 07: attention from files, or generated
    size_t batch, heads, kv_heads, n_q, n_k, d;
    float scale;
    float softcap;  // 05 to 07; 0: not given
    bool scale_given, causal, top_left, verify_all;
    ptrdiff_t window_left, window_right;  // -1: unbounded

    const char *step;             // 05 to 07: the step to run; NULL: not given
    const char *story;            // 04 to 07: a part of what the pages show, or list; NULL
    const char *block_mask;       // a file's name, or band:W or random:DENSITY:SEED (block_mask.h)
    size_t mask_rows, mask_cols;  // the block mask's blocks, 64 by 64 unless given
    double dropout;
    uint64_t dropout_seed;
    bool dropout_given, dropout_seed_given;
    size_t br, bc, sram, threads;  // 0: not given; sram goes with neither br nor bc
    bool trace_csv;                // the trace, as comma-separated values
    bool device_info;              // 06: the device's properties and speeds, instead of a kernel
    const char *device;            // 06, 07: "cpu", "gpu" or "auto"; NULL: not given
    enum dtype dtype;              // 06, 07: what Q, K, V and dO are rounded to
    bool profile;                  // 06: accesses by line of a kernel's source
    const char *timeline;          // 06, 07: file for the timeline of which unit is busy when
    const char *exclude;           // 06, 07: kernels neither to run nor to compare with; or NULL

    const char *dO, *dQ, *dK, *dV;  // 07: the output's gradient, and where the others are written
    bool train;

    size_t latency, bandwidth;  // several machines: microseconds, kB/s; 0: no delay
};

/* What a chapter says of itself in --help. */
struct program {
    int chapter;          // 1 to 7; 05 and 07 on several machines are 8 and 9
    const char *name;     // "03_online_softmax"
    const char *summary;  // one line
    const char *example;  // a command line worth trying, without the program's name
};

/* Reads the command line. --help prints the chapter's options and exits with 0. */
struct options options_parse(const struct program *program, int argc, char **argv);

/* Only sets the program's name, for programs that read their few arguments themselves. */
void options_program(const struct program *program, const char *path);

/*
 * Prints "PROGRAM: WHAT: message" on standard error, where `what` is an option or a file, and exits
 * with EXIT_USAGE.
 */
_Noreturn void options_fail(const char *what, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints "PROGRAM: SKIPPED: message" on standard error, and exits with EXIT_SKIPPED. */
_Noreturn void options_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Flushes standard output, and exits with EXIT_USAGE if that fails. Until it is called, an exit
 * with EXIT_DISAGREES must come from a library, and is turned into EXIT_USAGE.
 */
void options_flush(void);

/* Does the command line ask for a generated input? */
bool options_generated(const struct options *options);

/* For a chapter with kernels: true if neither an input nor a kernel was given. */
bool options_usual(const struct options *options);

/* A requested output that only a single step can produce: a file, or "--profile"; or NULL. */
const char *options_single(const struct options *options);

/* Is `name` among the names of --exclude? */
bool options_excluded(const char *name);

/* Exits unless every name in --exclude is one of the table's (step.h). */
struct step_table;
void options_check_excluded(const struct step_table *table);

/* The files that options of the command line ask the program to write; NULL ends them. */
extern const char *options_outputs[];

/*
 * The path of the course's input file `name`: in common/data below the current folder, else next
 * to the program's folder. Exits if it is not found. Valid until the next call.
 */
const char *options_data(const char *name);

#endif
