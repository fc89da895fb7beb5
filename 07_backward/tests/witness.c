/*
 * Counter, formula and machine agree, array by array, for every step. The formulas are those of the papers and of
 * the steps' headings, worked out here once more and apart from count.c.
 */
#include "common/tests/witness.h"

#include "07_backward/program/stages.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/measure/traffic.h"
#include "common/tests/problems.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    WITH_MASKS = WITH_SCALE | WITH_UNEQUAL_LENGTHS | WITH_CAUSAL | WITH_TOP_LEFT | WITH_WINDOW |
                 WITH_KEY_MASK | WITH_BLOCK_MASK,
    LINES = 16,
};

/* What the formula says of one array. */
struct line {
    const char *array;
    size_t loads, stores;
};

/* What it says of all of them; the first without a name is the end. */
struct formula {
    struct line line[LINES];
};

typedef struct formula formula_of(const struct attention *p, struct tile_size size);

/*
 * Holds the formula against what was counted (`counted`, as many lines) and what the machine did: the same,
 * where the step goes element by element. The vectors of `complete` read a tile again for every group of keys.
 */
static void assert_accesses(const struct formula *f, const struct traffic *counted,
                            const char *problem, bool element_by_element)
{
    for (size_t k = 0; k < LINES && f->line[k].array; k++) {
        const struct line *line = &f->line[k];
        const struct witnessed saw = witness_of(line->array);
        cr_assert(counted[k].loads == line->loads && counted[k].stores == line->stores,
                  "%s: the formula gives %zu loads and %zu stores of %s, counted were %zu and %zu",
                  problem, line->loads, line->stores, line->array, counted[k].loads,
                  counted[k].stores);
        const bool right =
            (saw.loads == line->loads || !element_by_element) && saw.stores == line->stores;
        cr_assert(right,
                  "%s: counted were %zu loads and %zu stores of %s, the machine made %zu and %zu",
                  problem, line->loads, line->stores, line->array, saw.loads, saw.stores);
    }
}

static void watch(const struct attention *p, struct backward_input in, const struct result *r)
{
    const size_t queries = attention_query_elements(p), keys = attention_key_elements(p);
    traffic_reset();
    traffic_watch("Q", in.Q, queries);
    traffic_watch("K", in.K, keys);
    traffic_watch("V", in.V, keys);
    traffic_watch("O", in.O, queries);
    traffic_watch("dO", in.dO, queries);
    traffic_watch("lse", in.lse, attention_rows(p));
    traffic_watch("m", in.m, attention_rows(p));
    traffic_watch("l", in.l, attention_rows(p));
    traffic_watch("dQ", r->of[DQ], queries);
    traffic_watch("dK", r->of[DK], keys);
    traffic_watch("dV", r->of[DV], keys);
}

/* The step on one problem: counted, then under the machine's own eyes. */
static void witness_problem(enum step_name name, const struct test_problem *t,
                            struct tile_size size, formula_of *formula)
{
    struct layer layer = { .input = { .p = t->p, .Q = t->Q, .K = t->K, .V = t->V }, .dO = t->dO };
    layer_forward(&layer);
    const struct backward_input in = backward_input_of(&layer.input, &layer.kept, layer.dO);
    struct result r = result_new(&t->p);
    const struct formula f = formula(&t->p, size);
    struct traffic counted[LINES];
    char problem[500];
    snprintf(problem, sizeof problem, "%s --kernel %s --br %zu --bc %zu", problem_text(t),
             steps[name].name, size.Br, size.Bc);
    watch(&t->p, in, &r);
    steps[name].runs->counted(&t->p, size, in, result_gradients(&r));

