/*
 * Small attention problems, made from a seed, so that a failing test can name its problem
 * (problem_text).
 *
 *     struct test_problem t = random_problem(seed, limits, WITH_CAUSAL | WITH_DROPOUT);
 *     ...t.p, t.Q...
 *     problem_free(&t);
 */
#ifndef COMMON_TESTS_PROBLEMS_H
#define COMMON_TESTS_PROBLEMS_H

#include "common/problem/tensors.h"

enum with {
    WITH_SCALE = 1,            // -2 to 2 times the default
    WITH_GROUPED_HEADS = 2,    // Hkv < H
    WITH_UNEQUAL_LENGTHS = 4,  // Nq != Nk, either the larger
    WITH_CAUSAL = 8,
    WITH_TOP_LEFT = 16,     // changes causal and window; alone it has no effect
    WITH_WINDOW = 32,       // left, right, or both
    WITH_KEY_MASK = 64,     // one batch entry in eight is all masked
    WITH_BLOCK_MASK = 128,  // with its own block size; one row of blocks in eight is all masked
    WITH_DROPOUT = 256,
    WITH_EVERYTHING = 511,  // except the next, which few steps support
    WITH_SOFTCAP = 512,     // 1 to 4
};

struct test_problem {
    struct attention p;  // its masks are the two below
    uint64_t seed;       // determines all arrays, with p
    float *Q, *K, *V, *dO;
    uint8_t *key_mask, *block_mask;  // owned, or NULL
};

/*
 * A problem of p's shape and options, with normal Q, K, V and dO. `masks` may have WITH_KEY_MASK
 * and WITH_BLOCK_MASK (of p's block size); masks in `p` are ignored. Release it with problem_free.
 */
struct test_problem problem_of(struct attention p, unsigned masks, uint64_t seed);

/*
 * A random shape with exactly `options`, their parameters drawn from `seed`. `most` limits B, H,
 * Nq, Nk and d; grouped heads need H, and unequal lengths Nq or Nk, of at least 2.
 */
struct attention random_attention(uint64_t seed, struct attention most, unsigned options);

/* The problem of this shape. */
struct test_problem random_problem(uint64_t seed, struct attention most, unsigned options);

/* A random subset of `allowed`; one time in eight all of it. */
unsigned random_options(uint64_t seed, unsigned allowed);

void problem_free(struct test_problem *t);

/* What a forward step reads of it, and writes. */
static inline struct tensors problem_tensors(const struct test_problem *t, float *O, float *lse)
{
    return (struct tensors){ .Q = t->Q, .K = t->K, .V = t->V, .O = O, .lse = lse };
}

/*
 * SHORT=yes in the environment, for trying compilers and sanitizers: skips large problems, and uses
 * `few` random ones instead of `all`.
 */
bool tests_are_short(void);
bool problem_is_too_long(const struct attention *p);
uint64_t all_or_few(uint64_t all, uint64_t few);

/*
 * ONLY_KERNELS in the environment lists the files of kernels under test: tests of all kernels skip
 * the others.
 */
bool kernel_is_in_question(const char *name);

/*
 * Writes NaN to the rows of K and V masked for all queries: it must not reach a result. Returns
 * their number.
 */
size_t problem_poison_unseen_keys(struct test_problem *t);

/* The same for rows of Q and dO of queries without keys. */
size_t problem_poison_queries_that_see_nothing(struct test_problem *t);

/* `count` doubles, all NaN, so that unwritten ones show; free() them. */
double *unwritten(size_t count);

struct reference_results {
    double *O, *lse, *dQ, *dK, *dV;
};
struct reference_results reference_results_of(const struct test_problem *t);
void reference_results_free(struct reference_results *r);

/*
 * The largest |got - expected|, at index *at. A NaN, or an infinity without an equal one, counts as
 * infinite.
 */
double largest_difference(const double *got, const double *expected, size_t count, size_t *at);

/* The problem as arguments of a chapter's program, for messages; static. */
const char *problem_text(const struct test_problem *t);

#endif
