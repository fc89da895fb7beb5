/*
 * Counted accesses against their formulas, extra memory, and tiles of each kind.
 */
#include "05_flash_tiled_cpu/tests/tiles.h"
#include "common/measure/traffic.h"
#include "common/measure/watch.h"
#include "common/tests/test.h"

#include <string.h>

/* The step after this one that has a watched build. */
static const struct step *next_watched(const struct step *step)
{
    do
        step++;
    while (step < end() && !step->watched);
    return step;
}

static unsigned options_of(const struct step *step)
{
    return step->supports & SUPPORTS_SCORE     ? WITH_EVERYTHING | WITH_SOFTCAP
           : step->supports & SUPPORTS_DROPOUT ? WITH_EVERYTHING
           : step->supports & SUPPORTS_WINDOW  ? WITH_MASKS
                                               : WITH_SHAPES;
}

/* On 40 problems every line of the step's table, and their sum, is what the formula gives. */
static void assert_counts(const struct step *step)
{
    for (uint64_t seed = 1; CAN_WATCH && seed <= 40; seed++) {
        const struct attention most =
            seed % 4 ? attention_of(2, 4, 4, 40, 40, 12) : attention_of(2, 2, 2, 9, 800, 5);
        const unsigned options = random_options(seed, options_of(step));
        struct test_problem t =
            random_problem(seed, most, seed % 4 ? options : options | WITH_UNEQUAL_LENGTHS);
        const struct attention_input input = input_of(&t);
        const struct tile_size size = tiles_of(step, seed % TILE_FORMS, &t.p);
        const struct count c = count_step(step, &input.p, size, tensors_of(&input, NULL, NULL));
        for (size_t k = 0; k < c.accesses.n; k++) {
            const struct counted *line = &c.accesses.line[k];
            cr_assert(line->count == line->predicted,
                      "%s --step %s --br %zu --bc %zu: %s are %zu, and should be %zu",
                      problem_text(&t), step->name, size.Br, size.Bc, line->what, line->count,
                      line->predicted);
        }
        cr_assert(c.as_predicted && c.total > 0, "%s: %zu accesses", step->name, c.total);
        cr_assert(c.pairs == attention_pairs(&t.p), "%s: %zu pairs, not %zu", problem_text(&t),
                  c.pairs, attention_pairs(&t.p));
        problem_free(&t);
    }
}

TEST(accesses, of_standard_are_those_of_its_formula)
{
    assert_counts(named("standard"));
}

TEST(accesses, of_block_matmul_are_those_of_its_formula)
{
    assert_counts(named("block_matmul"));
}

TEST(accesses, of_fa1_are_those_of_its_formula)
{
    assert_counts(named("fa1"));
}

TEST(accesses, of_fa2_are_those_of_its_formula)
{
    assert_counts(named("fa2"));
}

TEST(accesses, of_masks_are_those_of_its_formula)
{
    assert_counts(named("masks"));
}

TEST(accesses, of_dropout_are_those_of_its_formula)
{
    assert_counts(named("dropout"));
}

TEST(accesses, of_split_kv_are_those_of_its_formula)
{
    assert_counts(named("split_kv"));
}

TEST(accesses, of_softcap_are_those_of_its_formula)
{
    assert_counts(named("softcap"));
}

DECLARE_WATCHED(fa1);
DECLARE_WATCHED(fa2);

/* A step that makes an access more than another whose formula it claims. */
static void fa2_and_a_load(const struct attention *p, struct tile_size size, struct tensors x)
{
    WATCHED(fa2)(p, size, x);
    traffic_count(x.V, 1, false);
}

TEST(count, notices_one_access_too_many)
{
    struct test_problem t = problem_of(attention_of(1, 1, 1, 9, 9, 3), 0, 1);
    const struct attention_input input = input_of(&t);
    struct step step = *named("fa2");
    const struct tile_size size = { 2, 3 };
    if (!CAN_WATCH)
        return;
    const struct tensors x = tensors_of(&input, NULL, NULL);
    cr_assert(count_step(&step, &input.p, size, x).as_predicted, "fa2 is not as predicted");
    step.watched = fa2_and_a_load;
    cr_assert(!count_step(&step, &input.p, size, x).as_predicted, "one load more goes unseen");
    step = *named("fa2");
    step.predict = predict_block_matmul;  // has no lse
    cr_assert(!count_step(&step, &input.p, size, x).as_predicted, "stores of lse go unseen");
    problem_free(&t);
}

/* lse costs fa1, which reads m and l for it, 3 Nq accesses, and fa2 Nq. */
TEST(count, without_lse_is_so_much_less)
{
    enum { NQ = 33, NK = 29, D = 8, TR = 5, TC = 10 };
    struct test_problem t = problem_of(attention_of(1, 1, 1, NQ, NK, D), 0, 1);
    static float O[NQ * D];
    struct tile_size size = { 7, 3 };
    for (int n = 0; CAN_WATCH && n < 2; n++) {
        traffic_reset();
        traffic_watch("Q", t.Q, NQ * D);
        traffic_watch("K", t.K, NK * D);
        traffic_watch("V", t.V, NK * D);
        traffic_watch("O", O, NQ * D);
        (n ? WATCHED(fa2) : WATCHED(fa1))(&t.p, size, problem_tensors(&t, O, NULL));
        const struct traffic all = traffic_total();
        const size_t right = n ? 2 * NQ * D + 2 * TR * NK * D
                               : NQ * D + 2 * NQ + 2 * NK * D + TC * (3 * NQ * D + 4 * NQ);
        cr_assert(all.loads + all.stores == right, "fa%d: %zu accesses, expected %zu", n + 1,
                  all.loads + all.stores, right);
    }
    problem_free(&t);
}

