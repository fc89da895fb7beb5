/*
 * A peer: another way to compute attention, timed in turn with the course's own.
 *
 * Each peer is a program of its own, so that no library meets another's threads and settings. The
 * referee (referee.c) writes a problem to files and talks to the peers over pipes, a line each way:
 *
 *     problem FOLDER B H N d CAUSAL THREADS BACKWARD    ready WHAT IT RUNS
 *     time SECONDS                                      took SECONDS, the quickest call of some
 *     write FOLDER                                      written
 *
 * CAUSAL and BACKWARD are 0 or 1. FOLDER holds q.npy, k.npy, v.npy and do.npy of shape (B, H, N, d), and gets
 * o.npy, or dq.npy, dk.npy and dv.npy. A backward pass is timed alone; the forward pass that it needs is part
 * of getting ready.
 */
#ifndef COMMON_PEERS_PEER_H
#define COMMON_PEERS_PEER_H

#include <stdbool.h>
#include <stddef.h>

struct peer_problem {
    size_t B, H, N, d, threads;
    bool causal, backward;
    const float *Q, *K, *V, *dO;  // (B, H, N, d); the scale is 1/sqrt(d)
    float *O, *dQ, *dK, *dV;      // O is for the peer's own use where it goes backward
};

struct peer {
    const char *name;                                      // with its version
    const char *(*prepare)(const struct peer_problem *p);  // says what will run
    void (*run)(const struct peer_problem *p);             // one call of it is timed
};

/* Answers the referee until it hangs up. Returns the exit status. */
int peer_serve(const struct peer *peer);

#endif
