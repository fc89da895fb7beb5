/*
 * Tiles for the tests of all steps (tiles.h), and what every step has to do in them.
 */
#include "07_backward/tests/tiles.h"

#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- the forms ----------------------------------------------------------------------------------

attention_step masks;  // chapter 05's

static const struct step *running;

unsigned options_of(const struct step *step)
{
    return WITH_MASKS | ((step->supports & SUPPORTS_DROPOUT) ? WITH_DROPOUT : 0) |
           ((step->supports & SUPPORTS_GROUPED_HEADS) ? WITH_GROUPED_HEADS : 0) |
           ((step->supports & SUPPORTS_SCORE) ? WITH_SOFTCAP : 0);
}

struct tile_size tiles_of(const struct step *step, size_t form, const struct attention *p)
{
    static const struct tile_size fixed[] = { { 1, 1 },   { 1, 7 },   { 5, 1 },
                                              { 16, 16 }, { 64, 32 }, { 33, 65 } };
    enum { FIXED = sizeof fixed / sizeof fixed[0] };
    static uint64_t drawn;
    const struct options none = { .trace = false };
    if (form < FIXED)
        return fixed[form];
    if (form == FIXED)
        return (struct tile_size){ p->Nq + 5, p->Nk + 9 };
    if (form == FIXED + 1)
        return step_size(step, &none, p);
    const size_t Br = random_between(++drawn, 0, 0, 1, p->Nq + 3);
    return (struct tile_size){ Br, random_between(drawn, 0, 1, 1, p->Nk + 3) };
}

struct lab layer_with_forward(const struct test_problem *t)
{
    struct lab layer = {
        .input = { .p = t->p, .Q = t->Q, .K = t->K, .V = t->V, .dims = 4 },
        .x = problem_tensors(t, NULL, NULL),
    };
    layer.x.dO = t->dO;
    forward_pass(&layer.input.p, &layer.x);
    return layer;
}

static void run_in_tiles(const struct test_problem *t, float *dQ, float *dK, float *dV)
{
    const size_t form = backward_forms.now,
                 threads = running == named("complete") ? 1 + form % 2 : 1;
    const struct tile_size size = tiles_of(running, form, &t->p);
    struct lab layer = layer_with_forward(t);
    snprintf(backward_forms.text, sizeof backward_forms.text,
             " --step %s --br %zu --bc %zu --threads %zu", running->name, size.Br, size.Bc,
             threads);
    threads_use(threads);
    struct tensors x = layer.x;
    x.dQ = dQ;
    x.dK = dK;
    x.dV = dV;
    running->run(&t->p, size, x);
    forward_free(&layer.x);
}

backward *in_tiles(const struct step *step)
{
    running = step;
    backward_forms.count = step == named("recompute") ? 1 : TILE_FORMS;  // it has no tiles
    backward_forms.turn = 1;
    return run_in_tiles;
}

/* The forms of all steps, one after the other: step, tiles; step, tiles. */
static void run_all_in_tiles(const struct test_problem *t, float *dQ, float *dK, float *dV)
{
    const size_t form = backward_forms.now;
    running = table.steps + form % table.count;
    backward_forms.now = form / table.count;
    run_in_tiles(t, dQ, dK, dV);
    backward_forms.now = form;
}

backward *all_in_tiles(void)
{
    backward_forms.count = table.count * TILE_FORMS;
    backward_forms.turn = table.count;  // a large problem, too, is for every step
    return run_all_in_tiles;
}

struct result gradients_of(const struct step *step, const struct test_problem *t,
                           struct tile_size size)
{
    struct lab layer = layer_with_forward(t);
    struct result r = backward_run(step, &layer, size);
    forward_free(&layer.x);
    return r;
}

// ---- what every step has to do ------------------------------------------------------------------

TEST(every_step, agrees_with_the_reference_at_every_length)
{
    assert_backward_at_every_length(all_in_tiles());
}

TEST(every_step, agrees_with_the_reference_at_unequal_lengths)
{
    assert_backward_at_unequal_lengths(all_in_tiles());
}

TEST(every_step, agrees_with_the_reference_at_every_d)
{
    assert_backward_at_every_d(all_in_tiles());
}

