/*
 * What chapters 01 to 03 have in common: a softmax of one row, told, counted, verified and timed.
 * A chapter says what is its own in a struct, and its main hands over.
 */
#ifndef COMMON_SOFTMAX_CHAPTER_H
#define COMMON_SOFTMAX_CHAPTER_H

#include "common/program/options.h"
#include "common/program/scores.h"

struct softmax_chapter {
    struct program program;
    const char *number, *title, *idea;  // "03", "Online softmax", and the one idea

    softmax_row *softmax, *watched;  // the lesson, and its watched build (watch.h)
    softmax_row *lanes;              // its passes in vector instructions, for --bench
    size_t loads;                    // of each element of x: what the formula predicts
    const char *formula;             // of the loads of a row: "2 N"
    const char *formula_all;         // of loads and stores: "3 N"
    const char *formula_note;        // how other chapters fare, or ""

    const char *previous_name;  // "02 safe softmax", or NULL
    softmax_row *previous, *previous_lanes;

    void (*by_hand)(void);                                 // the chapter's worked examples
    void (*show_row)(const float *x, size_t n);            // the steps of one row, for --trace
    void (*describe)(const struct scores *scores);         // what is worth seeing in the input
    void (*shown_on_scores)(const struct scores *scores);  // with the course's input only; or NULL
    const char *next;                                      // what to read after it
};

enum { SOFTMAX_TRACE_LIMIT = 64 };  // numbers, for --trace

/* The chapter as a program. Returns its exit status. */
int softmax_chapter_main(const struct softmax_chapter *chapter, int argc, char **argv);

/* How long `softmax` takes for all the rows, at best. y (rows, cols) is overwritten. */
double softmax_milliseconds(const struct softmax_chapter *chapter, const struct scores *scores,
                            float *y);

/* The part "Speed" of --bench; the same figures go to `csv`, unless that is NULL. */
void softmax_bench(const struct softmax_chapter *chapter, const char *csv);

#endif
