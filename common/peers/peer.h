/*
 * A peer: another implementation of attention, timed in turn with the course's own, in a separate
 * program. The referee (referee.c) writes a problem to files and exchanges lines over pipes:
 *
 *     problem FOLDER B H N d CAUSAL THREADS BACKWARD    ready WHAT IT RUNS
 *     time SECONDS                                      took SECONDS, the fastest call
 *     write FOLDER                                      written
 *
 * CAUSAL and BACKWARD are 0 or 1. FOLDER has q.npy, k.npy, v.npy and do.npy, (B, H, N, d), and
 * receives o.npy, or dq.npy, dk.npy and dv.npy. Backward is timed without its forward pass.
 */
#ifndef COMMON_PEERS_PEER_H
#define COMMON_PEERS_PEER_H

#include <stdbool.h>
#include <stddef.h>

struct peer_problem {
    size_t B, H, N, d, threads;
    bool causal, backward;
    const float *Q, *K, *V, *dO;  // (B, H, N, d); the scale is 1/sqrt(d)
    float *O, *dQ, *dK, *dV;      // backward, O is scratch memory
};

struct peer {
    const char *name;                                      // with its version
    const char *(*prepare)(const struct peer_problem *p);  // returns what will run
    void (*run)(const struct peer_problem *p);             // one call is timed
};

/* Until the pipe closes. Returns the exit status. */
int peer_serve(const struct peer *peer);

#endif
