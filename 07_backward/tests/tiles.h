/*
 * The steps of chapter 07 as backward passes whose forms are tiles of many sizes: one query by one key, ragged
 * ones, some larger than the problem, the step's own and some at random.
 *
 *     assert_backward_at_every_d(in_tiles(named("fa1")));
 */
#ifndef BACKWARD_TESTS_TILES_H
#define BACKWARD_TESTS_TILES_H

#include "07_backward/program.h"
#include "07_backward/steps/forward.h"
#include "07_backward/steps/steps.h"
#include "common/tests/backward.h"

enum {
    WITH_MASKS = WITH_SCALE | WITH_UNEQUAL_LENGTHS | WITH_CAUSAL | WITH_TOP_LEFT | WITH_WINDOW |
                 WITH_KEY_MASK | WITH_BLOCK_MASK,  // every step supports these
};

/* The chapter's step of this name; and the end of its table. */
static inline const struct step *named(const char *name)
{
    return step_named(&table, name);
}

static inline const struct step *end(void)
{
    return table.steps + table.count;
}

/* The options that the step supports, as a set. */
unsigned options_of(const struct step *step);

/* The step, in all these forms. From here on it is the one that the tests of backward.h run. */
backward *in_tiles(const struct step *step);

/* The same for all steps at once, where computing what is right is most of the work. */
backward *all_in_tiles(void);

/* How many forms there are, and the tiles of each for problem p. The last are at random. */
enum { TILE_FORMS = 9 };
struct tile_size tiles_of(const struct step *step, size_t form, const struct attention *p);

/* The problem with its forward pass done; the arrays stay the test's. Release it with forward_free(&….x). */
struct lab layer_with_forward(const struct test_problem *t);

/* Runs the step once, and gives its gradients; result_free them. */
struct result gradients_of(const struct step *step, const struct test_problem *t,
                           struct tile_size size);

/* Fails, beginning with `what`, unless all three gradients are 0 everywhere. */
void assert_zeros(const struct result *r, const struct attention *p, const char *what);

#endif
