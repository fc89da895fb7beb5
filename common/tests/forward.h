#ifndef COMMON_TESTS_FORWARD_H
#define COMMON_TESTS_FORWARD_H

#include "common/tests/problems.h"

typedef void forward(const struct attention *p, const float *Q, const float *K, const float *V,
                     float *O, float *lse);

/*
 * A pass may have several forms with equal results, such as tile sizes. The test sets `count`; the
 * pass runs form `now` and writes its arguments to `text`, for messages: " --br 5 --bc 1". Large
 * problems run only the next form.
 */
struct forward_forms {
    size_t count;      // 1 by default
    bool without_lse;  // the pass writes only O
    size_t now;
    char text[80];
    bool (*can)(const struct attention *p);  // skips unsupported problems; NULL: supports all
    size_t done;                             // number of problems not skipped
};
extern struct forward_forms forward_forms;

/* Runs it into poisoned memory and compares with the reference. */
void assert_forward(forward *f, const struct test_problem *t);

/* The course's sizes: every N at one d, every d at three N, and the unequal Nq and Nk. */
void assert_forward_at_every_size(forward *f);

/* Every N and the unequal Nq and Nk at the d and type of `p`, and some at twice that d. */
void assert_forward_at_lengths(forward *f, struct attention p);

/* Each of `options` alone, and random sets of them, for several problems each. */
void assert_forward_with_options(forward *f, unsigned options);

/*
 * `problems` random problems with lengths up to those of `most`, each with a random subset of
 * `options`.
 */
void assert_forward_at_random(forward *f, struct attention most, unsigned options, size_t problems);

/* All of `options`, with NaN in keys masked for all queries: it must not reach the result. */
void assert_forward_ignores_unseen_keys(forward *f, unsigned options);

/* The course's real input gives its stored output. */
void assert_forward_of_the_real_input(forward *f);

#endif
