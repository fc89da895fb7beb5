/*
 * The options of attention: heads, masks and tiles, on all small shapes, against a literal C
 * version of their definitions.
 */
#include "common/problem/attention.h"
#include "common/tests/problems.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- a problem without options ----------------------------------------------------------------- */

TEST(attention, without_options_has_its_shape_and_the_usual_scale_and_hides_and_drops_nothing)
{
    const struct attention p = attention_of(2, 6, 3, 4, 5, 7);
    cr_assert(p.B == 2 && p.H == 6 && p.Hkv == 3 && p.Nq == 4 && p.Nk == 5 && p.d == 7,
              "the shape is %zu %zu %zu %zu %zu %zu", p.B, p.H, p.Hkv, p.Nq, p.Nk, p.d);
    cr_assert(p.scale == (float)(1.0 / sqrt(7.0)), "the scale is %.9g", (double)p.scale);
    cr_assert(p.mask_rows == 64 && p.mask_cols == 64, "the block mask's block is %zu by %zu",
              p.mask_rows, p.mask_cols);
    size_t seen = 0, kept = 0;
    for (size_t n = 0; n < 2 * 6 * 4 * 5; n++) {
        seen += visible(&p, n / 120, n / 20 % 6, n / 5 % 4, n % 5) ? 1 : 0;
        kept += dropout_keeps(&p, n / 120, n / 20 % 6, n / 5 % 4, n % 5) ? 1 : 0;
    }
    cr_assert(seen == 240 && kept == 240, "of 240 keys %zu are seen, %zu kept", seen, kept);
}

TEST(attention, shares_a_key_value_head_among_neighbouring_query_heads)
{
    const struct {
        size_t H, Hkv, expected[6];
    } groups[] = {
        { 6, 6, { 0, 1, 2, 3, 4, 5 } },
        { 6, 3, { 0, 0, 1, 1, 2, 2 } },
        { 6, 2, { 0, 0, 0, 1, 1, 1 } },
        { 6, 1, { 0, 0, 0, 0, 0, 0 } },
    };
    for (size_t n = 0; n < 4; n++)
        for (size_t h = 0; h < 6; h++) {
            struct attention p = attention_of(1, groups[n].H, groups[n].Hkv, 1, 1, 1);
            cr_assert(kv_head(&p, h) == groups[n].expected[h], "head %zu of 6 over %zu reads %zu",
                      h, groups[n].Hkv, kv_head(&p, h));
        }
}

/* ---- which query attends to which key ----------------------------------------------------------- */

/* `picture` has a line for each query, and # for each visible key. */
static void assert_seen(const struct attention *p, const char *picture)
{
    char drawn[100] = "";
    for (size_t i = 0, n = 0; i < p->Nq; i++) {
        for (size_t j = 0; j < p->Nk; j++)
            drawn[n++] = visible(p, 0, 0, i, j) ? '#' : '.';
        drawn[n++] = '\n';
    }
    cr_assert(strcmp(drawn, picture) == 0, "expected\n%sgot\n%s", picture, drawn);
}

TEST(visible, causal_is_aligned_at_the_last_query_and_the_last_key)
{
    struct attention few = attention_of(1, 1, 1, 2, 5, 1), many = attention_of(1, 1, 1, 5, 2, 1);
    few.causal = many.causal = true;
    assert_seen(&few, "####.\n#####\n");
    assert_seen(&many, "..\n..\n..\n#.\n##\n");
}

TEST(visible, causal_from_the_top_left_is_aligned_at_the_first_query_and_the_first_key)
{
    struct attention few = attention_of(1, 1, 1, 2, 5, 1), many = attention_of(1, 1, 1, 5, 2, 1);
    few.causal = many.causal = few.top_left = many.top_left = true;
    assert_seen(&few, "#....\n##...\n");
    assert_seen(&many, "#.\n##\n##\n##\n##\n");
}

TEST(visible, window_stands_around_the_same_place_as_causal)
{
    struct attention p = attention_of(1, 1, 1, 3, 5, 1);
    p.window_left = 1;
    p.window_right = 0;
    assert_seen(&p, ".##..\n..##.\n...##\n");
    p.window_left = -1;
    assert_seen(&p, "###..\n####.\n#####\n");
    p.window_left = 0;
    p.window_right = 1;
    assert_seen(&p, "..##.\n...##\n....#\n");
    p.window_right = -1;
    assert_seen(&p, "..###\n...##\n....#\n");
    p.top_left = true;
    assert_seen(&p, "#####\n.####\n..###\n");
    p.causal = true;
    assert_seen(&p, "#....\n.#...\n..#..\n");
}

