/*
 * Tiles for the tests of all steps (tiles.h), and the sizes that suit a fast memory of M elements.
 */
#include "05_flash_tiled_cpu/tests/tiles.h"

#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- the forms ----------------------------------------------------------------------------------

static const struct step *running;

struct tile_size tiles_of(const struct step *step, size_t form, const struct attention *p)
{
    static const struct tile_size fixed[] = { { 1, 1 },   { 1, 7 },   { 5, 1 },
                                              { 16, 16 }, { 64, 32 }, { 33, 65 } };
    enum { FIXED = sizeof fixed / sizeof fixed[0] };
    static uint64_t drawn;
    if (form < FIXED)
        return fixed[form];
    if (form == FIXED)
        return (struct tile_size){ p->Nq + 5, p->Nk + 9 };
    if (form == FIXED + 1)
        return step->size(USUAL_M, p->d);
    const size_t Br = random_between(++drawn, 0, 0, 1, p->Nq + 3);
    return (struct tile_size){ Br, random_between(drawn, 0, 1, 1, p->Nk + 3) };
}

static void run_in_tiles(const struct attention *p, const float *Q, const float *K, const float *V,
                         float *O, float *lse)
{
    const size_t form = forward_forms.now,
                 threads = running == named("complete") ? 1 + form % 2 : 1;
    const struct tile_size size = tiles_of(running, form, p);
    snprintf(forward_forms.text, sizeof forward_forms.text,
             " --step %s --br %zu --bc %zu --threads %zu", running->name, size.Br, size.Bc,
             threads);
    threads_use(threads);
    running->run(p, size, (struct tensors){ .Q = Q, .K = K, .V = V, .O = O, .lse = lse });
}

forward *in_tiles(const struct step *step)
{
    running = step;
    forward_forms.count = TILE_FORMS;
    forward_forms.without_lse = step == named("standard");
    return run_in_tiles;
}

struct attention_input input_of(const struct test_problem *t)
{
    return (struct attention_input){ .p = t->p, .Q = t->Q, .K = t->K, .V = t->V };
}

// ---- what several steps have to do --------------------------------------------------------------

void assert_random_tiles(const struct step *step)
{
    forward *const f = in_tiles(step);
    assert_forward_at_random(f, attention_of(1, 2, 2, 150, 150, 256), WITH_UNEQUAL_LENGTHS, 12);
    assert_forward_at_random(f, attention_of(2, 2, 2, 60, 300, 40), WITH_UNEQUAL_LENGTHS, 12);
}

/* Runs the step on a small problem in each form; O and lse are then what it gave for the form. */
static void run_form(const struct step *step, size_t form, const struct test_problem *t, float *O,
                     float *lse)
{
    poison_fill(O, attention_query_elements(&t->p));
    poison_fill(lse, attention_rows(&t->p));
    step->run(&t->p, tiles_of(step, form, &t->p), problem_tensors(t, O, lse));
}

void assert_nan_stays_with_those_who_see_it(const struct step *step)
{
    enum { N = 6, D = 4 };
    struct attention p = attention_of(1, 1, 1, N, N, D);
    p.causal = true;
    struct test_problem t = problem_of(p, 0, 1);
    float O[N * D], lse[N];
    t.K[5 * D] = t.V[5 * D] = NAN;  // only the last query attends to the last key
    for (size_t form = 0; form < TILE_FORMS; form++) {
        run_form(step, form, &t, O, lse);
        for (size_t n = 0; n < N * D; n++)
            cr_assert(isnan(O[n]) ? n >= 5 * D : n < 5 * D,
                      "%s, tiles %zu: element %zu is %g, and the last row alone sees a NaN",
                      step->name, form, n, (double)O[n]);
    }
    problem_free(&t);
}

/* The first Nq - Nk of causal queries precede the first key. */
static void assert_first_rows_empty(const struct step *step, size_t Nq, size_t Nk)
{
    enum { D = 3 };
    struct attention p = attention_of(1, 1, 1, Nq, Nk, D);
    p.causal = true;
    struct test_problem t = problem_of(p, 0, 1);
    float *O = allocate(Nq * D, sizeof *O, "O"), *lse = allocate(Nq, sizeof *lse, "lse");
    for (size_t form = 0; form < TILE_FORMS; form++) {
        run_form(step, form, &t, O, lse);
        for (size_t n = 0; n < (Nq - Nk) * D; n++)
            cr_assert(O[n] == 0.0f && lse[n / D] == -INFINITY,
                      "%s, tiles %zu: row %zu sees no key: O is %g, lse %g", step->name, form,
                      n / D, (double)O[n], (double)lse[n / D]);
        const size_t next = Nq - Nk;
        cr_assert(isfinite(lse[next]) && isfinite(O[next * D]) && O[next * D] != 0.0f,
                  "%s, tiles %zu: row %zu sees a key: O is %g, lse %g", step->name, form, next,
                  (double)O[next * D], (double)lse[next]);
    }
    free(O);
    free(lse);
    problem_free(&t);
}

