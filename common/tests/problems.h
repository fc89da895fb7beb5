/*
 * Small attention problems to test with: an attention, and the arrays that it is about, made from
 * a seed alone. Every test that fails can thus say which problem it was: problem_text names it.
 *
 *     struct test_problem t = random_problem(seed, limits, WITH_CAUSAL | WITH_DROPOUT);
 *     ...t.p, t.Q...
 *     problem_free(&t);
 */
#ifndef COMMON_TESTS_PROBLEMS_H
#define COMMON_TESTS_PROBLEMS_H

#include "common/problem/tensors.h"

/* The options of attention, as a set. */
enum with {
    WITH_SCALE = 1,            // of -2 to 2 times the default
    WITH_GROUPED_HEADS = 2,    // Hkv < H
    WITH_UNEQUAL_LENGTHS = 4,  // Nq != Nk, either the larger
    WITH_CAUSAL = 8,
    WITH_TOP_LEFT = 16,     // moves causal and window; alone it changes nothing
    WITH_WINDOW = 32,       // on the left, on the right, or on both sides
    WITH_KEY_MASK = 64,     // a batch entry in eight is hidden altogether
    WITH_BLOCK_MASK = 128,  // of its own block size; a row of blocks in eight is all hidden
    WITH_DROPOUT = 256,
    WITH_EVERYTHING = 511,  // but the next, which few steps support
    WITH_SOFTCAP = 512,     // of 1 to 4
};

struct test_problem {
    struct attention p;  // its masks are the two below
    uint64_t seed;       // all arrays follow from p and this
    float *Q, *K, *V, *dO;
    uint8_t *key_mask, *block_mask;  // owned, or NULL
};

/*
 * The problem of the shape and options of `p`, with normal numbers in Q, K, V and dO. Of `masks`,
 * WITH_KEY_MASK and WITH_BLOCK_MASK give it that mask, the latter with the block size in `p`; what
 * masks `p` has itself are not looked at. Release it with problem_free.
 */
struct test_problem problem_of(struct attention p, unsigned masks, uint64_t seed);

/*
 * A problem of random shape that has exactly the options in `options`, with parameters drawn from
 * `seed`. No length is greater than that in `most` (of which only B, H, Nq, Nk and d matter; H must
 * be at least 2 for grouped heads, Nq or Nk for unequal lengths).
 */
struct test_problem random_problem(uint64_t seed, struct attention most, unsigned options);

/* A random subset of the set `allowed`; in one case of eight all of it. */
unsigned random_options(uint64_t seed, unsigned allowed);

void problem_free(struct test_problem *t);

/* What a forward step reads of it, and writes. */
static inline struct tensors problem_tensors(const struct test_problem *t, float *O, float *lse)
{
    return (struct tensors){ .Q = t->Q, .K = t->K, .V = t->V, .O = O, .lse = lse };
}

/*
 * Where it is a compiler or a sanitizer that is tried, and not the code: with SHORT=yes in the environment large
 * problems are left out, `few` random ones do instead of `all`, and a test may leave itself out.
 */
bool tests_are_short(void);
bool problem_is_too_long(const struct attention *p);
uint64_t all_or_few(uint64_t all, uint64_t few);

/*
 * Where wrong versions of some kernels are tried, ONLY_KERNELS in the environment has the names of their files, and
 * tests that go through all kernels leave out the others, which are the course's own.
 */
bool kernel_is_in_question(const char *name);

/*
 * Writes NaN to the rows of K and V that no query sees: none of them may reach a result. Returns
 * how many rows those are.
 */
size_t problem_poison_unseen_keys(struct test_problem *t);

/* And to the rows of Q and dO of the queries that see no key. */
size_t problem_poison_queries_that_see_nothing(struct test_problem *t);

/* Room for `count` doubles, all NaN, so that one which is never written shows. */
double *unwritten(size_t count);

/* What the reference makes of a problem. */
struct reference_results {
    double *O, *lse, *dQ, *dK, *dV;
};
struct reference_results reference_results_of(const struct test_problem *t);
void reference_results_free(struct reference_results *r);

/*
 * The largest |got - expected|, and in *at where it is. A NaN, or an infinity without an equal one
 * opposite, is infinitely far away.
 */
double largest_difference(const double *got, const double *expected, size_t count, size_t *at);

/* The problem as the arguments of a chapter's program, for messages; the text is static. */
const char *problem_text(const struct test_problem *t);

#endif
