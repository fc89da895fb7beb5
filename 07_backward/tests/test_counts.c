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

static struct count count_of(enum step_name name, const struct test_problem *t,
                             struct tile_size size)
{
    struct layer layer = layer_with_forward(t);
    const struct count c = count_layer(&steps[name], &layer.input, &layer.kept, t->dO, size);
    kept_free(&layer.kept);
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

static void assert_counts(enum step_name name)
{
    for (uint64_t seed = 1; CAN_WATCH && seed <= 30; seed++) {
        struct test_problem t = random_problem(seed, attention_of(2, 4, 4, 40, 40, 12),
                                               random_options(seed, options_of(name)));
        const struct tile_size size = tiles_of(name, seed % TILE_FORMS, &t.p);
        const struct count c = count_of(name, &t, size);
        cr_assert(c.as_predicted && c.total > 0, "%s --step %s --br %zu --bc %zu: %s",
                  problem_text(&t), steps[name].name, size.Br, size.Bc, wrong_line(&c.accesses));
        cr_assert(c.pairs == attention_pairs(&t.p), "%s: %zu pairs, not %zu", problem_text(&t),
                  c.pairs, attention_pairs(&t.p));
        problem_free(&t);
    }
}

TEST(accesses, of_standard_are_those_of_its_formula)
{
    assert_counts(STANDARD);
}

TEST(accesses, of_recompute_are_those_of_its_formula)
{
    assert_counts(RECOMPUTE);
}

TEST(accesses, of_fa1_are_those_of_its_formula)
{
    assert_counts(FA1);
}

TEST(accesses, of_fa2_are_those_of_its_formula)
{
    assert_counts(FA2);
}

TEST(accesses, of_split_are_those_of_its_formula)
{
    assert_counts(SPLIT);
}

TEST(accesses, of_softcap_are_those_of_its_formula)
{
    assert_counts(SOFTCAP);
}

DECLARE_WATCHED(backward_fa2);

/* fa2 with an access more than its formula gives. */
static void fa2_and_a_load(const struct attention *p, struct tile_size size, struct tensors x)
{
    WATCHED(backward_fa2)(p, size, x);
    traffic_count_load(x.V);
}

TEST(count, notices_one_access_too_many)
{
    struct test_problem t = problem_of(attention_of(1, 1, 1, 9, 9, 3), 0, 1);
    struct layer layer = layer_with_forward(&t);
    struct step step = steps[FA2];
    if (!CAN_WATCH)
        return;
    step.watched = fa2_and_a_load;
    const struct count c =
        count_layer(&step, &layer.input, &layer.kept, t.dO, (struct tile_size){ 2, 3 });
    cr_assert(!c.as_predicted, "one load more goes unseen");
    cr_assert(strcmp(wrong_line(&c.accesses), "V loads are 28, and should be 27, Nk d") == 0,
              "it says: %s", wrong_line(&c.accesses));
    kept_free(&layer.kept);
    problem_free(&t);
}

/* A kernel's accesses go to the emulator, those of a step in C do not, whatever ran before. */
TEST(count, sees_steps_and_kernels_in_turn)
{
    struct test_problem t = problem_of(attention_of(1, 1, 1, 40, 40, 16), 0, 1);
    struct layer layer = layer_with_forward(&t);
    for (int n = 0; CAN_WATCH && n < 2; n++) {
        const struct count step =
            count_layer(&steps[FA2], &layer.input, &layer.kept, t.dO, (struct tile_size){ 7, 3 });
        const struct count kernel = cuda_count(&cuda_kernels[CUDA_RECOMPUTE], &layer);
        cr_assert(step.as_predicted && step.total > 0, "fa2: %s", wrong_line(&step.accesses));
        cr_assert(kernel.as_predicted && kernel.total > 0, "a kernel: %s",
                  wrong_line(&kernel.accesses));
    }
    kept_free(&layer.kept);
    problem_free(&t);
}

/* The closed forms of the pages, in so many words. */
TEST(count, is_that_of_the_closed_forms)
{
    enum { NQ = 33, NK = 29, D = 8, TR = 5, TC = 10 };
    static const size_t right[] = {
        [STANDARD] = 14 * NQ * NK + (3 + 2 * TC) * NQ * D + (2 + 3 * TR) * NK * D,
        [RECOMPUTE] = 6 * D * NQ * NK + 4 * NQ * D + 2 * NK * D + NQ,
        [FA1] = NQ * D + 4 * NK * D + TC * (5 * NQ * D + 2 * NQ),
        [FA2] = 3 * NQ * D + NQ + 4 * NK * D + TC * (4 * NQ * D + 2 * NQ),
        [SPLIT] = 5 * NQ * D + 3 * NQ + 4 * NK * D + TC * (2 * NQ * D + 2 * NQ) + 2 * TR * NK * D,
        [SOFTCAP] = 3 * NQ * D + NQ + 4 * NK * D + TC * (4 * NQ * D + 2 * NQ),
    };
    struct test_problem t = problem_of(attention_of(1, 1, 1, NQ, NK, D), 0, 1);
    for (enum step_name name = STANDARD; CAN_WATCH && name < COMPLETE; name++) {
        const struct count c = count_of(name, &t, (struct tile_size){ 7, 3 });
        cr_assert(c.total == right[name], "%s: %zu accesses, expected %zu", steps[name].name,
                  c.total, right[name]);
    }
    problem_free(&t);
}

TEST(products, are_five_and_seven_in_split)
{
    static const struct tile_size sizes[] = { { 1, 1 }, { 7, 3 }, { 16, 16 }, { 100, 100 } };
    const struct attention p = attention_of(1, 3, 3, 33, 29, 8);
    for (size_t n = 0; n < 4; n++)
        for (enum step_name name = STANDARD; name < STEPS; name++) {
            const size_t products = name == SPLIT ? 7 : 5;
            const size_t found = products_of(&steps[name], &p, sizes[n]);
            cr_assert(found == products * 2 * 3 * 33 * 29 * 8, "%s: %zu, expected %zu",
                      steps[name].name, found, products * 2 * 3 * 33 * 29 * 8);
        }
}

TEST(products, of_skipped_tiles_are_none)
{
    struct attention p = attention_of(1, 1, 1, 64, 64, 8);
    p.causal = true;
    for (enum step_name name = FA1; name < STEPS; name++) {
        const size_t found = products_of(&steps[name], &p, (struct tile_size){ 16, 16 });
        const size_t right = (name == SPLIT ? 14U : 10U) * 10 * 16 * 16 * 8;
        cr_assert(found == right, "%s: 10 of 16 tiles make %zu, expected %zu", steps[name].name,
                  found, right);
    }
}

TEST(extra_memory, is_n_squared_in_standard_and_d_of_each_query_from_fa2_on)
{
    static const struct tile_size sizes[] = { { 1, 1 }, { 7, 3 }, { 500, 500 } };
    static const size_t right[] = {
        [STANDARD] = 4 * 4 * 70 * 90,
        [FA2] = 4 * 70,
        [SPLIT] = 4 * 70,
        [SOFTCAP] = 4 * 70,
    };
    struct test_problem t = problem_of(attention_of(1, 2, 2, 70, 90, 5), 0, 1);
    for (size_t n = 0; n < 3; n++)
        for (enum step_name name = STANDARD; name < COMPLETE; name++) {
            const size_t found = count_of(name, &t, sizes[n]).slow_bytes;
            cr_assert(found == right[name], "%s stores %zu bytes whole, expected %zu",
                      steps[name].name, found, right[name]);
        }
    problem_free(&t);
}

TEST(extra_memory, that_is_fast_does_not_grow_with_n)
{
    for (enum step_name name = STANDARD; name < COMPLETE; name++) {
        size_t found[2];
        for (size_t n = 0; n < 2; n++) {
            const size_t N = n ? 400 : 200;
            struct test_problem t = problem_of(attention_of(1, 1, 1, N, N, 8), 0, 1);
            found[n] = count_of(name, &t, (struct tile_size){ 32, 96 }).fast_bytes;
            problem_free(&t);
        }
        cr_assert(found[0] == found[1] && found[0] > 0, "%s: %zu bytes, and %zu for twice as many",
                  steps[name].name, found[0], found[1]);
    }
}
