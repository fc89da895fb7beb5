#include "common/problem/block_mask.h"

#include "common/cpu/memory.h"
#include "common/program/option_table.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- shapes ------------------------------------------------------------------------------------ */

enum { ROOM = 1000, UNWRITTEN = 0xAA };

static uint8_t *unwritten_mask(void)
{
    uint8_t *mask = allocate(ROOM, sizeof *mask, "a test's mask");
    memset(mask, UNWRITTEN, ROOM);
    return mask;
}

static size_t written_after(const uint8_t *mask, size_t count)
{
    size_t written = 0;
    for (size_t k = count; k < ROOM; k++)
        written += mask[k] != UNWRITTEN;
    return written;
}

TEST(block_mask, has_a_block_for_every_begun_stretch_of_queries_and_keys)
{
    const struct {
        size_t n, block, blocks;
    } cases[] = {
        { 1, 1, 1 },   { 1, 64, 1 }, { 63, 64, 1 },        { 64, 64, 1 },
        { 65, 64, 2 }, { 7, 3, 3 },  { 9, 1000000000, 1 }, { 1000000000, 1, 1000000000 }
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct attention p = attention_of(1, 1, 1, cases[k].n, 5, 1);
        struct attention q = attention_of(1, 1, 1, 5, cases[k].n, 1);
        p.mask_rows = q.mask_cols = cases[k].block;
        cr_assert(block_mask_rows(&p) == cases[k].blocks, "%zu rows of %zu queries by %zu",
                  block_mask_rows(&p), cases[k].n, cases[k].block);
        cr_assert(block_mask_columns(&q) == cases[k].blocks, "%zu columns of %zu keys by %zu",
                  block_mask_columns(&q), cases[k].n, cases[k].block);
    }
}

/* ---- band -------------------------------------------------------------------------------------- */

/* `picture` has a line for each row of blocks, and # for each kept block. */
static void assert_band(const struct attention *p, size_t width, const char *picture)
{
    char drawn[100] = "";
    uint8_t *mask = unwritten_mask();
    block_mask_band(mask, p, width);
    for (size_t r = 0, n = 0; r < block_mask_rows(p); r++) {
        for (size_t c = 0; c < block_mask_columns(p); c++)
            drawn[n++] = mask[r * block_mask_columns(p) + c] ? '#' : '.';
        drawn[n++] = '\n';
    }
    cr_assert(strcmp(drawn, picture) == 0, "expected\n%sgot\n%s", picture, drawn);
    free(mask);
}

/* Query 0 is at key 4 from the bottom right, at key 0 from the top left. */
TEST(block_mask_band, by_hand_lies_along_the_places_of_the_queries)
{
    struct attention p = attention_of(1, 1, 1, 4, 8, 1);
    p.mask_rows = p.mask_cols = 2;
    assert_band(&p, 0, "..#.\n...#\n");
    assert_band(&p, 1, ".###\n..##\n");
    assert_band(&p, 2, ".###\n..##\n");
    assert_band(&p, 3, "####\n.###\n");
    p.top_left = true;
    assert_band(&p, 0, "#...\n.#..\n");
    assert_band(&p, 1, "##..\n###.\n");
    assert_band(&p, 3, "###.\n####\n");
}

/* Does the block hold a pair within `width`? By testing all pairs. */
static bool holds_a_pair(const struct attention *p, size_t r, size_t c, size_t width)
{
    const double offset = p->top_left ? 0.0 : (double)p->Nk - (double)p->Nq;
    for (size_t i = 0; i < p->Nq; i++)
        for (size_t j = 0; j < p->Nk; j++)
            if (i / p->mask_rows == r && j / p->mask_cols == c &&
                fabs((double)i + offset - (double)j) <= (double)width)
                return true;
    return false;
}

