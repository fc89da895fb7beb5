/*
 * Grading by outputs: a student's program gets fresh input, and what it writes is held against the reference
 * and the stage before. common/classroom/pages/grading.md tells it whole.
 */
#ifndef CLASSROOM_GRADE_H
#define CLASSROOM_GRADE_H

#include "common/problem/attention_input.h"
#include "common/program/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// ---- what is graded ------------------------------------------------------------------------------

/*
 * OF_KERNEL and OF_TENSOR are forward passes in CUDA, the latter for numbers of 16 bits; OF_SINK is one with a sink for each
 * head, and OF_DSINK the gradients of sinks.
 */
enum kind {
    OF_ROWS,
    OF_MERGE,
    OF_SHARE,
    OF_FORWARD,
    OF_PRODUCT,
    OF_BACKWARD,
    OF_KERNEL,
    OF_TENSOR,
    OF_SINK,
    OF_DSINK
};

static inline bool is_forward(enum kind kind)
{
    return kind == OF_FORWARD || kind == OF_KERNEL || kind == OF_TENSOR || kind == OF_SINK;
}

/* Is its input no attention, but one array of rows? */
static inline bool is_of_rows(enum kind kind)
{
    return kind == OF_ROWS || kind == OF_MERGE || kind == OF_SHARE || kind == OF_DSINK;
}

/* A line of common/classroom/grader/programs. */
struct graded_program {
    char part[32], name[40], file[80], before[60];
    enum kind kind;
};

enum criterion_kind { OUTPUT, COUNTS, SANITIZER, NUMBERS, ELSEWHERE };

/* A line of exercise/points with points, and what came of it. */
struct criterion {
    char part[32], word[32];
    enum criterion_kind kind;
    bool causal;  // its options say so
    int points, earned;
    size_t passed, cases;
    size_t core_passed, core_cases;  // of these, those without which the part is not done
};

enum { MOST_PROGRAMS = 8, MOST_CRITERIA = 60 };
struct assignment {
    char chapter[80], number[4];  // "03_online_softmax", "03"
    struct graded_program programs[MOST_PROGRAMS];
    size_t program_count;
    struct criterion criteria[MOST_CRITERIA];
    size_t criterion_count;
};

/*
 * Reads common/classroom/grader/programs and the chapter's exercise/points; ends the program if they are bad. `parts`
 * names those that are graded, with commas between; NULL or "": all of them.
 */
struct assignment assignment_load(const char *course, const char *chapter, const char *parts);

// ---- one case ------------------------------------------------------------------------------------

/* What numbers a case of OF_ROWS has besides normal ones. */
enum special { ORDINARY, WITH_MINUS_INF, ONLY_MINUS_INF, WITH_NAN, WITH_PLUS_INF, TINY_WEIGHTS };

/* What a mistake may be about; where_to_read.c has the section of each. */
enum topic {
    ON_NOTHING,
    ON_OUTPUTS,
    ON_SUM,
    ON_ROWS,
    ON_SHIFT,
    ON_ONLINE,
    ON_INFINITY,
    ON_MERGE,
    ON_EMPTY,
    ON_RECURRENCE,
    ON_TILES,
    ON_PRODUCTS,
    ON_SCALE,
    ON_MASKS,
    ON_OTHER_MASKS,
    ON_GROUPS,
    ON_WARP,
    ON_FRAGMENTS,
    ON_SWIZZLE,
    ON_GRADIENTS,
    ON_DV,
    ON_DK,
    ON_DROPOUT,
    ON_SCORE,
    ON_SINK,
    ON_COUNTS
};

struct test_case {
    const char *name;   // what is tried
    enum topic topic;   // and what it is about, unless what is wrong says more
    size_t rows, cols;  // OF_ROWS, OF_DSINK: heads and queries, OF_MERGE, OF_SHARE: rows alone
    float spread, shift;
    enum special special;
    bool in_place;
    bool core;           // what the program's part is about, and an earlier one does not do
    struct attention p;  // the others: shape and options
    size_t Br, Bc;
    bool key_mask, hidden_nan;
};