TEST(visible, windows_wider_than_any_problem_hide_nothing)
{
    struct attention few = attention_of(1, 1, 1, 2, 3, 1), many = attention_of(1, 1, 1, 3, 2, 1);
    few.window_left = many.window_left = PTRDIFF_MAX;
    few.window_right = many.window_right = PTRDIFF_MAX;
    assert_seen(&few, "###\n###\n");
    assert_seen(&many, "##\n##\n##\n");
}

TEST(visible, masks_show_what_is_not_zero)
{
    const uint8_t keys[] = { 0, 1, 2, 255, 0 }, blocks[] = { 0, 128, 1, 0 };
    struct attention p = attention_of(1, 1, 1, 3, 5, 1);
    p.key_mask = keys;
    assert_seen(&p, ".###.\n.###.\n.###.\n");
    p.block_mask = blocks;
    p.mask_rows = 2;
    p.mask_cols = 3;
    assert_seen(&p, "...#.\n...#.\n.##..\n");
    p.key_mask = NULL;
    assert_seen(&p, "...##\n...##\n###..\n");
}

static bool sees(const struct attention *p, size_t b, size_t query, size_t key)
{
    const long i = (long)query, j = (long)key, Nq = (long)p->Nq, Nk = (long)p->Nk;
    const long offset = p->top_left ? 0 : Nk - Nq;
    bool causal = true, left = true, right = true, in_key_mask = true, in_block_mask = true;
    if (p->causal)
        causal = j <= i + offset;
    if (p->window_left != -1)
        left = i + offset - p->window_left <= j;
    if (p->window_right != -1)
        right = j <= i + offset + p->window_right;
    if (p->key_mask)
        in_key_mask = p->key_mask[b * p->Nk + key];
    if (p->block_mask) {
        const size_t columns = p->Nk / p->mask_cols + (p->Nk % p->mask_cols ? 1 : 0);
        in_block_mask = p->block_mask[query / p->mask_rows * columns + key / p->mask_cols];
    }
    return causal && left && right && in_key_mask && in_block_mask;
}

static void check_visible(const struct test_problem *t)
{
    const struct attention *p = &t->p;
    size_t wrong = 0;
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t i = 0; i < p->Nq; i++)
                for (size_t j = 0; j < p->Nk; j++)
                    wrong += visible(p, b, h, i, j) == sees(p, b, i, j) ? 0 : 1;
    cr_assert(wrong == 0, "%zu pairs are wrong: %s", wrong, problem_text(t));
}

/* ---- tiles ------------------------------------------------------------------------------------- */

static enum tile_kind kind_by_pairs(const struct attention *p, size_t b, const size_t tile[4])
{
    size_t seen = 0, all = 0;
    for (size_t i = tile[0]; i < tile[1]; i++)
        for (size_t j = tile[2]; j < tile[3]; j++, all++)
            seen += sees(p, b, i, j) ? 1 : 0;
    return seen == 0 ? TILE_SKIPPED : seen == all ? TILE_FULL : TILE_PARTIAL;
}

/*
 * SKIPPED if the band, key mask or block mask alone masks the whole tile, FULL if none masks any of
 * it, otherwise PARTIAL: exact with one of the three.
 */
static enum tile_kind kind_by_options(const struct attention *p, size_t b, const size_t tile[4])
{
    struct attention alone[3] = { *p, *p, *p };
    alone[0].key_mask = alone[0].block_mask = alone[1].block_mask = alone[2].key_mask = NULL;
    for (int n = 1; n < 3; n++) {
        alone[n].causal = false;
        alone[n].window_left = alone[n].window_right = -1;
    }
    size_t whole = 0;
    for (int n = 0; n < 3; n++) {
        const enum tile_kind kind = kind_by_pairs(&alone[n], b, tile);
        if (kind == TILE_SKIPPED)
            return TILE_SKIPPED;
        whole += kind == TILE_FULL ? 1 : 0;
    }
    return whole == 3 ? TILE_FULL : TILE_PARTIAL;
}