    size_t sum = 0;
    for (size_t k = 0; k < LINES && f.line[k].array; k++) {
        counted[k] = traffic_of(f.line[k].array);
        sum += f.line[k].loads + f.line[k].stores;
    }
    const struct traffic all = traffic_total();
    cr_assert(all.loads + all.stores == sum, "%s: %zu accesses in all, the formula gives %zu",
              problem, all.loads + all.stores, sum);
    witness_start();
    threads_use(1);  // the witness cannot count in several at once
    steps[name].runs->run(&t->p, size, in, result_gradients(&r));
    assert_accesses(&f, counted, problem, name != COMPLETE);
    result_free(&r);
    kept_free(&layer.kept);
}

static void witness_step(enum step_name name, unsigned options, formula_of *formula)
{
    for (uint64_t seed = 1; seed <= 48; seed++) {
        struct test_problem t =
            random_problem(seed, attention_of(2, 4, 4, 20, 20, 9), random_options(seed, options));
        const struct tile_size size = { random_between(seed, 20, 0, 1, t.p.Nq + 3),
                                        random_between(seed, 20, 1, 1, t.p.Nk + 3) };
        witness_problem(name, &t, seed % 8 ? size : (struct tile_size){ 1, 1 }, formula);
        problem_free(&t);
    }
}

// ---- the formulas -------------------------------------------------------------------------------

static size_t in_tiles(size_t n, size_t size)
{
    return n / size + (n % size ? 1 : 0);
}

/* S, P, dP and dS for all pairs; of Q, K, V and dO the operands of five products. */
static struct formula of_standard(const struct attention *p, struct tile_size size)
{
    const size_t heads = p->B * p->H, Tr = in_tiles(p->Nq, size.Br), Tc = in_tiles(p->Nk, size.Bc);
    const size_t pairs = heads * p->Nq * p->Nk, queries = heads * p->Nq * p->d;
    const size_t keys = heads * p->Nk * p->d;
    return (struct formula){ {
        { "S", 3 * pairs, pairs },
        { "P", 3 * pairs, pairs },
        { "dP", 2 * pairs, pairs },
        { "dS", 2 * pairs, pairs },
        { "Q", queries + Tc * queries, 0 },
        { "dO", queries + Tc * queries, 0 },
        { "K", 2 * Tr * keys, 0 },
        { "V", Tr * keys, 0 },
        { "dQ", 0, queries },
        { "dK", 0, keys },
        { "dV", 0, keys },
        { "O", 0, 0 },
        { "lse", 0, 0 },
    } };
}

static size_t pairs_seen(const struct attention *p)
{
    size_t pairs = 0;
    for (size_t n = 0; n < p->B * p->H * p->Nq * p->Nk; n++)
        pairs += visible(p, n / p->Nk / p->Nq / p->H, n / p->Nk / p->Nq % p->H, n / p->Nk % p->Nq,
                         n % p->Nk);
    return pairs;
}

static struct formula of_recompute(const struct attention *p, struct tile_size size)
{
    (void)size;
    const size_t rows = p->B * p->H * p->Nq, keys = p->B * p->H * p->Nk * p->d;
    const size_t pairs = pairs_seen(p) * p->d;
    return (struct formula){ {
        { "Q", rows * p->d, 0 },
        { "O", rows * p->d, 0 },
        { "dO", rows * p->d, 0 },
        { "lse", rows, 0 },
        { "K", pairs, 0 },
        { "V", pairs, 0 },
        { "dQ", 0, rows * p->d },
        { "dK", pairs, pairs + keys },
        { "dV", pairs, pairs + keys },
    } };
}

/* The queries and the keys of all tiles that are not skipped. */
struct loaded {
    size_t queries, keys;
};

static struct loaded loaded(const struct attention *p, struct tile_size size)
{
    struct loaded sum = { 0, 0 };
    for (size_t n = 0; n < p->B * p->H; n++)
        for (size_t i0 = 0; i0 < p->Nq; i0 += size.Br)
            for (size_t j0 = 0; j0 < p->Nk; j0 += size.Bc) {
                const size_t i1 = i0 + size.Br < p->Nq ? i0 + size.Br : p->Nq;
                const size_t j1 = j0 + size.Bc < p->Nk ? j0 + size.Bc : p->Nk;
                if (tile_kind(p, n / p->H, n % p->H, i0, i1, j0, j1) == TILE_SKIPPED)
                    continue;
                sum.queries += i1 - i0;
                sum.keys += j1 - j0;
            }
    return sum;
}

