#ifndef MACHINES_RANKS_H
#define MACHINES_RANKS_H

#include "05_flash_tiled_cpu/machines/program/wire.h"
#include "05_flash_tiled_cpu/machines/ring.h"
#include "common/program/attention_load.h"

/*
 * Reads on rank 0 first, so that errors are printed once. After this a failing rank ends all, with
 * status 2.
 */
struct ranks {
    struct options options;
    struct attention_input input;  // the whole, and dO if backward; after ranks_read on rank 0 only
    float *dO;
    struct ring ring;
    size_t held;  // by ranks_allocate
};
struct ranks ranks_begin(const struct program *program, bool backward, int argc, char **argv);

/* With rank 0's status, on all ranks. */
int ranks_end(struct ranks *ranks, int status);

/* Counted as held by this rank. */
void *ranks_allocate(struct ranks *ranks, size_t count, size_t size, const char *what);

/* This rank's rows of Q and dO, and in `bytes` its K, V and mask. Returns a checksum. */
uint64_t ranks_read(struct ranks *ranks, float *Q, float *dO, void *bytes);

/* On rank 0 all ranks' rows (heads, n, length) in the text's order, to free(); elsewhere NULL. */
float *ranks_gather(const struct ranks *ranks, size_t heads, size_t n, size_t length,
                    const float *rows);

/* On all ranks: rank 0 ends the program if a rank has read other numbers. */
void ranks_check_sums(struct ranks *ranks, uint64_t sum);

/* `in_turn` of its messages must follow one another. */
struct expected {
    size_t messages, bytes, held, in_turn;
};

/* The ranks' table; other counts than the formula's are an error. */
void ranks_print(const struct ranks *ranks, const struct wire *wire, double seconds,
                 struct expected (*formula)(const struct ring *at));

#endif
