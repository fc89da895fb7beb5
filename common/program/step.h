/*
 * A step: one numbered version of an algorithm. Its row in the chapter's table is the only description of it: the program's
 * list, refusals and benchmarks, the Python binding and the scripts all take its name and its abilities from there.
 */
#ifndef COMMON_STEP_H
#define COMMON_STEP_H

#include "common/check/attention_check.h"
#include "common/measure/accesses.h"
#include "common/problem/tensors.h"
#include "common/program/options.h"

#include <stdbool.h>
#include <stddef.h>

/* What a step supports. It refuses a problem that needs more. */
enum {
    SUPPORTS_CAUSAL = 1,
    SUPPORTS_WINDOW = 2,
    SUPPORTS_KEY_MASK = 4,
    SUPPORTS_BLOCK_MASK = 8,
    SUPPORTS_MASKS = SUPPORTS_CAUSAL | SUPPORTS_WINDOW | SUPPORTS_KEY_MASK | SUPPORTS_BLOCK_MASK,
    SUPPORTS_DROPOUT = 16,
    SUPPORTS_GROUPED_HEADS = 32,
    SUPPORTS_EVERYTHING = SUPPORTS_MASKS | SUPPORTS_DROPOUT | SUPPORTS_GROUPED_HEADS,  // but scores
    SUPPORTS_SCORE =
        1024,  // a score that is more than the scaled dot product (attention.h, score_of)
    SUPPORTS_THREADS = 64,  // its result does not depend on how many
    SUPPORTS_LSE = 128,     // it writes lse
    SUPPORTS_TRACE = 256,   // its watched build reports every tile
    SUPPORTS_BR = 512,      // any number of queries in a tile
};

/* What a step stores in slow memory besides inputs and outputs. */
enum {
    STORES_SCORES = 1,      // two matrices of Nq by Nk for each head
    STORES_STATISTICS = 2,  // m and l
    STORES_COUNTERS = 4,    // from which blocks take their tiles or their turns
    STORES_SPLITS = 8,      // O, m and l of each split of the keys
    STORES_SUMS = 16,       // dQ in float32: the gradients have the inputs' type
};

/* The d that a step takes: up to `most`, or those of a list that a 0 ends. Neither: it does not take the type. */
struct dims {
    size_t most, only[6];
};

/* A tile that a kernel is compiled for, and the threads of a block. */
struct kernel_tile {
    size_t d, Br, Bc, threads;
};

/* How a kernel is started, and the queries and keys of a tile. */
struct kernel_shape {
    size_t blocks, threads, Br, Bc;
};

struct runs;  // in chapter 07, the launchers of a kernel

struct step {
    const char *name, *idea;

    // What runs it, a kernel on the current device; and, unless it is in vectors, the same source in the build that counts accesses
    // (watch.h).
    attention_step *run, *watched;
    const struct runs *runs;

    // Its accesses: a short formula, NULL if they are not counted; the formula in 16 bits, if that is another; all of them,
    // and its tiles, which are there without being counted too.
    const char *formula, *formula_16;
    void (*predict)(const struct attention *p, struct tile_size size, struct accesses *a);

    unsigned supports, stores;
    struct dims f32,
        f16;  // of a kernel, in float32, and in bfloat16 and float16; a step in C takes any d in float32
    bool float16_only;  // it has no bfloat16
    bool any_order;     // it adds in no fixed order, so its bits may differ from run to run
    bool is_product;    // block_matmul: no attention, so no later step is compared with it

    // A step in C: its usual tile, and the tile that suits a fast memory of M elements, for --sram and where `usual` is 0.
    struct tile_size usual;
    struct tile_size (*size)(size_t M, size_t d);

    // A kernel, which runs on a GPU, or on the CPU that stands in for one: the compute capability that it needs, 75 for 7.5
    // and later, 90 for 9.0 alone (0: 7.5, with 16 bits 8.0); the tiles that it is compiled for, which d = 0 ends, or else how it is started.
    bool is_kernel;
    int compute_capability;
    const struct kernel_tile *tiles;
    struct kernel_shape (*shape)(const struct attention *p);
};

/* What a step did in a run that counts its accesses. */
struct count {
    struct accesses accesses;
    size_t total, pairs;            // accesses in all; query-key pairs that are not masked
    size_t slow_bytes, fast_bytes;  // extra memory, at most
    bool as_predicted;
};

/* x with poisoned memory for what a step writes: dQ, dK and dV if it has dO, else O and lse. */
struct tensors outputs_new(const struct attention *p, struct tensors x);
void outputs_free(struct tensors *x);

/* Runs the step into such memory; outputs_free what it gives. */
struct tensors step_run(const struct step *step, const struct attention *p, struct tile_size size,
                        struct tensors x);

/* Runs the watched step, with its output thrown away, and holds it against its formula. */
struct count count_step(const struct step *step, const struct attention *p, struct tile_size size,
                        struct tensors x);

/* --csv of a step that ran alone: its count, its time (0: none), and its errors against the reference and the previous. */
void step_write_csv(const char *path, const char *formula, const struct count *count,
                    double seconds, const char *previous, struct attention_errors errors);

/* The part "Counted". */
void step_report_count(const struct count *count);

/* A chapter's table. Its last step has all options that any step has, and no number. */
struct step_table {
    const struct step *steps;
    size_t count;
    int first;  // number of the first step; -1: they have none
    int width;  // of the longest name
};

/* The step of this name or number; NULL: there is none. */
const struct step *step_named(const struct step_table *table, const char *name);

/* The step of --step, or else the one called `usual`. Ends the program if there is none, or if it does not support p. */
const struct step *step_chosen(const struct step_table *table, const struct options *options,
                               const char *usual, const struct attention *p);

/* " 3 fa2         ", as wide for every step of the table. */
void step_label(const struct step_table *table, const struct step *step, char text[32]);

/* --step list: every step with its idea; or, for scripts, only the names of those that take the type. */
void step_list(const struct step_table *table, bool only_names, enum dtype type);

/* Does the step take numbers of this type? */
bool step_takes_type(const struct step *step, enum dtype type);

/*
 * The first thing in the problem that the step does not support, as it is written on the command line, in a text that
 * is good until the next call; NULL: it supports the problem.
 */
const char *step_unsupported(const struct step *step, const struct attention *p);

/* Ends the program unless the step supports the problem, with the option that it does not support. */
void step_require(const struct step *step, const struct attention *p,
                  const struct options *options);

/* The step's tile: what the command line asks for, if a kernel is compiled for it; what it leaves open suits the step. */
enum { USUAL_M = 4096 };  // elements of fast memory, unless --sram says otherwise
struct tile_size step_size(const struct step *step, const struct options *options,
                           const struct attention *p);

/* The tile of so many queries and keys, 0 being any, that a kernel is compiled for with p's d and type; NULL: none. */
const struct kernel_tile *step_tile(const struct step *step, const struct attention *p, size_t Br,
                                    size_t Bc);

/* How a kernel is started, with the tile of this size if it has several. */
struct kernel_shape step_shape(const struct step *kernel, const struct attention *p,
                               struct tile_size size);

/* Its short formula, for the problem's type. */
const char *step_formula(const struct step *step, const struct attention *p);

#endif
