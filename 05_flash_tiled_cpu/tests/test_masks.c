/* Masks: every option but dropout, keys to which no query attends, and keys to which some do. */
#include "05_flash_tiled_cpu/tests/tiles.h"
#include "common/tests/test.h"

TEST(masks, agrees_with_the_reference_at_every_size)
{
    assert_forward_at_every_size(in_tiles(named("masks")));
}

TEST(masks, agrees_with_the_reference_under_every_option)
{
    assert_forward_with_options(in_tiles(named("masks")), WITH_MASKS);
}

TEST(masks, agrees_with_the_reference_in_random_tiles)
{
    assert_random_tiles(named("masks"));
    assert_forward_at_random(in_tiles(named("masks")), attention_of(1, 2, 2, 150, 150, 8),
                             WITH_MASKS, 20);
}

TEST(masks, does_not_read_keys_that_no_query_sees)
{
    assert_forward_ignores_unseen_keys(in_tiles(named("masks")),
                                       WITH_KEY_MASK | WITH_GROUPED_HEADS);
    assert_forward_ignores_unseen_keys(
        in_tiles(named("masks")), WITH_CAUSAL | WITH_TOP_LEFT | WITH_WINDOW | WITH_UNEQUAL_LENGTHS);
    assert_forward_ignores_unseen_keys(in_tiles(named("masks")), WITH_MASKS);
}

TEST(masks, keeps_nan_in_a_key_from_the_queries_that_do_not_see_it)
{
    assert_nan_stays_with_those_who_see_it(named("masks"));
}

TEST(masks, of_a_query_that_sees_no_key_is_zero_with_lse_minus_infinity)
{
    assert_empty_rows_are_empty(named("masks"));
}

TEST(masks, gives_scores_of_minus_infinity_no_weight_wherever_they_come)
{
    assert_minus_infinity_weighs_nothing(named("masks"));
}

TEST(masks, computes_as_if_there_were_no_dropout)
{
    assert_lacks(named("masks"));
}
