/*
 * The complete step: all options together, and the same bits from any number of threads.
 */
#include "07_backward/tests/tiles.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/tests/test.h"

#include <string.h>

TEST(complete, agrees_with_the_reference_under_every_option)
{
    assert_backward_with_options(in_tiles(named("complete")), WITH_EVERYTHING);
}

TEST(complete, agrees_with_the_reference_under_every_two_options)
{
    for (unsigned one = 1; one < WITH_EVERYTHING; one *= 2)
        for (unsigned two = 2 * one; two < WITH_EVERYTHING; two *= 2)
            for (uint64_t seed = 1; seed <= 4; seed++) {
                struct test_problem t =
                    random_problem(seed, attention_of(2, 4, 4, 60, 60, 16), one | two);
                assert_backward(in_tiles(named("complete")), &t);
                problem_free(&t);
            }
}

TEST(complete, agrees_with_the_reference_with_more_queries_and_keys)
{
    assert_backward_at_random(in_tiles(named("complete")), attention_of(2, 4, 4, 150, 150, 24),
                              WITH_EVERYTHING, 30);
}

TEST(complete, reads_no_key_that_no_query_sees_and_gives_it_zeros)
{
    assert_backward_ignores_unseen_keys(in_tiles(named("complete")),
                                        WITH_KEY_MASK | WITH_GROUPED_HEADS);
    assert_backward_ignores_unseen_keys(in_tiles(named("complete")), WITH_EVERYTHING);
}

TEST(complete, reads_no_query_that_sees_nothing)
{
    assert_backward_ignores_queries_that_see_nothing(in_tiles(named("complete")), WITH_KEY_MASK);
    assert_backward_ignores_queries_that_see_nothing(in_tiles(named("complete")),
                                                     WITH_UNEQUAL_LENGTHS | WITH_CAUSAL);
    assert_backward_ignores_queries_that_see_nothing(in_tiles(named("complete")), WITH_EVERYTHING);
}

// ---- threads ------------------------------------------------------------------------------------

/* The same bytes for 1, 2, 3 and 5 threads, and for each of them again. */
static void assert_same_bits(const struct test_problem *t, struct tile_size size)
{
    static const size_t threads[] = { 1, 2, 3, 5, 2, 1, 3, 5 };
    const size_t queries = attention_query_elements(&t->p), keys = attention_key_elements(&t->p);
    struct lab layer = layer_with_forward(t);
    struct result first = { .of = { NULL } };
    for (size_t k = 0; k < sizeof threads / sizeof threads[0]; k++) {
        threads_use(threads[k]);
        struct result r = backward_run(named("complete"), &layer, size);
        for (size_t g = 0; g < GRADIENTS && k > 0; g++)
            cr_assert(memcmp(r.of[g], first.of[g], (g == DQ ? queries : keys) * sizeof(float)) == 0,
                      "%s --br %zu --bc %zu: run %zu, with %zu threads, differs from the first, "
                      "with one, in array %zu",
                      problem_text(t), size.Br, size.Bc, k, threads[k], g);
        if (k == 0)
            first = r;
        else
            result_free(&r);
    }
    result_free(&first);
    forward_free(&layer.x);
}

TEST(complete, gives_the_same_bits_for_any_number_of_threads)
{
    struct test_problem one = problem_of(attention_of(1, 1, 1, 300, 300, 32), 0, 1);
    struct test_problem groups = problem_of(attention_of(2, 4, 2, 150, 150, 32), 0, 2);
    for (int again = 0; again < 4; again++) {  // a turn that is not awaited does harm now and then
        assert_same_bits(&one, (struct tile_size){ 16, 16 });
        assert_same_bits(&one, (struct tile_size){ 64, 96 });
        assert_same_bits(&one, (struct tile_size){ 1, 40 });
        assert_same_bits(&groups, (struct tile_size){ 16, 16 });
        assert_same_bits(&groups, (struct tile_size){ 150, 3 });
    }
    problem_free(&one);
    problem_free(&groups);
}

TEST(complete, gives_the_same_bits_for_any_number_of_threads_under_every_option)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct test_problem t = random_problem(seed, attention_of(2, 4, 4, 80, 80, 16),
                                               random_options(seed, WITH_EVERYTHING));
        assert_same_bits(&t, tiles_of(named("complete"), TILE_FORMS - 1, &t.p));
        problem_free(&t);
    }
}
