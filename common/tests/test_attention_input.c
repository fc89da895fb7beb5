#include "common/problem/attention_input.h"

#include "common/problem/block_mask.h"
#include "common/program/attention_load.h"
#include "common/tests/command.h"
#include "common/tests/command_line.h"
#include "common/tests/problems.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <string.h>

TEST(attention_input, has_the_dropout_that_was_asked_for)
{
    struct options o =
        command_line(5, "--n-q 2 --d 1 --dropout 0.3 --dropout-seed 5000000000 --softcap 2.5");
    struct attention_input input = attention_input_load(&o);
    struct attention expected = input.p;
    attention_set_dropout(&expected, 0.3, 5000000000);
    cr_assert(input.p.softcap == 2.5f, "softcap %g", (double)input.p.softcap);
    cr_assert(input.p.dropout == 0.3 && input.p.dropout_seed == 5000000000 &&
                  input.p.dropout_threshold == expected.dropout_threshold,
              "dropout %g, threshold %u", input.p.dropout, (unsigned)input.p.dropout_threshold);
    attention_input_free(&input);
    o = command_line(5, "--n-q 2 --d 1");
    input = attention_input_load(&o);
    cr_assert(input.p.dropout_threshold == 0 && !input.p.block_mask && !input.block_mask,
              "dropout or a block mask that nobody asked for");
    attention_input_free(&input);
}

static void assert_mask(const char *line, size_t mask_rows, size_t mask_cols, bool top_left,
                        const uint8_t *expected)
{
    const struct options o = command_line(5, line);
    struct attention_input input = attention_input_load(&o);
    const struct attention *p = &input.p;
    cr_assert(p->mask_rows == mask_rows && p->mask_cols == mask_cols, "%s: %zu by %zu", line,
              p->mask_rows, p->mask_cols);
    cr_assert(p->block_mask && p->block_mask == input.block_mask, "%s: no mask", line);
    cr_assert(p->top_left == top_left, "%s: top_left is %d", line, p->top_left);
    cr_assert(memcmp(p->block_mask, expected, block_mask_rows(p) * block_mask_columns(p)) == 0,
              "%s: another mask", line);
    attention_input_free(&input);
}

TEST(attention_input, has_the_named_block_mask_at_the_alignment_that_was_asked_for)
{
    uint8_t expected[100];
    struct attention p = attention_of(1, 1, 1, 90, 300, 2);
    block_mask_random(expected, &p, 0.5, 77);
    assert_mask("--n-q 90 --n-k 300 --d 2 --block-mask random:0.5:77", 64, 64, false, expected);
    p.mask_rows = 20;
    p.mask_cols = 30;
    block_mask_band(expected, &p, 17);
    assert_mask("--n-q 90 --n-k 300 --d 2 --mask-block 20,30 --block-mask band:17", 20, 30, false,
                expected);
    p.top_left = true;
    block_mask_band(expected, &p, 17);
    assert_mask("--n-q 90 --n-k 300 --d 2 --block-mask band:17 --mask-block 20,30 "
                "--causal=top-left",
                20, 30, true, expected);
}

TEST(attention_input, has_the_block_mask_of_a_file)
{
    const uint8_t mask[2 * 3] = { 1, 0, 1, 0, 0, 1 };
    command_array("b.npy", NPY_B1, 2, (size_t[]){ 2, 3 }, mask);
    command_array("u.npy", NPY_U1, 2, (size_t[]){ 3, 2 }, mask);
    assert_mask("--n-q 65 --n-k 192 --d 2 --block-mask @/b.npy", 64, 64, false, mask);
    assert_mask("--n-q 9 --n-k 8 --d 2 --block-mask @/u.npy --mask-block 4,5", 4, 5, false, mask);
}

