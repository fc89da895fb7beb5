/*
 * Theorem 1, checked: after every tile m, l and O are right for the keys so far. Observers get
 * each tile twice.
 */
#include "05_flash_tiled_cpu/steps/observe.h"
#include "05_flash_tiled_cpu/steps/trace.h"
#include "05_flash_tiled_cpu/tests/tiles.h"
#include "common/tests/test.h"

#include <math.h>

static struct theorem check(const struct step *step, const struct test_problem *t,
                            struct tile_size size)
{
    const struct attention_input input = input_of(t);
    return theorem_check(step, &input, size, step == named("fa1"), NULL);
}

static void assert_theorem(const struct step *step)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct test_problem t = random_problem(seed, attention_of(2, 2, 2, 70, 70, 20),
                                               random_options(seed, WITH_SHAPES));
        const struct attention *p = &t.p;
        const struct tile_size size = tiles_of(step, seed % TILE_FORMS, p);
        const size_t tiles =
            p->B * p->H * ((p->Nq - 1) / size.Br + 1) * ((p->Nk - 1) / size.Bc + 1);
        const struct theorem proof = check(step, &t, size);
        cr_assert(proof.tiles == tiles && proof.keys == p->Nk,
                  "%s --step %s --br %zu --bc %zu: checked at %zu of %zu tiles, the last at %zu"
                  " keys",
                  problem_text(&t), step->name, size.Br, size.Bc, proof.tiles, tiles, proof.keys);
        cr_assert(proof.error_m <= 4e-6 && proof.error_l <= 4e-6 && proof.error_O <= 4e-6,
                  "%s --step %s --br %zu --bc %zu: m is off by %.2g, l by %.2g, O by %.2g",
                  problem_text(&t), step->name, size.Br, size.Bc, proof.error_m, proof.error_l,
                  proof.error_O);
        problem_free(&t);
    }
}

TEST(theorem_1, holds_after_every_tile_of_fa1)
{
    assert_theorem(named("fa1"));
}

TEST(theorem_1, holds_after_every_tile_of_fa2)
{
    assert_theorem(named("fa2"));
}

/* How often theorem_check has called, and with how many keys. */
static size_t calls, keys_sum;

static void count_calls(const struct theorem *so_far)
{
    calls++;
    keys_sum += so_far->keys;
}

TEST(theorem_1, is_told_each_time_that_more_keys_have_gone_past)
{
    struct test_problem t = problem_of(attention_of(1, 1, 1, 20, 25, 4), 0, 1);
    const struct attention_input input = input_of(&t);
    theorem_check(named("fa1"), &input, (struct tile_size){ 8, 10 }, true, count_calls);
    cr_assert(calls == 3 && keys_sum == 10 + 20 + 25, "%zu calls, and %zu keys in all", calls,
              keys_sum);
    problem_free(&t);
}

// ---- does the check notice? ---------------------------------------------------------------------

/* A step of one query and two keys, whose scores are 0 and 0, with something to spoil. */
static float fake_m, fake_l, fake_O[2];

static void fake(const struct attention *p, struct tile_size size, struct tensors x)
{
    (void)size;
    const struct head a = head_of(p, 0, x);
    float S[2] = { 0.5f, 0.5f };
    const struct fast_memory fast = { .S = S, .m = &fake_m, .l = &fake_l, .O = fake_O };
    observing(observe_context, DONE, &a, (struct tile){ .rows = 1, .cols = 2 }, &fast);
}

static void predict_nothing(const struct attention *p, struct tile_size size, struct accesses *a)
{
    (void)p, (void)size;
    a->n = 0;
}

static struct theorem check_fake(float m, float l, float o, bool divided)
{
    static float Q[2], K[4], V[4] = { 1, 2, 3, 4 };
    const struct step step = { .name = "fake", .watched = fake, .predict = predict_nothing };
    struct attention_input input = { attention_of(1, 1, 1, 1, 2, 2), .Q = Q, .K = K, .V = V };
    fake_m = m;
    fake_l = l;
    fake_O[0] = 2.0f * (divided ? 1.0f : l);  // the average of 1 and 3
    fake_O[1] = o;                            // of 2 and 4
    return theorem_check(&step, &input, (struct tile_size){ 1, 2 }, divided, NULL);
}

static bool holds(struct theorem t)
{
    return t.tiles == 1 && t.error_m <= 1e-6 && t.error_l <= 1e-6 && t.error_O <= 1e-6;
}

