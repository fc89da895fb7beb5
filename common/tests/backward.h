#ifndef COMMON_TESTS_BACKWARD_H
#define COMMON_TESTS_BACKWARD_H

#include "common/tests/problems.h"

typedef void backward(const struct test_problem *t, float *dQ, float *dK, float *dV);

/*
 * A pass may have several forms with equal results: tile sizes, or steps. It runs form `now` and
 * writes its arguments to `text`, for messages. Large problems run only the next `turn` forms, and of
 * more than `most` pairs of a query and a key none, unless that is 0.
 */
struct backward_forms {
    size_t count, turn, now, most;
    char text[80];
    enum dtype stored;  // the type in which the form stores gradients
};
extern struct backward_forms backward_forms;

/* Runs it into poisoned memory and compares with the reference. */
void assert_backward(backward *f, const struct test_problem *t);

/* The course's sizes: every N at one d, the unequal Nq and Nk, and every d at three N. */
void assert_backward_at_every_length(backward *f);
void assert_backward_at_unequal_lengths(backward *f);
void assert_backward_at_every_d(backward *f);

/* Each of `options` alone, and random sets of them, for several problems each. */
void assert_backward_with_options(backward *f, unsigned options);

/*
 * `problems` random problems with lengths up to those of `most`, each with a random subset of
 * `options`.
 */
void assert_backward_at_random(backward *f, struct attention most, unsigned options,
                               size_t problems);

/* dK and dV are exactly 0 in the rows where K is NaN (problem_poison_unseen_keys). */
void assert_backward_gives_zeros(backward *f, const struct test_problem *t);

/*
 * All of `options`, with NaN in keys masked for all queries: it must not reach the result, and
 * their dK and dV are exactly 0.
 */
void assert_backward_ignores_unseen_keys(backward *f, unsigned options);

/* All of `options`, with NaN in Q and dO of queries without keys: it must not reach the result. */
void assert_backward_ignores_queries_that_see_nothing(backward *f, unsigned options);

#endif