TEST(attention_input, refuses_a_block_mask_of_another_shape_or_type)
{
    const double zeros[6] = { 0.0 };
    command_array("b.npy", NPY_B1, 2, (size_t[]){ 2, 3 }, zeros);
    command_array("turned.npy", NPY_B1, 2, (size_t[]){ 3, 2 }, zeros);
    command_array("line.npy", NPY_U1, 1, (size_t[]){ 6 }, zeros);
    command_array("cube.npy", NPY_U1, 3, (size_t[]){ 2, 3, 1 }, zeros);
    command_array("floats.npy", NPY_F4, 2, (size_t[]){ 2, 3 }, zeros);
    command_file("text.npy", "hello", 5);
    const struct {
        const char *options, *part;
    } bad[] = {
        { "--block-mask @/turned.npy",
          "turned.npy: expected shape (ceil(Nq / 64), ceil(Nk / 64)) = (2, 3), found (3, 2)" },
        { "--block-mask @/b.npy --mask-block 65,64",
          "b.npy: expected shape (ceil(Nq / 65), ceil(Nk / 64)) = (1, 3), found (2, 3)" },
        { "--block-mask @/b.npy --mask-block 64,63",
          "b.npy: expected shape (ceil(Nq / 64), ceil(Nk / 63)) = (2, 4), found (2, 3)" },
        { "--block-mask @/line.npy", "line.npy: expected shape" },
        { "--block-mask @/cube.npy", "cube.npy: expected shape" },
        { "--block-mask @/floats.npy", "floats.npy: expected a mask of bool or uint8" },
        { "--block-mask @/text.npy", "text.npy: " },
        { "--block-mask @/none.npy", "none.npy: " },
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        char line[200];
        snprintf(line, sizeof line, "--n-q 65 --n-k 192 --d 2 %s", bad[k].options);
        command_line_refused(5, line, true, bad[k].part);
    }
}

/* More blocks than there are addresses, from a small input. */
TEST(attention_input, says_so_when_a_block_mask_does_not_fit_into_memory)
{
    enum { N = 16000000 };
    if (command_is_sanitized())
        return;
    void *zeros = calloc(N, 2);
    cr_assert(zeros, "out of memory");
    command_array("q.npy", NPY_F2, 2, (size_t[]){ N, 1 }, zeros);
    free(zeros);
    command_line_refused(5,
                         "--q @/q.npy --k @/q.npy --v @/q.npy --block-mask band:3 --mask-block 1,1",
                         true, "out of memory: the block mask needs");
}

// ---- pairs --------------------------------------------------------------------------------------

TEST(attention_pairs, are_those_that_are_visible)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        const unsigned options = random_options(seed, WITH_EVERYTHING);
        struct test_problem t = random_problem(seed, attention_of(2, 4, 4, 20, 20, 1), options);
        const struct attention *p = &t.p;
        size_t pairs = 0;
        for (size_t b = 0; b < p->B; b++)
            for (size_t h = 0; h < p->H; h++)
                for (size_t i = 0; i < p->Nq; i++)
                    for (size_t j = 0; j < p->Nk; j++)
                        pairs += visible(p, b, h, i, j) ? 1 : 0;
        cr_assert(attention_pairs(p) == pairs, "%s: %zu, not %zu", problem_text(&t),
                  attention_pairs(p), pairs);
        problem_free(&t);
    }
}

/* Testing each pair would take minutes. */
TEST(attention_pairs, of_a_large_problem_are_there_at_once)
{
    enum { N = 16384, BLOCKS = N / 64 };
    struct attention p = attention_of(4, 32, 32, N, N, 128);
    uint8_t *const keys = calloc(4, N), *const blocks = calloc(BLOCKS, BLOCKS);
    cr_assert(attention_pairs(&p) == (size_t)128 * N * N, "%zu", attention_pairs(&p));
    p.causal = true;
    for (int n = 0; n < 1000; n++)
        cr_assert(attention_pairs(&p) == (size_t)128 * N * (N + 1) / 2, "%zu", attention_pairs(&p));
    for (size_t k = 0; k < 4 * N; k++)
        keys[k] = k % 2 == 0;
    for (size_t k = 0; k < BLOCKS; k++)
        blocks[k * BLOCKS + k] = 1;
    p.key_mask = keys;
    for (int n = 0; n < 1000; n++)
        cr_assert(attention_pairs(&p) == (size_t)128 * (N / 2) * (N / 2 + 1), "%zu",
                  attention_pairs(&p));
    p.block_mask = blocks;
    for (int n = 0; n < 100; n++)
        cr_assert(attention_pairs(&p) == (size_t)128 * BLOCKS * 32 * 33, "%zu",
                  attention_pairs(&p));
    p.key_mask = p.block_mask = NULL;
    p.window_left = 0;
    cr_assert(attention_pairs(&p) == (size_t)128 * N, "%zu", attention_pairs(&p));
    free(keys);
    free(blocks);
}
