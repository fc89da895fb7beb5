/*
 * A step: one numbered version of an algorithm. Its row in the chapter's table is its only
 * description: the program's step list, error messages and benchmarks, the Python binding and the
 * scripts all take its name and capabilities from there.
 */
#ifndef COMMON_STEP_H
#define COMMON_STEP_H

#include "common/check/attention_check.h"
#include "common/measure/accesses.h"
#include "common/problem/tensors.h"
#include "common/program/options.h"

#include <stdbool.h>
#include <stddef.h>

/* What a step supports. It rejects problems that need more. */
enum {
    SUPPORTS_CAUSAL = 1,
    SUPPORTS_WINDOW = 2,
    SUPPORTS_KEY_MASK = 4,
    SUPPORTS_BLOCK_MASK = 8,
    SUPPORTS_MASKS = SUPPORTS_CAUSAL | SUPPORTS_WINDOW | SUPPORTS_KEY_MASK | SUPPORTS_BLOCK_MASK,
    SUPPORTS_DROPOUT = 16,
    SUPPORTS_GROUPED_HEADS = 32,
    SUPPORTS_EVERYTHING = SUPPORTS_MASKS | SUPPORTS_DROPOUT | SUPPORTS_GROUPED_HEADS,  // not SCORE
    SUPPORTS_SCORE =
        1024,  // a score that is more than the scaled dot product (attention.h, score_of)
    SUPPORTS_THREADS = 64,  // whose number does not change the result
    SUPPORTS_LSE = 128,     // it writes lse
    SUPPORTS_TRACE = 256,   // its instrumented build reports every tile
    SUPPORTS_BR = 512,      // any number of queries in a tile
};

/* What a step stores in slow memory besides inputs and outputs. */
enum {
    STORES_SCORES = 1,      // two matrices of Nq by Nk for each head
    STORES_STATISTICS = 2,  // m and l
    STORES_COUNTERS = 4,    // from which blocks draw tiles or turns
    STORES_SPLITS = 8,      // O, m and l of each split of the keys
    STORES_SUMS = 16,       // dQ in float32: the gradients have the inputs' type
};

/*
 * The values of d that a step supports: up to `most`, or the list `only`, ended by a 0. If both are
 * 0, it does not support the type.
 */
struct dims {
    size_t most, only[6];
};

/* A tile that a kernel is compiled for, and the threads of a block. */
struct kernel_tile {
    size_t d, Br, Bc, threads;
};

/* A kernel's launch configuration, with its tile; 0 blocks: one per Br queries of a head. */
struct kernel_shape {
    size_t threads, Br, Bc, blocks;
};

struct runs;  // in chapter 07, the launchers of a kernel

struct step {
    const char *name, *idea;

    // What runs it (a kernel, on the current device) and, unless it is vectorised, the same source
    // in the instrumented build (watch.h).
    attention_step *run, *watched;
    const struct runs *runs;

    // Its accesses: a short formula, NULL if they are not counted; the formula in 16 bits, if it
    // differs; all of them, and its tiles, which are given even if accesses are not counted.
    const char *formula, *formula_16;
    void (*predict)(const struct attention *p, struct tile_size size, struct accesses *a);

    unsigned supports, stores;
    struct dims f32,
        f16;  // of a kernel, in float32, and in bfloat16 and float16; a step in C takes any d in float32
    bool float16_only;  // it has no bfloat16
    bool any_order;     // its sums have no fixed order, so results may differ in the last bits
    bool is_product;    // block_matmul: not attention, so no later step is compared with it

    // A step in C: its default tile, and the tile for a fast memory of M elements, for --sram and
    // if `usual` is 0.
    struct tile_size usual;
    struct tile_size (*size)(size_t M, size_t d);

