/*
 * A changed score: the step, and complete, whose vectors have a form of their own for it.
 */
#include "05_flash_tiled_cpu/tests/tiles.h"
#include "common/tests/test.h"

static void assert_random(const struct step *step, struct attention most, unsigned more)
{
    for (uint64_t seed = 1; seed <= all_or_few(40, 15); seed++) {
        const unsigned options = (seed % 4 ? random_options(seed, WITH_EVERYTHING) : 0) | more;
        struct test_problem t = random_problem(seed, most, options | WITH_SOFTCAP);
        assert_forward(in_tiles(step), &t);
        problem_free(&t);
    }
}

TEST(softcap, agrees_with_the_reference_alone_and_with_every_option)
{
    assert_random(named("softcap"), attention_of(2, 4, 4, 70, 70, 33), 0);
    assert_forward_with_options(in_tiles(named("softcap")), WITH_EVERYTHING);
}

TEST(softcap, in_complete_agrees_with_the_reference_alone_and_with_every_option)
{
    assert_random(named("complete"), attention_of(2, 4, 4, 150, 150, 33), 0);
    assert_random(named("complete"), attention_of(2, 2, 2, 12, 900, 9), WITH_UNEQUAL_LENGTHS);
}

/* The first is a cap that all scores reach, the last one that none comes near, where tanh(s / C) is almost s / C. */
TEST(softcap, agrees_with_the_reference_whatever_the_cap)
{
    static const float caps[] = { 1e-30f, 0.01f, 30.0f, 1e4f, 1e30f };
    for (size_t k = 0; k < sizeof caps / sizeof caps[0]; k++) {
        struct test_problem t = problem_of(attention_of(1, 2, 2, 65, 129, 64), 0, k);
        t.p.softcap = caps[k];
        assert_forward(in_tiles(named("softcap")), &t);
        assert_forward(in_tiles(named("complete")), &t);
        problem_free(&t);
    }
}

TEST(softcap, does_not_read_keys_that_no_query_sees)
{
    assert_forward_ignores_unseen_keys(in_tiles(named("softcap")), WITH_EVERYTHING | WITH_SOFTCAP);
    assert_forward_ignores_unseen_keys(in_tiles(named("complete")), WITH_EVERYTHING | WITH_SOFTCAP);
}
