/*
 * FlashAttention: against the reference, and against numbers worked by hand.
 */
#include "05_flash_tiled_cpu/steps/observe.h"
#include "05_flash_tiled_cpu/tests/tiles.h"
#include "common/tests/test.h"

#include <math.h>

TEST(fa1, agrees_with_the_reference_at_every_size)
{
    assert_forward_at_every_size(in_tiles(named("fa1")));
}

TEST(fa1, agrees_with_the_reference_for_every_scale_grouped_heads_and_unequal_lengths)
{
    assert_forward_with_options(in_tiles(named("fa1")), WITH_SHAPES);
}

TEST(fa1, agrees_with_the_reference_in_random_tiles)
{
    assert_random_tiles(named("fa1"));
}

TEST(fa1, computes_as_if_there_were_neither_masks_nor_dropout)
{
    assert_lacks(named("fa1"));
}

TEST(fa1, gives_scores_of_minus_infinity_no_weight_wherever_they_come)
{
    assert_minus_infinity_weighs_nothing(named("fa1"));
}

// ---- by hand ------------------------------------------------------------------------------------

/* The story's example. The scores are 1 0 2 1 | 0 2 1 0 | 1 2 2 0 | 0 0 2 2. */
static float by_hand_Q[12] = { 1, 0, 1, 0, 1, 0, 1, 1, 0, 0, 0, 2 };
static float by_hand_K[12] = { 1, 0, 0, 0, 2, 0, 1, 1, 1, 0, 0, 1 };
static float by_hand_V[12] = { 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1 };

static struct attention by_hand(void)
{
    struct attention p = attention_of(1, 1, 1, 4, 4, 3);
    p.scale = 1.0f;
    return p;
}

/* With E = e^-1: the first row's weights are E, E^2, 1, E of a sum of 1 + 2 E + E^2, and so on. */
TEST(fa1, gives_the_numbers_worked_by_hand)
{
    static const double right[12] = { 0.3932, 0.2689, 0.7311, 0.1652, 0.6929, 0.3071,
                                      0.2010, 0.4536, 0.4536, 0.5000, 0.5000, 0.8808 };
    static const double right_lse[4] = { 2.6265, 2.4938, 2.9176, 2.8201 };
    const struct attention p = by_hand();
    const struct tile_size sizes[] = { fa1_size(24, 3), { 1, 1 }, { 3, 4 }, { 4, 3 } };
    for (size_t n = 0; n < 4; n++) {
        float O[12], lse[4];
        fa1(&p, sizes[n],
            (struct tensors){ .Q = by_hand_Q, .K = by_hand_K, .V = by_hand_V, .O = O, .lse = lse });
        for (size_t k = 0; k < 12; k++)
            cr_assert(fabs((double)O[k] - right[k]) <= 6e-5, "O[%zu] is %.5f, expected %.4f", k,
                      (double)O[k], right[k]);
        for (size_t i = 0; i < 4; i++)
            cr_assert(fabs((double)lse[i] - right_lse[i]) <= 6e-5,
                      "lse[%zu] is %.5f, expected %.4f", i, (double)lse[i], right_lse[i]);
    }
}

/* What is in fast memory when the first tile is done: queries 0 and 1, keys 0 and 1. */
static void keep_first(void *context, enum moment moment, const struct head *a, struct tile t,
                       const struct fast_memory *fast)
{
    float *kept = context;
    if (moment != DONE || t.i0 != 0 || t.j0 != 0)
        return;
    for (size_t r = 0; r < 2; r++) {
        kept[r] = fast->m[r];
        kept[2 + r] = fast->l[r];
        for (size_t k = 0; k < 3; k++)
            kept[4 + r * 3 + k] = fast->O[r * a->p->d + k];
    }
}

/* Scores 1 0 and 0 2: m = 1 and 2, l = 1 + e^-1 and e^-2 + 1, and the values are unit vectors. */
TEST(fa1, has_the_averages_worked_by_hand_after_the_first_tile)
{
    static const double right[10] = { 1, 2, 1.3679, 1.1353, 0.7311, 0.2689, 0, 0.1192, 0.8808, 0 };
    struct attention_input input = { by_hand(), .Q = by_hand_Q, .K = by_hand_K, .V = by_hand_V };
    float kept[10] = { 0 };
    set_observer(keep_first, kept);
    count_step(named("fa1"), &input.p, fa1_size(24, 3), tensors_of(&input, NULL, NULL));
    set_observer(NULL, NULL);
    for (size_t k = 0; k < 10; k++)
        cr_assert(fabs((double)kept[k] - right[k]) <= 6e-5, "number %zu is %.5f, expected %.4f", k,
                  (double)kept[k], right[k]);
}
