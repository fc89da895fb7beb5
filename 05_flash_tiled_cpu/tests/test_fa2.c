/*
 * FlashAttention-2 against the reference.
 */
#include "05_flash_tiled_cpu/tests/tiles.h"
#include "common/tests/test.h"

TEST(fa2, agrees_with_the_reference_at_every_size)
{
    assert_forward_at_every_size(in_tiles(named("fa2")));
}

TEST(fa2, agrees_with_the_reference_for_every_scale_grouped_heads_and_unequal_lengths)
{
    assert_forward_with_options(in_tiles(named("fa2")), WITH_SHAPES);
}

TEST(fa2, agrees_with_the_reference_in_random_tiles)
{
    assert_random_tiles(named("fa2"));
}

TEST(fa2, computes_as_if_there_were_neither_masks_nor_dropout)
{
    assert_lacks(named("fa2"));
}

TEST(fa2, gives_scores_of_minus_infinity_no_weight_wherever_they_come)
{
    assert_minus_infinity_weighs_nothing(named("fa2"));
}