static struct attention random_shape(uint64_t trial)
{
    struct attention p = attention_of(1, 1, 1, random_between(trial, 0, 0, 1, 25),
                                      random_between(trial, 0, 1, 1, 25), 1);
    p.mask_rows = random_between(trial, 0, 2, 1, random_between(trial, 0, 3, 1, 30));
    p.mask_cols = random_between(trial, 0, 4, 1, random_between(trial, 0, 5, 1, 30));
    p.top_left = random_between(trial, 0, 6, 0, 1) == 1;
    p.causal = random_between(trial, 0, 7, 0, 1) == 1;
    p.window_left = (ptrdiff_t)random_between(trial, 0, 8, 0, 4) - 1;
    p.window_right = (ptrdiff_t)random_between(trial, 0, 9, 0, 4) - 1;
    return p;
}

TEST(block_mask_band, keeps_exactly_the_blocks_that_hold_a_pair_of_the_band)
{
    uint8_t *mask = unwritten_mask();
    for (uint64_t trial = 0; trial < 4000; trial++) {
        struct attention p = random_shape(trial);
        static const uint8_t hides_all[25 * 25] = { 0 };
        p.key_mask = trial % 3 == 0 ? hides_all : NULL;
        p.block_mask = trial % 5 == 0 ? hides_all : NULL;
        const size_t widths[] = { random_between(trial, 0, 10, 0, 10),
                                  random_between(trial, 0, 10, 0, 60), SIZE_MAX };
        const size_t width = widths[random_between(trial, 0, 11, 0, 20) / 10];
        const size_t rows = block_mask_rows(&p), columns = block_mask_columns(&p);
        memset(mask, UNWRITTEN, ROOM);
        block_mask_band(mask, &p, width);
        size_t wrong = written_after(mask, rows * columns);
        for (size_t k = 0; k < rows * columns; k++)
            wrong += mask[k] != (holds_a_pair(&p, k / columns, k % columns, width) ? 1 : 0);
        cr_assert(wrong == 0, "trial %d: Nq %zu, Nk %zu, %zu by %zu, %s, width %zu: %zu wrong",
                  (int)trial, p.Nq, p.Nk, p.mask_rows, p.mask_cols,
                  p.top_left ? "top left" : "bottom right", width, wrong);
    }
    free(mask);
}

/* 10^18 pairs in 20 by 20 blocks: testing pairs would never end. */
TEST(block_mask_band, takes_as_long_as_there_are_blocks)
{
    struct attention p = attention_of(1, 1, 1, 1000000000, 1000000000, 1);
    uint8_t *mask = unwritten_mask();
    p.mask_rows = p.mask_cols = 50000000;
    size_t wrong = 0;
    for (size_t width = 0; width < 2; width++) {
        block_mask_band(mask, &p, width);
        for (size_t k = 0; k < 400; k++) {
            const size_t apart = k / 20 > k % 20 ? k / 20 - k % 20 : k % 20 - k / 20;
            wrong += mask[k] != (apart <= width);
        }
    }
    cr_assert(wrong == 0, "%zu of 800 blocks are wrong", wrong);
    free(mask);
}

/* ---- random ------------------------------------------------------------------------------------ */

/* Word 0 of Philox for zeros is 0x6627e8d5. */
TEST(block_mask_random, keeps_a_block_whose_word_is_below_the_density)
{
    struct attention p = attention_of(1, 1, 1, 1, 1, 1);
    uint8_t *mask = unwritten_mask();
    const struct {
        double density;
        uint8_t kept;
    } cases[] = { { 0x6627e8d5p-32, 0 }, { 0x6627e8d5.01p-32, 1 }, { 0x6627e8d6p-32, 1 } };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        block_mask_random(mask, &p, cases[n].density, 0);
        cr_assert(mask[0] == cases[n].kept, "density %.12g: got %d", cases[n].density, mask[0]);
    }
    free(mask);
}

TEST(block_mask_random, is_counted_by_the_block_and_keyed_by_the_seed)
{
    uint8_t *mask = unwritten_mask();
    const double densities[] = { 0.0, 0.01, 0.37, 0.5, 0.99, 1.0 };
    for (uint64_t trial = 0; trial < 600; trial++) {
        const struct attention p = random_shape(trial);
        const uint64_t seed = trial * 0x123456789ABCDEF;
        const double density = densities[trial % 6];
        const size_t rows = block_mask_rows(&p), columns = block_mask_columns(&p);
        memset(mask, UNWRITTEN, ROOM);
        block_mask_random(mask, &p, density, seed);
        size_t wrong = written_after(mask, rows * columns);
        for (uint32_t r = 0; r < rows; r++)
            for (uint32_t c = 0; c < columns; c++) {
                const struct philox counter = { { c, r, 0, 0 } };
                const double word = philox4x32(counter, seed).word[0];
                wrong += mask[r * columns + c] != (word < density * 4294967296.0);
            }
        cr_assert(wrong == 0, "trial %d, density %g: %zu of %zu by %zu blocks are wrong",
                  (int)trial, density, wrong, rows, columns);
    }
    free(mask);
}

