/*
 * A program that runs on several ranks: how it begins, fails and ends on all of them, and what rank 0 prints of them.
 */
#ifndef MACHINES_RANKS_H
#define MACHINES_RANKS_H

#include "05_flash_tiled_cpu/machines/program/wire.h"
#include "05_flash_tiled_cpu/machines/ring.h"
#include "common/program/attention_load.h"

/*
 * Reads the command line and the headers of the files, on rank 0 first, so that what is wrong is said once. All ranks have to
 * have the same problem. From then on a rank that fails ends all of them, with status 2.
 */
struct ranks {
    struct options options;
    struct attention_source source;
    struct ring ring;
    size_t held;  // bytes that ranks_allocate has given
};
struct ranks ranks_begin(const struct program *program, int argc, char **argv);

/* Ends the program on all ranks, with the status of rank 0. */
int ranks_end(struct ranks *ranks, int status);

/* Room for `count` elements of `size` bytes, which counts as held by this rank. */
void *ranks_allocate(struct ranks *ranks, size_t count, size_t size, const char *what);

/* Reads this rank's rows of Q or dO, and the part of `owner` of K, V and the mask into `bytes`. */
void ranks_read_queries(const struct ranks *ranks, enum source which, float *x);
void ranks_read_keys(const struct ranks *ranks, size_t owner, void *bytes);

/*
 * Rank 0 gets the rows of all ranks, of `length` elements each, in the order of the text; the others get NULL. `heads` counts
 * those of all batch entries, n the rows of the text.
 */
float *ranks_gather(const struct ranks *ranks, size_t heads, size_t n, size_t length,
                    const float *rows);

/* A sum of some bytes, added to the sum of those before: other bytes have another one. */
uint64_t ranks_sum(uint64_t before, const void *bytes, size_t count);

/* On all ranks: `sum` is that of the Q, the keys' bytes and, where there is one, the dO that this rank has read. Rank 0, which
 * has the whole input, ends the program where another rank's is not that of its own numbers. */
void ranks_check_sums(struct ranks *ranks, const struct attention_input *input, const float *dO,
                      uint64_t sum);

/* What a rank should have sent, and held; so many of its messages can only be sent one after the other. */
struct expected {
    size_t messages, bytes, held, in_turn;
};

/* On all ranks: rank 0 prints the part "Ranks", with what each has sent and held against `formula`. */
void ranks_print(const struct ranks *ranks, const struct wire *wire, double seconds,
                 struct expected (*formula)(const struct ring *at));

#endif