enum { MOST_CASES = 24, DROPOUT_SEED = 41, BAND = 7 };  // BAND: of cases with a block mask

/* The cases of a program; how many. */
size_t cases_of(const struct assignment *a, const struct graded_program *program,
                struct test_case cases[MOST_CASES]);

/* The one whose accesses are counted. */
struct test_case counted_case(const struct graded_program *program, bool causal);

/* The input of a case in memory. */
struct case_input {
    struct attention_input attention;
    float *x, *dO;           // x: of OF_SINK the sinks
    float *O, *lse, *m, *l;  // OF_BACKWARD: of the forward pass
};
struct case_input case_input_new(const struct graded_program *program, const struct test_case *c,
                                 uint64_t seed);
void case_input_free(struct case_input *in);

/* Writes it to the folder as .npy files. */
void case_input_write(const struct graded_program *program, const struct test_case *c,
                      const struct case_input *in, const char *folder);

/* The options that a student's program wants for it besides the files; returns `text`. */
char *case_options(const struct graded_program *program, const struct test_case *c, char *text,
                   size_t size);

// ---- the verdict ---------------------------------------------------------------------------------

/* How an output compares, with the worst element of the first array that is wrong. */
struct finding {
    bool right;
    const char *array;     // "O"
    char place[100];       // "b, h, i, c = 0, 1, 3, 2"
    double got, expected;  // there …
    bool missing;          // … where nothing was written
    double error;          // the largest
    double before;         // the largest difference from the stage before …
    bool has_before;       // … if there is one that can do the case
    char unlike[240];      // why there is nothing to compare, or ""
};

/* Where to read again: a page of the chapter, a section, and what it says. */
void where_to_read(const struct assignment *a, enum topic topic, char text[200]);
/* What a wrong output is about, of a case on `of_case`. */
enum topic topic_of(enum topic of_case, const struct finding *f);

/* The outputs that a program writes to out/: names of files that end with NULL, `before` those of the stage. */
const char *const *outputs_of(enum kind kind);

/* Judges what is in the folder `out`; the stage before has left its outputs in `before`, or that is NULL. */
struct finding judge(const struct graded_program *program, const struct test_case *c,
                     const struct case_input *in, const char *out, const char *before);

// ---- the report ----------------------------------------------------------------------------------

enum outcome { PASSED, WRONG, CRASHED, TIMED_OUT, NO_OUTPUT, NOT_RUN };

/* One thing that was tried. */
struct trial {
    size_t criterion;                          // of the assignment
    char program[40], name[100], reread[200];  // page and section, or ""
    enum outcome outcome;
    bool core;
    char text[600];  // lines
    struct finding finding;
};

enum { MOST_TRIALS = 200 };
struct report {
    const struct assignment *assignment;
    char name[256];  // of the submission
    uint64_t seed;
    char variant[24];  // the seed of its questions, by its STARTER; "" if that does not say
    struct trial trials[MOST_TRIALS];
    size_t trial_count;
    char refused[400];  // why nothing was graded, or ""
};

/* Each tries what a criterion asks for, and adds what came of it to the report's trials: every case of a program … */
void try_output(struct report *r, size_t criterion, const struct graded_program *program);
void try_sanitized(struct report *r, size_t criterion, const struct graded_program *program);
void try_counts(struct report *r, size_t criterion, const struct graded_program *program);
/* … and the numbers of answers.txt, which grade.sh has held against the right ones: WORK/answers. */
void try_numbers(struct report *r, size_t criterion);

int grade_points(const struct report *r, bool earned);
void grade_text(const struct report *r, FILE *file);
void grade_neutral(const struct report *r, FILE *file);
void grade_gradescope(const struct report *r, FILE *file);
void grade_classroom50(const struct report *r, FILE *file);
void grade_row(const struct report *r, bool heading, FILE *file);

#endif