/* The numbers of blocks, and of pairs of neighbours, are within 5 standard deviations. */
TEST(block_mask_random, keeps_the_right_fraction_and_neighbours_know_nothing_of_each_other)
{
    enum { ROWS = 300, COLUMNS = 400, TRIALS = (ROWS - 1) * (COLUMNS - 1) };
    static uint8_t mask[ROWS * COLUMNS], other[ROWS * COLUMNS];
    struct attention p = attention_of(1, 1, 1, 2 * ROWS, 3 * COLUMNS, 1);
    p.mask_rows = 2;
    p.mask_cols = 3;
    const double densities[] = { 0.0, 0.05, 0.5, 0.9, 1.0 };
    for (size_t n = 0; n < sizeof densities / sizeof densities[0]; n++) {
        const double one = densities[n], two = one * one;
        double kept = 0.0, pairs[3] = { 0.0, 0.0, 0.0 };
        block_mask_random(mask, &p, one, 7);
        block_mask_random(other, &p, one, 7 + ((uint64_t)1 << 32));
        for (size_t k = 0; k < TRIALS; k++) {
            const size_t at = k / (COLUMNS - 1) * COLUMNS + k % (COLUMNS - 1);
            const size_t neighbours[] = { mask[at + 1], mask[at + COLUMNS], other[at] };
            kept += mask[at];
            for (size_t m = 0; m < 3; m++)
                pairs[m] += mask[at] && neighbours[m] ? 1.0 : 0.0;
        }
        cr_assert(fabs(kept - TRIALS * one) <= 5.0 * sqrt(TRIALS * one * (1.0 - one)),
                  "density %g: %g of %d kept", one, kept, TRIALS);
        for (size_t m = 0; m < 3; m++)
            cr_assert(fabs(pairs[m] - TRIALS * two) <= 5.0 * sqrt(TRIALS * two * (1.0 - two) * 2.0),
                      "density %g: %g of %d pairs kept, neighbour %zu", one, pairs[m], TRIALS, m);
    }
}

/* ---- names ------------------------------------------------------------------------------------- */

TEST(block_mask_source, is_a_band_a_random_mask_or_else_a_file)
{
    const struct {
        const char *text;
        struct block_mask_source source;
    } cases[] = {
        { "band:0", { BLOCK_MASK_BAND, 0, 0.0, 0 } },
        { "band:1000000000", { BLOCK_MASK_BAND, 1000000000, 0.0, 0 } },
        { "random:0:0", { BLOCK_MASK_RANDOM, 0, 0.0, 0 } },
        { "random:1:5", { BLOCK_MASK_RANDOM, 0, 1.0, 5 } },
        { "random:1.2345678901234567e-300:18446744073709551615",
          { BLOCK_MASK_RANDOM, 0, 1.2345678901234567e-300, UINT64_MAX } },
        { "./band:3", { BLOCK_MASK_FILE, 0, 0.0, 0 } },
        { "band", { BLOCK_MASK_FILE, 0, 0.0, 0 } },
        { "bands:3", { BLOCK_MASK_FILE, 0, 0.0, 0 } },
        { "random.npy", { BLOCK_MASK_FILE, 0, 0.0, 0 } },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const struct block_mask_source expected = cases[k].source;
        const struct block_mask_source got = block_mask_source(cases[k].text);
        cr_assert(got.kind == expected.kind && got.width == expected.width &&
                      got.density == expected.density && got.seed == expected.seed,
                  "%s: kind %d, width %zu, density %g", cases[k].text, (int)got.kind, got.width,
                  got.density);
    }
}