TEST(every_step, agrees_with_the_reference_in_random_tiles)
{
    assert_backward_at_random(all_in_tiles(), attention_of(1, 2, 2, 150, 150, 256),
                              WITH_UNEQUAL_LENGTHS, 12);
}

TEST(standard, agrees_with_the_reference_under_masks)
{
    assert_backward_with_options(in_tiles(named("standard")), options_of(named("standard")));
}

TEST(recompute, agrees_with_the_reference_under_masks)
{
    assert_backward_with_options(in_tiles(named("recompute")), options_of(named("recompute")));
}

TEST(fa1, agrees_with_the_reference_under_masks_and_dropout)
{
    assert_backward_with_options(in_tiles(named("fa1")), options_of(named("fa1")));
}

TEST(fa2, agrees_with_the_reference_under_masks)
{
    assert_backward_with_options(in_tiles(named("fa2")), options_of(named("fa2")));
}

TEST(split, agrees_with_the_reference_under_masks)
{
    assert_backward_with_options(in_tiles(named("split")), options_of(named("split")));
}

static void assert_softcap(const struct step *step)
{
    for (uint64_t seed = 1; seed <= all_or_few(60, 20); seed++) {
        const unsigned options = seed % 4 ? random_options(seed, options_of(step)) : 0;
        struct test_problem t =
            random_problem(seed, attention_of(2, 4, 4, 90, 90, 33), options | WITH_SOFTCAP);
        assert_backward(in_tiles(step), &t);
        problem_free(&t);
    }
}

TEST(softcap, agrees_with_the_reference_alone_and_under_masks)
{
    assert_softcap(named("softcap"));
    assert_backward_with_options(in_tiles(named("softcap")),
                                 options_of(named("softcap")) & WITH_EVERYTHING);
}

TEST(softcap, in_complete_agrees_with_the_reference_alone_and_with_every_option)
{
    assert_softcap(named("complete"));
}

TEST(softcap, reads_nothing_that_is_masked)
{
    assert_backward_ignores_unseen_keys(in_tiles(named("complete")),
                                        WITH_EVERYTHING | WITH_SOFTCAP);
    assert_backward_ignores_queries_that_see_nothing(in_tiles(named("complete")),
                                                     WITH_EVERYTHING | WITH_SOFTCAP);
}

TEST(every_step, reads_no_key_that_no_query_sees_and_gives_it_zeros)
{
    for (const struct step *step = table.steps; step < named("complete"); step++) {
        assert_backward_ignores_unseen_keys(in_tiles(step), WITH_KEY_MASK);
        assert_backward_ignores_unseen_keys(in_tiles(step), options_of(step));
    }
}

/*
 * The scalar steps: NaN in a key affects only queries that attend to it; a key without queries has
 * gradients of 0. Their forward pass is a scalar step too.
 */
TEST(every_step, keeps_nan_in_a_key_from_the_queries_that_do_not_see_it)
{
    enum { N = 6, D = 4, ODD = 4, HIDDEN = 2 };
    for (const struct step *step = table.steps; step < named("complete"); step++)
        for (size_t form = 0; form < TILE_FORMS; form++) {
            struct test_problem t = problem_of(attention_of(1, 1, 1, N, N, D), WITH_KEY_MASK, 1);
            t.p.causal = true;
            for (size_t j = 0; j < N; j++)
                t.key_mask[j] = j != HIDDEN;
            t.K[ODD * D + 1] = t.V[ODD * D] = NAN;
            struct lab layer = layer_with_forward(&t);
            masks(&t.p, (struct tile_size){ 2, 3 }, problem_tensors(&t, layer.x.O, layer.x.lse));
            struct result r = backward_run(step, &layer, tiles_of(step, form, &t.p));
            forward_free(&layer.x);
            for (size_t n = 0; n < N * D; n++)
                cr_assert(!isnan(r.of[DQ][n]) == (n / D < ODD), "%s, form %zu: dQ[%zu] is %g",
                          step->name, form, n, (double)r.of[DQ][n]);
            for (size_t n = HIDDEN * D; n < (HIDDEN + 1) * D; n++)
                cr_assert(r.of[DK][n] == 0.0f && r.of[DV][n] == 0.0f,
                          "%s, form %zu: dK[%zu] is %g and dV[%zu] %g", step->name, form, n,
                          (double)r.of[DK][n], n, (double)r.of[DV][n]);
            result_free(&r);
            problem_free(&t);
        }
}