    // A kernel, which runs on a GPU or on the CPU emulator: the compute capability that it needs, 75
    // for 7.5 and later, 90 for 9.0 alone (0: 7.5, with 16 bits 8.0); the tiles that it is compiled
    // for, ended by d = 0, or else its launch configuration.
    bool is_kernel;
    int compute_capability;
    const struct kernel_tile *tiles;
    struct kernel_shape (*shape)(const struct attention *p);
    size_t (*stored)(const struct step *kernel,
                     const struct attention *p);  // bytes, or NULL: by `stores`
};

/* What a step did in a run that counts its accesses. */
struct count {
    struct accesses accesses;
    size_t total, pairs;            // accesses in all; query-key pairs that are not masked
    size_t slow_bytes, fast_bytes;  // peak of extra memory
    bool as_predicted;
};

/* x with newly allocated, poisoned outputs: dQ, dK and dV if it has dO, else O and lse. */
struct tensors outputs_new(const struct attention *p, struct tensors x);
void outputs_free(struct tensors *x);

/* Runs the step with such outputs and returns them; release with outputs_free. */
struct tensors step_run(const struct step *step, const struct attention *p, struct tile_size size,
                        struct tensors x);

/* Runs the instrumented step, discards its output, and compares its counts with the formula. */
struct count count_step(const struct step *step, const struct attention *p, struct tile_size size,
                        struct tensors x);

/*
 * A chapter's table. Its last step supports every option that any step supports, and has no number.
 */
struct step_table {
    const struct step *steps;
    size_t count;
    int first;  // number of the first step; -1: they have none
    int width;  // of the longest name
};

/* The step of this name; NULL if there is none. */
const struct step *step_named(const struct step_table *table, const char *name);

/*
 * The step of --step, otherwise the one called `usual`. Exits if there is none, or if it does not
 * support p.
 */
const struct step *step_chosen(const struct step_table *table, const struct options *options,
                               const char *usual, const struct attention *p);

/* " 3 fa2         ", padded to the same width for every step of the table. */
void step_label(const struct step_table *table, const struct step *step, char text[32]);

/*
 * --step list: every step with its idea; or, for scripts, only the names of those that support the
 * type.
 */
void step_list(const struct step_table *table, bool only_names, enum dtype type);

/* Does the step support numbers of this type? */
bool step_takes_type(const struct step *step, enum dtype type);

/*
 * The first feature of the problem that the step does not support, as spelled on the command line,
 * valid until the next call; NULL if it supports the problem.
 */
const char *step_unsupported(const struct step *step, const struct attention *p);

/*
 * The step's tile: the command line's, for a kernel only if it is compiled for it; what is not
 * given is chosen for the step.
 */
enum { USUAL_M = 4096 };  // elements of fast memory, unless --sram says otherwise
struct tile_size step_size(const struct step *step, const struct options *options,
                           const struct attention *p);

/*
 * The compiled tile of Br queries and Bc keys (0: any) for p's d and type; NULL if there is none.
 */
const struct kernel_tile *step_tile(const struct step *step, const struct attention *p, size_t Br,
                                    size_t Bc);

/* A kernel's launch configuration, blocks counted, with the tile of this size if it has several. */
struct kernel_shape step_shape(const struct step *kernel, const struct attention *p,
                               struct tile_size size);

/* Its short formula, for the problem's type; and the type in which it stores gradients. */
const char *step_formula(const struct step *step, const struct attention *p);
enum dtype step_stored(const struct step *step, const struct attention *p);

// ---- between its files -------------------------------------------------------------------------

/* A type or a size that the step does not take: "d = 40 (d is 64 or 128)"; or NULL. */
const char *step_unsupported_size(const struct step *step, const struct attention *p);

/* The bytes that a kernel stores in full in its device's memory. */
size_t kernel_stored(const struct step *kernel, const struct attention *p);

/* Ends the program: the step does not support this. */
_Noreturn void step_refuse(const struct step *step, const struct attention *p,
                           const struct options *options, const char *unsupported);

#endif
