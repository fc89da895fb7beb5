/*
 * A peer: another way to compute attention, timed in turn with the course's own.
 *
 * Each peer is a program of its own, so that no library meets another's threads and settings. The
 * referee (referee.c) writes a problem to files and talks to the peers over pipes, a line each way:
 *
 *     problem FOLDER B H N d CAUSAL THREADS    ready WHAT IT RUNS  or  cannot REASON
 *     time SECONDS                             took SECONDS, the quickest call of about so many
 *     write FILE                               written
 *
 * FOLDER holds q.npy, k.npy and v.npy of shape (B, H, N, d), CAUSAL is 0 or 1, FILE gets O.
 */
#ifndef COMMON_PEERS_PEER_H
#define COMMON_PEERS_PEER_H

#include <stdbool.h>
#include <stddef.h>

struct peer_problem {
    size_t B, H, N, d, threads;
    bool causal;
    const float *Q, *K, *V;  // (B, H, N, d); the scale is 1/sqrt(d)
    float *O;
};

struct peer {
    const char *name;                                      // with its version
    const char *(*prepare)(const struct peer_problem *p);  // says what will run
    void (*forward)(const struct peer_problem *p);         // one call of it is timed
};

/* Answers the referee until it hangs up. Returns the exit status. */
int peer_serve(const struct peer *peer);

#endif