void assert_empty_rows_are_empty(const struct step *step)
{
    assert_first_rows_empty(step, 5, 2);
    assert_first_rows_empty(step, 40, 23);
    assert_first_rows_empty(step, 600, 530);  // split_kv and complete cut these keys in parts
}

void assert_lacks(const struct step *step)
{
    enum { MOST = 2 * 3 * 30 * 9 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct test_problem t =
            random_problem(seed, attention_of(2, 3, 3, 30, 30, 9), WITH_EVERYTHING);
        const struct attention p = t.p;
        static float with[MOST], without[MOST], lse[2 * 3 * 30];
        run_form(step, 3, &t, with, lse);
        t.p = attention_of(p.B, p.H, p.Hkv, p.Nq, p.Nk, p.d);
        t.p.scale = p.scale;
        if (step->supports & SUPPORTS_WINDOW) {  // it lacks dropout alone
            t.p = p;
            attention_set_dropout(&t.p, 0.0, 0);
        }
        run_form(step, 3, &t, without, lse);
        cr_assert(memcmp(with, without, attention_query_elements(&p) * sizeof *with) == 0,
                  "%s: %s is to do nothing to it", step->name, problem_text(&t));
        problem_free(&t);
    }
}

void assert_minus_infinity_weighs_nothing(const struct step *step)
{
    struct attention p = attention_of(1, 1, 1, 2, 5, 1);
    float Q[] = { 1, 2 }, K[] = { -INFINITY, -INFINITY, 1, -INFINITY, -INFINITY };
    float V[] = { 3, 5, 7, 9, 11 }, O[2], lse[2];
    const struct test_problem t = { .p = p, .Q = Q, .K = K, .V = V };
    for (size_t form = 0; form < TILE_FORMS; form++) {
        K[2] = 1;
        run_form(step, form, &t, O, lse);
        cr_assert(O[0] == 7 && O[1] == 7 && lse[0] == 1 && lse[1] == 2,
                  "%s, tiles %zu: only the value 7 counts, but O is %g and %g, lse %g and %g",
                  step->name, form, (double)O[0], (double)O[1], (double)lse[0], (double)lse[1]);
        K[2] = -INFINITY;
        run_form(step, form, &t, O, lse);
        cr_assert(O[0] == 0 && O[1] == 0 && lse[0] == -INFINITY && lse[1] == -INFINITY,
                  "%s, tiles %zu: nothing counts, but O is %g and %g, lse %g and %g", step->name,
                  form, (double)O[0], (double)O[1], (double)lse[0], (double)lse[1]);
    }
}

// ---- sizes --------------------------------------------------------------------------------------

static void assert_size(const char *what, struct tile_size size, size_t Br, size_t Bc)
{
    cr_assert(size.Br == Br && size.Bc == Bc, "%s: Br %zu and Bc %zu, expected %zu and %zu", what,
              size.Br, size.Bc, Br, Bc);
}

TEST(tile_size, of_fa1_is_the_papers_line_1)
{
    assert_size("M = 24, d = 3", fa1_size(24, 3), 2, 2);
    assert_size("M = 25, d = 3: rounded up", fa1_size(25, 3), 3, 3);
    assert_size("M = 36, d = 3", fa1_size(36, 3), 3, 3);
    assert_size("M = 4096, d = 32", fa1_size(4096, 32), 32, 32);
    assert_size("M = 4097, d = 32: Br is at most d", fa1_size(4097, 32), 32, 33);
    assert_size("M = 49152, d = 64", fa1_size(49152, 64), 64, 192);
    assert_size("M = 1000, d = 1", fa1_size(1000, 1), 1, 250);
}

TEST(tile_size, of_fa2_is_that_of_fa1_the_other_way_round)
{
    assert_size("M = 24, d = 3", fa2_size(24, 3), 2, 2);
    assert_size("M = 25, d = 3: rounded up", fa2_size(25, 3), 3, 3);
    assert_size("M = 4097, d = 32: Bc is at most d", fa2_size(4097, 32), 33, 32);
    assert_size("M = 49152, d = 64", fa2_size(49152, 64), 192, 64);
    assert_size("M = 1000, d = 1", fa2_size(1000, 1), 250, 1);
}

TEST(tile_size, of_standard_is_half_of_fast_memory_for_each_of_two)
{
    assert_size("M = 24, d = 3", standard_size(24, 3), 4, 4);
    assert_size("M = 25, d = 3: rounded up", standard_size(25, 3), 5, 5);
    assert_size("M = 4096, d = 32", standard_size(4096, 32), 64, 64);
    assert_size("M = 49152, d = 64", standard_size(49152, 64), 384, 384);
}

TEST(tile_size, is_at_least_one_however_small_fast_memory_is)
{
    for (size_t M = 1; M <= 256; M++) {
        assert_size("fa1, M up to 4 d", fa1_size(M, 64), 1, 1);
        assert_size("fa2, M up to 4 d", fa2_size(M, 64), 1, 1);
    }
    for (size_t M = 1; M <= 128; M++)
        assert_size("standard, M up to 2 d", standard_size(M, 64), 1, 1);
}