// ---- extra memory -------------------------------------------------------------------------------

static struct count count_plain(const struct step *step, size_t heads, size_t Nq, size_t Nk,
                                size_t d, struct tile_size size)
{
    struct test_problem t = problem_of(attention_of(1, heads, heads, Nq, Nk, d), 0, 1);
    const struct attention_input input = input_of(&t);
    const struct count c = count_step(step, &input.p, size, tensors_of(&input, NULL, NULL));
    problem_free(&t);
    return c;
}

TEST(extra_memory, is_s_and_p_in_standard_m_and_l_in_fa1_and_none_in_fa2)
{
    static const struct tile_size sizes[] = { { 1, 1 }, { 7, 3 }, { 500, 500 } };
    for (size_t n = 0; n < 3; n++) {
        for (const struct step *step = table.steps; step < end(); step = next_watched(step)) {
            const size_t right = step == named("standard") ? 8 * 70 * 90
                                 : step == named("fa1")    ? 8 * 70
                                                           : 0;
            if (step == named("split_kv"))
                continue;
            const struct count c = count_plain(step, 2, 70, 90, 5, sizes[n]);
            cr_assert(c.slow_bytes == right, "%s stores %zu bytes whole, expected %zu", step->name,
                      c.slow_bytes, right);
        }
    }
}

TEST(extra_memory, of_parts_is_m_l_and_o_for_each)
{
    const size_t right = (size_t)4 * 2 * 2 * (5 + 2);  // queries of a tile, splits
    const struct count c =
        count_plain(named("split_kv"), 2, 3, 900, 5, (struct tile_size){ 2, 50 });
    cr_assert(c.slow_bytes == right, "%zu bytes stored whole, expected %zu", c.slow_bytes, right);
}

/*
 * Tiles of Q and O, of K and V, of S, and m and l; no larger than the problem can use. standard has a
 * tile of queries and one of keys.
 */
TEST(extra_memory, that_is_fast_is_a_tile_of_each)
{
    const size_t tiles = 2 * 16 * 8 + 2 * 10 * 8 + 16 * 10 + 2 * 16;
    const size_t all = 2 * 33 * 8 + 2 * 29 * 8 + 33 * 29 + 2 * 33;
    const struct count c =
        count_plain(named("standard"), 1, 33, 29, 8, (struct tile_size){ 16, 10 });
    cr_assert(c.fast_bytes == 4 * (16 + 10) * 8, "standard: %zu bytes", c.fast_bytes);
    for (const struct step *step = named("block_matmul"); step <= named("split_kv"); step++) {
        const size_t some =
            count_plain(step, 1, 33, 29, 8, (struct tile_size){ 16, 10 }).fast_bytes;
        const size_t most =
            count_plain(step, 1, 33, 29, 8, (struct tile_size){ 99, 99 }).fast_bytes;
        cr_assert(some == 4 * tiles && most == 4 * all, "%s: %zu and %zu bytes, expected %zu, %zu",
                  step->name, some, most, 4 * tiles, 4 * all);
    }
}

// ---- tiles --------------------------------------------------------------------------------------

static void assert_tiles(const char *what, const struct attention *p, struct tile_size size,
                         struct tile_counts right)
{
    const struct tile_counts found = count_tiles(p, size);
    cr_assert(memcmp(found.of_kind, right.of_kind, sizeof right.of_kind) == 0 &&
                  found.keys == right.keys,
              "%s: %zu whole, %zu partial, %zu skipped, %zu keys", what, found.of_kind[TILE_FULL],
              found.of_kind[TILE_PARTIAL], found.of_kind[TILE_SKIPPED], found.keys);
}

#define TILES(whole, partial, skipped)                                                \
    {                                                                                 \
        [TILE_FULL] = (whole), [TILE_PARTIAL] = (partial), [TILE_SKIPPED] = (skipped) \
    }

TEST(count_tiles, tells_whole_partial_and_skipped_ones)
{
    const uint8_t keys[16] = { 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1 };
    const uint8_t blocks[4] = { 1, 0, 0, 1 };
    const struct tile_size four = { 4, 4 };
    struct attention p = attention_of(1, 2, 2, 16, 16, 1);
    assert_tiles("none", &p, four, (struct tile_counts){ .of_kind = TILES(32, 0, 0), .keys = 128 });
    assert_tiles("none, ragged", &p, (struct tile_size){ 5, 7 },
                 (struct tile_counts){ .of_kind = TILES(24, 0, 0), .keys = 128 });
    p.causal = true;
    assert_tiles("causal", &p, four,
                 (struct tile_counts){ .of_kind = TILES(12, 8, 12), .keys = 80 });
    assert_tiles("causal, ragged", &p, (struct tile_size){ 8, 3 },
                 (struct tile_counts){ .of_kind = TILES(6, 12, 6), .keys = 2 * (9 + 16) });
    p.causal = false;
    p.key_mask = keys;
    assert_tiles("key mask", &p, four,
                 (struct tile_counts){ .of_kind = TILES(8, 16, 8), .keys = 96 });
    p.key_mask = NULL;
    p.block_mask = blocks;
    p.mask_rows = p.mask_cols = 8;
    assert_tiles("block mask", &p, four,
                 (struct tile_counts){ .of_kind = TILES(16, 0, 16), .keys = 64 });
    assert_tiles("block mask, all one tile", &p, (struct tile_size){ 20, 20 },
                 (struct tile_counts){ .of_kind = TILES(0, 2, 0), .keys = 32 });
}
