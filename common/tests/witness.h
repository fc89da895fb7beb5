/*
 * The witness of the access counter: what the machine really reads and writes.
 *
 * The counts of common/measure/traffic.h come from load and store, which are written by hand, so a
 * forgotten one would go unseen. A witness program compiles the algorithm with -fsanitize=thread
 * instrumentation, which puts a call before every access to memory, and provides the functions
 * called: they count the accesses that fall into the instrumented arrays. load and store have no part in
 * it, so the two counts are independent and have to agree.
 */
#ifndef COMMON_TESTS_WITNESS_H
#define COMMON_TESTS_WITNESS_H

#include <stddef.h>

struct witnessed {
    size_t loads, stores;  // of 4-byte elements
};

/* Starts counting anew, for the arrays that are instrumented now (traffic_watch). */
void witness_start(void);

/* What has been seen since, in the instrumented array called `name`. */
struct witnessed witness_of(const char *name);

#endif