/* Line 5 stores dQ; lines 10 and 21 read six arrays and write one for each tile. */
static struct formula of_fa1(const struct attention *p, struct tile_size size)
{
    const size_t n = loaded(p, size).queries, rows = p->B * p->H * p->Nq;
    const size_t keys = p->B * p->H * p->Nk * p->d;
    return (struct formula){ {
        { "Q", n * p->d, 0 },
        { "O", n * p->d, 0 },
        { "dO", n * p->d, 0 },
        { "dQ", n * p->d, n * p->d + rows * p->d },
        { "m", n, 0 },
        { "l", n, 0 },
        { "K", keys, 0 },
        { "V", keys, 0 },
        { "dK", 0, keys },
        { "dV", 0, keys },
        { "lse", 0, 0 },
    } };
}

/* Line 3 stores dQ, line 4 reads O and dO for D; grouped heads share K and V, and their gradients. */
static struct formula of_fa2(const struct attention *p, struct tile_size size)
{
    const size_t n = loaded(p, size).queries, rows = p->B * p->H * p->Nq;
    const size_t keys = p->B * p->Hkv * p->Nk * p->d;
    return (struct formula){ {
        { "O", rows * p->d, 0 },
        { "dO", rows * p->d + n * p->d, 0 },
        { "D", n, rows },
        { "lse", n, 0 },
        { "Q", n * p->d, 0 },
        { "dQ", n * p->d, rows * p->d + n * p->d },
        { "K", keys, 0 },
        { "V", keys, 0 },
        { "dK", 0, keys },
        { "dV", 0, keys },
        { "m", 0, 0 },
        { "l", 0, 0 },
    } };
}

/* The pass for the keys, and then that for the queries. */
static struct formula of_split(const struct attention *p, struct tile_size size)
{
    const struct loaded n = loaded(p, size);
    const size_t rows = p->B * p->H * p->Nq, keys = p->B * p->H * p->Nk * p->d;
    return (struct formula){ {
        { "O", rows * p->d, 0 },
        { "dO", rows * p->d + n.queries * p->d + rows * p->d, 0 },
        { "D", n.queries + rows, rows },
        { "lse", n.queries + rows, 0 },
        { "Q", n.queries * p->d + rows * p->d, 0 },
        { "dQ", 0, rows * p->d },
        { "K", keys + n.keys * p->d, 0 },
        { "V", keys + n.keys * p->d, 0 },
        { "dK", 0, keys },
        { "dV", 0, keys },
    } };
}

// ---- the steps ----------------------------------------------------------------------------------

TEST(witness, standard_makes_the_accesses_of_its_formula)
{
    witness_step(STANDARD, WITH_MASKS, of_standard);
}

TEST(witness, recompute_makes_the_accesses_of_its_formula)
{
    witness_step(RECOMPUTE, WITH_MASKS, of_recompute);
}

TEST(witness, fa1_makes_the_accesses_of_its_formula)
{
    witness_step(FA1, WITH_MASKS | WITH_DROPOUT, of_fa1);
}

TEST(witness, fa2_makes_the_accesses_of_its_formula)
{
    witness_step(FA2, WITH_MASKS, of_fa2);
}

TEST(witness, split_makes_the_accesses_of_its_formula)
{
    witness_step(SPLIT, WITH_MASKS, of_split);
}

TEST(witness, softcap_makes_the_accesses_of_fa2)
{
    witness_step(SOFTCAP, WITH_MASKS | WITH_SOFTCAP, of_fa2);
}

TEST(witness, complete_makes_the_accesses_of_fa2)
{
    witness_step(COMPLETE, WITH_EVERYTHING | WITH_SOFTCAP, of_fa2);
}
