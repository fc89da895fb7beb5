/*
 * Counter, formula and machine agree, array by array, for every step. The formulas are those of the
 * papers and of the steps' headings, worked out here once more and apart from count.c.
 */
#include "common/tests/witness.h"

#include "05_flash_tiled_cpu/program/chapter.h"
#include "05_flash_tiled_cpu/steps/split_kv.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/measure/traffic.h"
#include "common/tests/problems.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <stdlib.h>

enum { WITH_SHAPES = WITH_SCALE | WITH_GROUPED_HEADS | WITH_UNEQUAL_LENGTHS, LINES = 11 };

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
 * Holds the formula against what was counted (`counted`, as many lines) and what the machine did: the
 * same, where the step goes element by element. `complete` counts a tile as loaded once. Its vectors
 * read the tile's keys again for every group of queries, and no values that no query attends to.
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

/* Tiles of one by one, ragged ones, and some larger than the problem. */
static struct tile_size tiles(const struct attention *p, uint64_t seed)
{
    const size_t Br = random_between(seed, 20, 0, 1, p->Nq + 3);
    const size_t Bc = random_between(seed, 20, 1, 1, p->Nk < 20 ? p->Nk + 3 : 20);
    return seed % 8 ? (struct tile_size){ Br, Bc } : (struct tile_size){ 1, 1 };
}

/* The step on one problem: counted, then under the machine's own eyes. */
static void witness_problem(enum step_name name, const struct test_problem *t,
                            struct tile_size size, formula_of *formula)
{
    const struct attention *p = &t->p;
    const size_t n = attention_query_elements(p), rows = attention_rows(p);
    float *O = allocate(n, sizeof *O, "O"), *lse = allocate(rows, sizeof *lse, "lse");
    const struct formula f = formula(p, size);
    struct traffic counted[LINES];
    char problem[500];
    snprintf(problem, sizeof problem, "%s --kernel %s --br %zu --bc %zu", problem_text(t),
             steps[name].name, size.Br, size.Bc);
    traffic_reset();
    traffic_watch("Q", t->Q, n);
    traffic_watch("K", t->K, attention_key_elements(p));
    traffic_watch("V", t->V, attention_key_elements(p));
    traffic_watch("O", O, n);
    traffic_watch("lse", lse, rows);
    steps[name].runs->counted(p, size, t->Q, t->K, t->V, O, lse);

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
    steps[name].runs->run(p, size, t->Q, t->K, t->V, O, lse);
    assert_accesses(&f, counted, problem, name != COMPLETE);
    free(O);
    free(lse);
}

static void witness_step(enum step_name name, unsigned options, formula_of *formula)
{
    for (uint64_t seed = 1; seed <= 48; seed++) {
        struct test_problem t =
            random_problem(seed, attention_of(2, 4, 4, 20, 20, 9), random_options(seed, options));
        witness_problem(name, &t, tiles(&t.p, seed), formula);
        problem_free(&t);
    }
}

/* Few queries and so many keys that they are cut in splits. */
static void witness_parts(enum step_name name, formula_of *formula)
{
    for (uint64_t seed = 1; seed <= 24; seed++) {
        struct test_problem t =
            random_problem(seed, attention_of(2, 2, 2, 8, 900, 4),
                           random_options(seed, WITH_EVERYTHING) | WITH_UNEQUAL_LENGTHS);
        witness_problem(name, &t, tiles(&t.p, seed), formula);
        problem_free(&t);
    }
}

// ---- the formulas -------------------------------------------------------------------------------

static size_t in_tiles(size_t n, size_t size)
{
    return n / size + (n % size ? 1 : 0);
}

static struct formula of_standard(const struct attention *p, struct tile_size size)
{
    const size_t heads = p->B * p->H, Tr = in_tiles(p->Nq, size.Br), pairs = p->Nq * p->Nk;
    return (struct formula){ {
        { "Q", heads * p->Nq * p->d, 0 },
        { "K", heads * Tr * p->Nk * p->d, 0 },
        { "V", heads * Tr * p->Nk * p->d, 0 },
        { "S", heads * 3 * pairs, heads * pairs },
        { "P", heads * pairs, heads * pairs },
        { "O", 0, heads * p->Nq * p->d },
        { "lse", 0, 0 },
    } };
}

static struct formula of_block_matmul(const struct attention *p, struct tile_size size)
{
    const size_t heads = p->B * p->H, Tr = in_tiles(p->Nq, size.Br);
    return (struct formula){ {
        { "Q", heads * p->Nq * p->d, 0 },
        { "K", heads * Tr * p->Nk * p->d, 0 },
        { "V", heads * Tr * p->Nk * p->d, 0 },
        { "O", 0, heads * p->Nq * p->d },
        { "lse", 0, 0 },
    } };
}

