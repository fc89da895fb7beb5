/*
 * The steps: fast, and as right as the steps. They support shapes and, after `block`, causal
 * order.
 */
#include "05_flash_tiled_cpu/tests/tiles.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/tests/test.h"

#include <math.h>
#include <string.h>

enum { CAUSAL = WITH_SHAPES | WITH_CAUSAL | WITH_TOP_LEFT };

TEST(loops, agrees_with_the_reference_at_every_size)
{
    assert_forward_at_every_size(in_tiles(named("loops")));
    assert_forward_with_options(in_tiles(named("loops")), WITH_SHAPES);
}

TEST(polynomial, agrees_with_the_reference_at_every_size)
{
    assert_forward_at_every_size(in_tiles(named("polynomial")));
    assert_forward_with_options(in_tiles(named("polynomial")), WITH_SHAPES);
}

TEST(registers, agrees_with_the_reference_at_every_size)
{
    assert_forward_at_every_size(in_tiles(named("registers")));
    assert_forward_with_options(in_tiles(named("registers")), WITH_SHAPES);
}

TEST(block, agrees_with_the_reference_at_every_size)
{
    assert_forward_at_every_size(in_tiles(named("block")));
    assert_forward_with_options(in_tiles(named("block")), WITH_SHAPES);
}

TEST(skip, agrees_with_the_reference_at_every_size_and_in_causal_order)
{
    assert_forward_at_every_size(in_tiles(named("skip")));
    assert_forward_with_options(in_tiles(named("skip")), CAUSAL);
}

TEST(overlap, agrees_with_the_reference_at_every_size_and_in_causal_order)
{
    assert_forward_at_every_size(in_tiles(named("overlap")));
    assert_forward_with_options(in_tiles(named("overlap")), CAUSAL);
}

TEST(threads, agrees_with_the_reference_at_every_size_and_in_causal_order)
{
    assert_forward_at_every_size(in_tiles(named("threads")));
    assert_forward_with_options(in_tiles(named("threads")), CAUSAL);
}

TEST(steps, do_not_read_keys_that_no_query_sees)
{
    for (const struct step *step = named("skip"); step <= named("threads"); step++)
        assert_forward_ignores_unseen_keys(in_tiles(step), WITH_UNEQUAL_LENGTHS | WITH_CAUSAL |
                                                               WITH_TOP_LEFT | WITH_GROUPED_HEADS);
}

TEST(steps, give_queries_that_see_no_key_zero_and_minus_infinity)
{
    for (const struct step *step = named("skip"); step <= named("threads"); step++) {
        struct attention p = attention_of(1, 1, 1, 70, 20, 5);
        p.causal = true;  // bottom-right: the first 50 queries precede the first key
        struct test_problem t = problem_of(p, 0, 1);
        float O[70 * 5], lse[70];
        poison_fill(O, 70 * 5);
        step->run(&p, (struct tile_size){ 1, 8 }, problem_tensors(&t, O, lse));
        for (size_t n = 0; n < 250; n++)
            cr_assert(O[n] == 0.0f && lse[n / 5] == -INFINITY, "%s: query %zu: %g, lse %g",
                      step->name, n / 5, (double)O[n], (double)lse[n / 5]);
        problem_free(&t);
    }
}

/* Each key outweighs all before it, so the maximum moves by more than the slack again and again. */
TEST(overlap, catches_up_with_scores_that_rise_by_hundreds)
{
    for (const struct step *step = named("loops"); step <= named("complete"); step++)
        for (int sign = -1; sign <= 1; sign += 2) {
            struct attention p = attention_of(1, 1, 1, 40, 300, 1);
            p.scale = 1.0f;
            struct test_problem t = problem_of(p, 0, 1);
            for (size_t i = 0; i < 40; i++)
                t.Q[i] = (float)(i % 5);
            for (size_t j = 0; j < 300; j++)
                t.K[j] = (float)sign * 9.0f * (float)j;
            static float O[40];
            poison_fill(O, 40);
            step->run(&p, (struct tile_size){ 8, 40 }, problem_tensors(&t, O, NULL));
            for (size_t i = 0; i < 40; i++)
                if (i % 5)  // one key has all the weight but e^-9
                    cr_assert(fabsf(O[i] - t.V[sign > 0 ? 299 : 0]) < 2e-3f, "%s: O[%zu] is %g",
                              step->name, i, (double)O[i]);
            problem_free(&t);
        }
}

/* A NaN in a query or unmasked key is in the result, but in no unrelated row. */
TEST(steps, let_nan_be_seen)
{
    for (const struct step *step = named("loops"); step <= named("complete"); step++) {
        struct test_problem t = problem_of(attention_of(1, 1, 1, 50, 40, 6), 0, 1);
        float O[50 * 6], lse[50];
        t.Q[7 * 6 + 2] = NAN;
        step->run(&t.p, (struct tile_size){ 16, 16 }, problem_tensors(&t, O, lse));
        for (size_t n = 0; n < 50 * 6; n++)
            cr_assert(!isnan(O[n]) == (n / 6 != 7) && !isnan(lse[n / 6]) == (n / 6 != 7),
                      "%s: query %zu: %g, lse %g", step->name, n / 6, (double)O[n],
                      (double)lse[n / 6]);
        t.K[39 * 6] = NAN;
        step->run(&t.p, (struct tile_size){ 16, 16 }, problem_tensors(&t, O, lse));
        for (size_t n = 0; n < 50 * 6; n++)
            cr_assert(isnan(O[n]) && isnan(lse[n / 6]), "%s: query %zu: %g, lse %g", step->name,
                      n / 6, (double)O[n], (double)lse[n / 6]);
        problem_free(&t);
    }
}