TEST(theorem_1, is_not_said_of_a_step_with_a_wrong_m_or_l_or_o)
{
    cr_assert(holds(check_fake(0, 2, 3, true)), "the right numbers, divided");
    cr_assert(holds(check_fake(0, 2, 6, false)), "the right numbers, undivided");
    cr_assert(!holds(check_fake(1e-3f, 2, 3, true)), "m is wrong");
    cr_assert(!holds(check_fake(0, 2.001f, 3, true)), "l is wrong");
    cr_assert(!holds(check_fake(0, 2, 3.001f, true)), "O is wrong");
    cr_assert(!holds(check_fake(0, 2, 6.001f, false)), "O, not divided, is wrong");
    cr_assert(!holds(check_fake(0, 2, 3, false)), "O has been divided");
    cr_assert(!holds(check_fake(NAN, 2, 3, true)), "m is NaN");
    cr_assert(!holds(check_fake(0, NAN, 3, true)), "l is NaN");
    cr_assert(!holds(check_fake(0, 2, NAN, true)), "O is NaN");
    cr_assert(!holds(check_fake(-INFINITY, 0, 0, false)), "nothing has been seen");
}

TEST(theorem_1, of_fa2_is_about_an_output_that_is_not_yet_divided)
{
    struct test_problem t = problem_of(attention_of(1, 1, 1, 10, 10, 4), 0, 1);
    const struct attention_input input = input_of(&t);
    const struct tile_size size = { 4, 4 };
    cr_assert(theorem_check(named("fa2"), &input, size, true, NULL).error_O > 0.1, "fa2 divides");
    cr_assert(theorem_check(named("fa1"), &input, size, false, NULL).error_O > 0.1,
              "fa1 does not divide");
    problem_free(&t);
}

// ---- observers ---------------------------------------------------------------------------------

struct seen {
    size_t scored, done, wrong;
    struct tile tile;  // the one that was scored last
};

static void look(void *context, enum moment moment, const struct head *a, struct tile t,
                 const struct fast_memory *fast)
{
    struct seen *seen = context;
    if (moment == SCORED) {
        float score = 0.0f;  // of the tile's first pair
        for (size_t k = 0; k < a->p->d; k++)
            score += a->Q[t.i0 * a->p->d + k] * a->K[t.j0 * a->p->d + k];
        score *= a->p->scale;
        seen->wrong += fast->S[0] != -INFINITY && !(fabsf(fast->S[0] - score) <= 1e-5f);
        seen->wrong += seen->scored != seen->done;
        seen->scored++;
        seen->tile = t;
    } else {
        seen->done++;
        seen->wrong += seen->scored != seen->done || t.i0 != seen->tile.i0 ||
                       t.j0 != seen->tile.j0 || t.rows != seen->tile.rows ||
                       t.cols != seen->tile.cols;
    }
    for (size_t k = 0; k < t.rows * t.cols; k++)  // a score below m, and then a weight
        seen->wrong += moment == DONE && a->p->dropout == 0.0 &&
                       !(fast->S[k] >= 0.0f && fast->S[k] <= 1.0f + 1e-5f);
}

TEST(observer, sees_every_tile_that_is_not_skipped_twice)
{
    for (const struct step *step = named("fa1"); step <= named("split_kv"); step++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct test_problem t = random_problem(
                seed, attention_of(2, 2, 2, 40, 40, 9),
                random_options(seed, step->supports & SUPPORTS_DROPOUT  ? WITH_EVERYTHING
                                     : step->supports & SUPPORTS_WINDOW ? WITH_MASKS
                                                                        : WITH_SHAPES));
            const struct attention_input input = input_of(&t);
            const struct tile_size size = tiles_of(step, TILE_FORMS - 1, &t.p);
            const struct tile_counts tiles = count_tiles(&t.p, size);
            const size_t right = tiles.of_kind[TILE_FULL] + tiles.of_kind[TILE_PARTIAL];
            struct seen seen = { 0 };
            set_observer(look, &seen);
            count_step(step, &input.p, size, tensors_of(&input, NULL, NULL));
            set_observer(NULL, NULL);
            cr_assert(seen.scored == right && seen.done == right && seen.wrong == 0,
                      "%s --step %s --br %zu --bc %zu: scored %zu, done %zu of %zu, %zu wrong",
                      problem_text(&t), step->name, size.Br, size.Bc, seen.scored, seen.done, right,
                      seen.wrong);
            problem_free(&t);
        }
}