/* Line 2 stores O, m and l; lines 8, 12 and 13 read and write them Tc times; lse needs m and l. */
static struct formula of_fa1(const struct attention *p, struct tile_size size)
{
    const size_t heads = p->B * p->H, Tc = in_tiles(p->Nk, size.Bc), rows = heads * p->Nq;
    return (struct formula){ {
        { "Q", Tc * rows * p->d, 0 },
        { "K", heads * p->Nk * p->d, 0 },
        { "V", heads * p->Nk * p->d, 0 },
        { "O", Tc * rows * p->d, rows * p->d + Tc * rows * p->d },
        { "m", Tc * rows + rows, rows + Tc * rows },
        { "l", Tc * rows + rows, rows + Tc * rows },
        { "lse", 0, rows },
    } };
}

static struct formula of_fa2(const struct attention *p, struct tile_size size)
{
    const size_t heads = p->B * p->H, Tr = in_tiles(p->Nq, size.Br), rows = heads * p->Nq;
    return (struct formula){ {
        { "Q", rows * p->d, 0 },
        { "K", heads * Tr * p->Nk * p->d, 0 },
        { "V", heads * Tr * p->Nk * p->d, 0 },
        { "O", 0, rows * p->d },
        { "lse", 0, rows },
    } };
}

/* The keys of all tiles that are not skipped, where the tiles begin anew with each part. */
static size_t keys_loaded(const struct attention *p, struct tile_size size, size_t splits)
{
    size_t keys = 0;
    for (size_t n = 0; n < p->B * p->H * splits; n++) {
        const size_t b = n / splits / p->H, h = n / splits % p->H, s = n % splits;
        const size_t end = (s + 1) * p->Nk / splits;
        for (size_t i0 = 0; i0 < p->Nq; i0 += size.Br)
            for (size_t j0 = s * p->Nk / splits; j0 < end; j0 += size.Bc) {
                const size_t i1 = min(i0 + size.Br, p->Nq), j1 = min(j0 + size.Bc, end);
                if (tile_kind(p, b, h, i0, i1, j0, j1) != TILE_SKIPPED)
                    keys += j1 - j0;
            }
    }
    return keys;
}

static struct formula of_masks(const struct attention *p, struct tile_size size)
{
    const size_t rows = p->B * p->H * p->Nq, keys = keys_loaded(p, size, 1);
    return (struct formula){ {
        { "Q", rows * p->d, 0 },
        { "K", keys * p->d, 0 },
        { "V", keys * p->d, 0 },
        { "O", 0, rows * p->d },
        { "lse", 0, rows },
    } };
}

/* Every part is stored once and loaded once, and reads the queries anew. */
static struct formula of_split_kv(const struct attention *p, struct tile_size size)
{
    const size_t splits = split_count(p), rows = p->B * p->H * p->Nq;
    const size_t keys = keys_loaded(p, size, splits);
    return (struct formula){ {
        { "Q", splits * rows * p->d, 0 },
        { "K", keys * p->d, 0 },
        { "V", keys * p->d, 0 },
        { "split m", splits * rows, splits * rows },
        { "split l", splits * rows, splits * rows },
        { "split O", splits * rows * p->d, splits * rows * p->d },
        { "O", 0, rows * p->d },
        { "lse", 0, rows },
    } };
}

static struct formula of_complete(const struct attention *p, struct tile_size size)
{
    return split_count(p) > 1 ? of_split_kv(p, size) : of_masks(p, size);
}

// ---- the steps ----------------------------------------------------------------------------------

TEST(witness, standard_makes_the_accesses_of_its_formula)
{
    witness_step(STANDARD, WITH_SHAPES, of_standard);
}

TEST(witness, block_matmul_makes_the_accesses_of_its_formula)
{
    witness_step(BLOCK_MATMUL, WITH_SHAPES, of_block_matmul);
}

TEST(witness, fa1_makes_the_accesses_of_its_formula)
{
    witness_step(FA1, WITH_SHAPES, of_fa1);
}

TEST(witness, fa2_makes_the_accesses_of_its_formula)
{
    witness_step(FA2, WITH_SHAPES, of_fa2);
}

TEST(witness, masks_makes_the_accesses_of_its_formula)
{
    witness_step(MASKS, WITH_EVERYTHING & ~WITH_DROPOUT, of_masks);
}

TEST(witness, dropout_makes_the_accesses_of_masks)
{
    witness_step(DROPOUT, WITH_EVERYTHING, of_masks);
}

TEST(witness, softcap_makes_the_accesses_of_masks)
{
    witness_step(SOFTCAP, WITH_EVERYTHING | WITH_SOFTCAP, of_masks);
}

TEST(witness, split_kv_makes_the_accesses_of_its_formula)
{
    witness_step(SPLIT_KV, WITH_EVERYTHING, of_split_kv);
    witness_parts(SPLIT_KV, of_split_kv);
}

TEST(witness, complete_makes_the_accesses_of_masks_or_of_split_kv)
{
    witness_step(COMPLETE, WITH_EVERYTHING | WITH_SOFTCAP, of_complete);
    witness_parts(COMPLETE, of_complete);
}
