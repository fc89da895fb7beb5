/*
 * What the tests of chapters 04 to 07 demand of every forward pass of attention.
 */
#ifndef COMMON_TESTS_FORWARD_H
#define COMMON_TESTS_FORWARD_H

#include "common/tests/problems.h"

typedef void forward(const struct attention *p, const float *Q, const float *K, const float *V,
                     float *O, float *lse);

/*
 * A pass may come in several forms that all have to give the same, tiles of several sizes for one.
 * Who tests such a pass first says how many. The pass does the form that is `now`, and leaves in
 * `text` the arguments that name it, for messages: " --br 5 --bc 1". Every problem meets every
 * form, but a large one only the next in turn, so that each form meets some large ones.
 */
struct forward_forms {
    size_t count;      // 1 unless somebody says otherwise
    bool without_lse;  // the pass writes O alone
    size_t now;
    char text[80];
    bool (*can)(
        const struct attention *p);  // problems that it cannot do are left out; NULL: none is
    size_t done;                     // how many problems have not been left out
};
extern struct forward_forms forward_forms;

/* Runs it into poisoned memory; O and lse must be the reference's, within reason. */
void assert_forward(forward *f, const struct test_problem *t);

/* The course's sizes: every N at one d, every d at three N, and the unequal Nq and Nk. */
void assert_forward_at_every_size(forward *f);

/* Every N and the unequal Nq and Nk at the d and of the type of `p`, and some at twice that d. */
void assert_forward_at_lengths(forward *f, struct attention p);

/* Each option of `options` alone, and random sets of them together, each for several problems. */
void assert_forward_with_options(forward *f, unsigned options);

/* As many random problems, no length greater than in `most`, each with some set of `options`. */
void assert_forward_at_random(forward *f, struct attention most, unsigned options, size_t problems);

/* All of `options` where the keys that no query sees hold NaN: it may not get into the result. */
void assert_forward_ignores_unseen_keys(forward *f, unsigned options);

/* The course's real input gives the output that came with it. */
void assert_forward_of_the_real_input(forward *f);

#endif