static void check_tiles(const struct test_problem *t)
{
    const struct attention *p = &t->p;
    size_t broken = 0, other = 0, tile[4];
    for (size_t b = 0; b < p->B; b++)
        for (tile[0] = 0; tile[0] < p->Nq; tile[0]++)
            for (tile[1] = tile[0] + 1; tile[1] <= p->Nq; tile[1]++)
                for (tile[2] = 0; tile[2] < p->Nk; tile[2]++)
                    for (tile[3] = tile[2] + 1; tile[3] <= p->Nk; tile[3]++) {
                        const enum tile_kind kind =
                            tile_kind(p, b, b % p->H, tile[0], tile[1], tile[2], tile[3]);
                        const bool promise = kind != TILE_PARTIAL;
                        broken += promise && kind != kind_by_pairs(p, b, tile) ? 1 : 0;
                        other += kind != kind_by_options(p, b, tile) ? 1 : 0;
                    }
    cr_assert(broken == 0, "%zu tiles are not what was promised: %s", broken, problem_text(t));
    cr_assert(other == 0, "%zu tiles could be told more exactly: %s", other, problem_text(t));
}

static void check_bands(size_t Nq, size_t Nk, unsigned masks, uint64_t seed)
{
    const ptrdiff_t widths[] = { -1, 0, 1, 3, 1000 };
    struct attention p = attention_of(2, 2, 1, Nq, Nk, 1);
    p.mask_rows = random_between(seed, 100, Nq, 1, 4);
    p.mask_cols = random_between(seed, 101, Nk, 1, 4);
    struct test_problem t = problem_of(p, masks, seed);
    for (size_t n = 0; n < 2 * 2 * 5 * 5; n++) {
        t.p.causal = n % 2;
        t.p.top_left = n / 2 % 2;
        t.p.window_left = widths[n / 4 % 5];
        t.p.window_right = widths[n / 20];
        check_visible(&t);
        check_tiles(&t);
    }
    problem_free(&t);
}

TEST(tiles, and_pairs_are_as_the_semantics_say_for_all_small_shapes_and_bands)
{
    for (size_t Nq = 1; Nq <= 7; Nq++)
        for (size_t Nk = 1; Nk <= 7; Nk++)
            check_bands(Nq, Nk, 0, 0);
}

TEST(tiles, and_pairs_are_as_the_semantics_say_with_masks_too)
{
    const unsigned masks[] = { WITH_KEY_MASK, WITH_BLOCK_MASK, WITH_KEY_MASK | WITH_BLOCK_MASK };
    for (uint64_t seed = 1; seed <= 60; seed++)
        check_bands(random_between(seed, 102, 0, 1, 7), random_between(seed, 102, 1, 1, 7),
                    masks[seed % 3], seed);
}

TEST(tiles, are_told_by_masks_that_show_with_any_number_but_zero)
{
    const uint8_t keys[] = { 2, 255, 0, 0, 3 }, blocks[] = { 0, 7, 1, 2 };
    struct attention by_keys = attention_of(1, 1, 1, 6, 5, 1), by_blocks = by_keys;
    by_keys.key_mask = keys;
    by_blocks.block_mask = blocks;
    by_blocks.mask_rows = 4;
    by_blocks.mask_cols = 3;
    const enum tile_kind found[] = {
        tile_kind(&by_keys, 0, 0, 0, 6, 0, 2),   tile_kind(&by_keys, 0, 0, 0, 6, 2, 4),
        tile_kind(&by_keys, 0, 0, 0, 6, 1, 3),   tile_kind(&by_blocks, 0, 0, 4, 6, 0, 5),
        tile_kind(&by_blocks, 0, 0, 0, 4, 0, 3), tile_kind(&by_blocks, 0, 0, 3, 5, 2, 4),
    };
    const enum tile_kind expected[] = { TILE_FULL, TILE_SKIPPED, TILE_PARTIAL,
                                        TILE_FULL, TILE_SKIPPED, TILE_PARTIAL };
    for (int n = 0; n < 6; n++)
        cr_assert(found[n] == expected[n], "tile %d: expected kind %d, got %d", n, (int)expected[n],
                  (int)found[n]);
}

TEST(visible, does_not_know_the_alignment_where_queries_and_keys_are_equally_many)
{
    size_t different = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        const unsigned options = random_options(seed, WITH_CAUSAL | WITH_WINDOW);
        struct test_problem t = random_problem(seed, attention_of(1, 1, 1, 9, 9, 1), options);
        struct attention top_left = t.p;
        top_left.top_left = true;
        for (size_t i = 0; i < t.p.Nq; i++)
            for (size_t j = 0; j < t.p.Nk; j++)
                different += visible(&t.p, 0, 0, i, j) != visible(&top_left, 0, 0, i, j) ? 1 : 0;
        problem_free(&t);
    }
    cr_assert(different == 0, "%zu pairs differ", different);
}
