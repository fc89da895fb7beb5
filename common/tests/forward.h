/*
 * What the tests of chapters 04 to 07 demand of every forward pass of attention.
 */
#ifndef COMMON_TESTS_FORWARD_H
#define COMMON_TESTS_FORWARD_H

#include "problems.h"

typedef void forward(const struct attention *p, const float *Q, const float *K, const float *V,
                     float *O, float *lse);

/* Runs it into poisoned memory; O and lse must be the reference's, within reason. */
void assert_forward(forward *f, const struct test_problem *t);

/* The course's sizes: every N at one d, every d at three N, and the unequal Nq and Nk. */
void assert_forward_at_every_size(forward *f);

/* Each option of `options` alone, and random sets of them together, each for several problems. */
void assert_forward_with_options(forward *f, unsigned options);

/* The same where the keys that no query sees hold NaN, which must not be read into the result. */
void assert_forward_ignores_unseen_keys(forward *f, unsigned options);

#endif
