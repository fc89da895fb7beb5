/*
 * Counted accesses against their formulas, operations, and extra memory.
 */
#include "07_backward/tests/cuda.h"
#include "07_backward/tests/tiles.h"
#include "common/measure/traffic.h"
#include "common/measure/watch.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct count count_of(const struct step *step, const struct test_problem *t,
                             struct tile_size size)
{
    struct lab layer = layer_with_forward(t);
    const struct count c = count_step(step, &layer.input.p, size, layer.x);
    forward_free(&layer.x);
    return c;
}

/* The first line of the counts that is not as predicted, or "". */
static const char *wrong_line(const struct accesses *a)
{
    static char text[120];
    *text = '\0';
    for (size_t k = 0; k < a->n && !*text; k++)
        if (a->line[k].count != a->line[k].predicted)
            snprintf(text, sizeof text, "%s are %zu, and should be %zu, %s", a->line[k].what,
                     a->line[k].count, a->line[k].predicted, a->line[k].formula);
    return text;
}

static void assert_counts(const struct step *step)
{
    for (uint64_t seed = 1; CAN_WATCH && seed <= 30; seed++) {
        struct test_problem t = random_problem(seed, attention_of(2, 4, 4, 40, 40, 12),
                                               random_options(seed, options_of(step)));
        const struct tile_size size = tiles_of(step, seed % TILE_FORMS, &t.p);
        const struct count c = count_of(step, &t, size);
        cr_assert(c.as_predicted && c.total > 0, "%s --step %s --br %zu --bc %zu: %s",
                  problem_text(&t), step->name, size.Br, size.Bc, wrong_line(&c.accesses));
        cr_assert(c.pairs == attention_pairs(&t.p), "%s: %zu pairs, not %zu", problem_text(&t),
                  c.pairs, attention_pairs(&t.p));
        problem_free(&t);
    }
}

TEST(accesses, of_standard_are_those_of_its_formula)
{
    assert_counts(named("standard"));
}

TEST(accesses, of_recompute_are_those_of_its_formula)
{
    assert_counts(named("recompute"));
}

TEST(accesses, of_fa1_are_those_of_its_formula)
{
    assert_counts(named("fa1"));
}

TEST(accesses, of_fa2_are_those_of_its_formula)
{
    assert_counts(named("fa2"));
}

TEST(accesses, of_split_are_those_of_its_formula)
{
    assert_counts(named("split"));
}

TEST(accesses, of_softcap_are_those_of_its_formula)
{
    assert_counts(named("softcap"));
}

DECLARE_WATCHED(backward_fa2);

/* fa2 with an access more than its formula gives. */
static void fa2_and_a_load(const struct attention *p, struct tile_size size, struct tensors x)
{
    WATCHED(backward_fa2)(p, size, x);
    traffic_count(x.V, 1, false);
}

TEST(count, notices_one_access_too_many)
{
    struct test_problem t = problem_of(attention_of(1, 1, 1, 9, 9, 3), 0, 1);
    struct lab layer = layer_with_forward(&t);
    struct step step = *named("fa2");
    if (!CAN_WATCH)
        return;
    step.watched = fa2_and_a_load;
    const struct count c = count_step(&step, &layer.input.p, (struct tile_size){ 2, 3 }, layer.x);
    cr_assert(!c.as_predicted, "one load more goes unseen");
    cr_assert(strcmp(wrong_line(&c.accesses), "V loads are 28, and should be 27, Nk d") == 0,
              "it says: %s", wrong_line(&c.accesses));
    forward_free(&layer.x);
    problem_free(&t);
}

/* A kernel's accesses go to the emulator, those of a step in C do not, whatever ran before. */
TEST(count, sees_steps_and_kernels_in_turn)
{
    struct test_problem t = problem_of(attention_of(1, 1, 1, 40, 40, 16), 0, 1);
    struct lab layer = layer_with_forward(&t);
    for (int n = 0; CAN_WATCH && n < 2; n++) {
        const struct count step =
            count_step(named("fa2"), &layer.input.p, (struct tile_size){ 7, 3 }, layer.x);
        const struct count kernel = count_step(cuda_named("cuda_recompute"), &layer.input.p,
                                               (struct tile_size){ 0, 0 }, layer.x);
        cr_assert(step.as_predicted && step.total > 0, "fa2: %s", wrong_line(&step.accesses));
        cr_assert(kernel.as_predicted && kernel.total > 0, "a kernel: %s",
                  wrong_line(&kernel.accesses));
    }
    forward_free(&layer.x);
    problem_free(&t);
}

