/*
 * The steps of chapter 05 as forward passes whose forms are tiles of many sizes: one query by one
 * key, ragged ones, some larger than the problem, the step's own and some at random.
 *
 *     assert_forward_at_every_size(in_tiles(named("fa1")));
 */
#ifndef FLASH_TILED_TESTS_TILES_H
#define FLASH_TILED_TESTS_TILES_H

#include "05_flash_tiled_cpu/program.h"
#include "05_flash_tiled_cpu/steps/steps.h"
#include "common/tests/forward.h"

enum {
    WITH_SHAPES =
        WITH_SCALE | WITH_GROUPED_HEADS | WITH_UNEQUAL_LENGTHS,  // every step supports these
    WITH_MASKS =
        WITH_SHAPES | WITH_CAUSAL | WITH_TOP_LEFT | WITH_WINDOW | WITH_KEY_MASK | WITH_BLOCK_MASK,
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

/* The step, in all these forms. From here on it is the one that the tests of forward.h run. */
forward *in_tiles(const struct step *step);

/* How many forms there are, and the tiles of each for problem p. The last are at random. */
enum { TILE_FORMS = 9 };
struct tile_size tiles_of(const struct step *step, size_t form, const struct attention *p);

/* Some problems of any N and d, each in tiles that are not the others'. */
void assert_random_tiles(const struct step *step);

/* In a step with masks, NaN in a key reaches only queries that attend to it. */
void assert_nan_stays_with_those_who_see_it(const struct step *step);

/* The same for queries without keys: O = 0 and lse = -inf. */
void assert_empty_rows_are_empty(const struct step *step);

/* A step that lacks some of the options gives bit for bit what it gives without them. */
void assert_lacks(const struct step *step);

/* Scores of -inf weigh nothing, wherever they come, and nothing but such scores is an empty row. */
void assert_minus_infinity_weighs_nothing(const struct step *step);

/* The problem as a chapter program's input; the arrays stay the problem's. */
struct attention_input input_of(const struct test_problem *t);

#endif
