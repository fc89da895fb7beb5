/*
 * What the tests of chapter 07 demand of every backward pass of attention.
 */
#ifndef COMMON_TESTS_BACKWARD_H
#define COMMON_TESTS_BACKWARD_H

#include "common/tests/problems.h"

typedef void backward(const struct test_problem *t, float *dQ, float *dK, float *dV);

/*
 * A pass may come in several forms that all have to give the same: tiles of several sizes, or several steps. It
 * does the form that is `now`, and leaves in `text` the arguments that name it, for messages. Every problem
 * meets every form, but a large one only the next in turn, or the next `turn` of them.
 */
struct backward_forms {
    size_t count, turn, now;
    char text[80];
    enum dtype stored;  // the type in which the form stores gradients
};
extern struct backward_forms backward_forms;

/* Runs it into poisoned memory; dQ, dK and dV must be the reference's, within reason. */
void assert_backward(backward *f, const struct test_problem *t);

/* The course's sizes: every N at one d, the unequal Nq and Nk, and every d at three N. */
void assert_backward_at_every_length(backward *f);
void assert_backward_at_unequal_lengths(backward *f);
void assert_backward_at_every_d(backward *f);

/* Each option of `options` alone, and random sets of them together, each for several problems. */
void assert_backward_with_options(backward *f, unsigned options);

/* As many random problems, no length greater than in `most`, each with some set of `options`. */
void assert_backward_at_random(backward *f, struct attention most, unsigned options,
                               size_t problems);

/* dK and dV are exactly 0 in the rows where K is NaN, as in keys that no query sees (problem_poison_unseen_keys). */
void assert_backward_gives_zeros(backward *f, const struct test_problem *t);

/*
 * All of `options` where the keys that no query sees hold NaN: it may not get into the result, and dK and dV
 * of these keys are exactly 0.
 */
void assert_backward_ignores_unseen_keys(backward *f, unsigned options);

/* All of `options` where Q and dO hold NaN for the queries that see nothing: it may not get into the result. */
void assert_backward_ignores_queries_that_see_nothing(backward *f, unsigned options);

#endif