/* The formulas of the pages. */
TEST(count, is_that_of_the_closed_forms)
{
    enum { NQ = 33, NK = 29, D = 8, TR = 5, TC = 10 };
    static const struct {
        const char *step;
        size_t n;
    } right[] = {
        { "standard", 14 * NQ * NK + (3 + 2 * TC) * NQ * D + (2 + 3 * TR) * NK * D },
        { "recompute", 6 * D * NQ * NK + 4 * NQ * D + 2 * NK * D + NQ },
        { "fa1", NQ * D + 4 * NK * D + TC * (5 * NQ * D + 2 * NQ) },
        { "fa2", 3 * NQ * D + NQ + 4 * NK * D + TC * (4 * NQ * D + 2 * NQ) },
        { "split",
          5 * NQ * D + 3 * NQ + 4 * NK * D + TC * (2 * NQ * D + 2 * NQ) + 2 * TR * NK * D },
        { "softcap", 3 * NQ * D + NQ + 4 * NK * D + TC * (4 * NQ * D + 2 * NQ) },
    };
    struct test_problem t = problem_of(attention_of(1, 1, 1, NQ, NK, D), 0, 1);
    for (size_t k = 0; CAN_WATCH && k < sizeof right / sizeof right[0]; k++) {
        const struct count c = count_of(named(right[k].step), &t, (struct tile_size){ 7, 3 });
        cr_assert(c.total == right[k].n, "%s: %zu accesses, expected %zu", right[k].step, c.total,
                  right[k].n);
    }
    problem_free(&t);
}

static size_t products_of(const struct step *step, const struct attention *p, struct tile_size size)
{
    struct accesses a = { .n = 0 };
    step->predict(p, size, &a);
    return a.products;
}

TEST(products, are_five_and_seven_in_split)
{
    static const struct tile_size sizes[] = { { 1, 1 }, { 7, 3 }, { 16, 16 }, { 100, 100 } };
    const struct attention p = attention_of(1, 3, 3, 33, 29, 8);
    for (size_t n = 0; n < 4; n++)
        for (const struct step *step = table.steps; step < end(); step++) {
            const size_t products = step == named("split") ? 7 : 5;
            const size_t found = products_of(step, &p, sizes[n]);
            cr_assert(found == products * 2 * 3 * 33 * 29 * 8, "%s: %zu, expected %zu", step->name,
                      found, products * 2 * 3 * 33 * 29 * 8);
        }
}

TEST(products, of_skipped_tiles_are_none)
{
    struct attention p = attention_of(1, 1, 1, 64, 64, 8);
    p.causal = true;
    for (const struct step *step = named("fa1"); step < end(); step++) {
        const size_t found = products_of(step, &p, (struct tile_size){ 16, 16 });
        const size_t right = (step == named("split") ? 14U : 10U) * 10 * 16 * 16 * 8;
        cr_assert(found == right, "%s: 10 of 16 tiles make %zu, expected %zu", step->name, found,
                  right);
    }
}

TEST(extra_memory, is_n_squared_in_standard_and_d_of_each_query_from_fa2_on)
{
    static const struct tile_size sizes[] = { { 1, 1 }, { 7, 3 }, { 500, 500 } };
    static const struct {
        const char *step;
        size_t n;
    } right[] = {
        { "standard", 4 * 4 * 70 * 90 },
        { "recompute", 0 },
        { "fa1", 0 },
        { "fa2", 4 * 70 },
        { "split", 4 * 70 },
        { "softcap", 4 * 70 },
    };
    struct test_problem t = problem_of(attention_of(1, 2, 2, 70, 90, 5), 0, 1);
    for (size_t n = 0; n < 3; n++)
        for (size_t k = 0; k < sizeof right / sizeof right[0]; k++) {
            const size_t found = count_of(named(right[k].step), &t, sizes[n]).slow_bytes;
            cr_assert(found == right[k].n, "%s stores %zu bytes whole, expected %zu", right[k].step,
                      found, right[k].n);
        }
    problem_free(&t);
}

TEST(extra_memory, that_is_fast_does_not_grow_with_n)
{
    for (const struct step *step = table.steps; step < named("complete"); step++) {
        size_t found[2];
        for (size_t n = 0; n < 2; n++) {
            const size_t N = n ? 400 : 200;
            struct test_problem t = problem_of(attention_of(1, 1, 1, N, N, 8), 0, 1);
            found[n] = count_of(step, &t, (struct tile_size){ 32, 96 }).fast_bytes;
            problem_free(&t);
        }
        cr_assert(found[0] == found[1] && found[0] > 0, "%s: %zu bytes, and %zu for twice as many",
                  step->name, found[0], found[1]);
    }
}