void assert_zeros(const struct result *r, const struct attention *p, const char *what)
{
    for (size_t g = 0; g < GRADIENTS; g++)
        for (size_t n = 0; n < (g == DQ ? attention_query_elements(p) : attention_key_elements(p));
             n++)
            cr_assert(r->of[g][n] == 0.0f, "%s: element %zu of array %zu is %g", what, n, g,
                      (double)r->of[g][n]);
}

/* A query without keys: its own dQ is 0, and it adds to no other gradient. */
TEST(every_step, gives_zeros_where_no_query_sees_a_key)
{
    for (const struct step *step = table.steps; step < end(); step++)
        for (size_t form = 0; form < TILE_FORMS; form++) {
            struct test_problem t = problem_of(attention_of(2, 2, 2, 9, 7, 5), WITH_KEY_MASK, 3);
            memset(t.key_mask, 0, 2 * 7);
            struct result r = gradients_of(step, &t, tiles_of(step, form, &t.p));
            char what[40];
            snprintf(what, sizeof what, "%s, form %zu", step->name, form);
            assert_zeros(&r, &t.p, what);
            result_free(&r);
            problem_free(&t);
        }
}

/* A step without dropout computes as if there were none. */
TEST(every_step, that_lacks_dropout_computes_as_if_there_were_none)
{
    for (const struct step *step = table.steps; step < end(); step++) {
        struct test_problem t = problem_of(attention_of(1, 2, 2, 20, 20, 5), 0, 4);
        struct lab layer = layer_with_forward(&t);
        struct result without = backward_run(step, &layer, (struct tile_size){ 7, 6 });
        attention_set_dropout(&layer.input.p, 0.4, 1);
        struct result with = backward_run(step, &layer, (struct tile_size){ 7, 6 });
        const bool same =
            memcmp(with.of[DV], without.of[DV], attention_key_elements(&t.p) * sizeof(float)) == 0;
        cr_assert(same == !(step->supports & SUPPORTS_DROPOUT), "%s: dropout %s its dV", step->name,
                  same ? "does not change" : "changes");
        result_free(&with);
        result_free(&without);
        forward_free(&layer.x);
        problem_free(&t);
    }
}

/* One key has all the weight: P is 1, not nearly 1, and dV is dO. */
TEST(fa1, gives_a_single_key_exactly_do)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct test_problem t = problem_of(attention_of(1, 2, 2, 1, 1, 9), 0, seed);
        struct result r = gradients_of(named("fa1"), &t, (struct tile_size){ 1, 1 });
        for (size_t n = 0; n < attention_key_elements(&t.p); n++)
            cr_assert(r.of[DV][n] == t.dO[n], "seed %llu: dV[%zu] is %.9g, dO %.9g",
                      (unsigned long long)seed, n, (double)r.of[DV][n], (double)t.dO[n]);
        result_free(&r);
        problem_free(&t);
    }
}

/* A key with a score of -inf has no weight: dK and dV are 0 there. So also where all keys are such. */
TEST(every_step, gives_scores_of_minus_infinity_no_weight)
{
    enum { N = 35, D = 3 };  // more than a group of keys, and no whole block of queries
    for (const struct step *step = table.steps; step < end(); step++)
        for (size_t form = 0; form < TILE_FORMS; form++)
            for (size_t few = 1; few <= N; few += N - 1) {
                struct test_problem t = problem_of(attention_of(1, 1, 1, N, N, D), 0, form);
                for (size_t i = 0; i < N; i++) {
                    t.Q[i * D] = 1.0f;
                    t.K[i * D] = i < few ? -INFINITY : t.K[i * D];
                }
                struct result r = gradients_of(step, &t, tiles_of(step, form, &t.p));
                for (size_t n = 0; n < N * D; n++)
                    cr_assert((r.of[DK][n] == 0.0f && r.of[DV][n] == 0.0f) == (n / D < few),
                              "%s, form %zu, %zu such keys: dK[%zu] is %g, dV %g", step->name, form,
                              few, n, (double)r.of[DK][n], (double)r.of[DV][n]);
                result_free(&r);
                problem_free(&t);
            }
}
