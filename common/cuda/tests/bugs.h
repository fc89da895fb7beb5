/*
 * The planted mistakes, and what has to be said of each.
 */
#ifndef COMMON_CUDA_TESTS_BUGS_H
#define COMMON_CUDA_TESTS_BUGS_H

#include <stddef.h>

/* What sees it: the kernel as it is, the instrumented one, its race detector, or many orders. */
enum bug_eye { PLAIN, INSTRUMENTED, RACES, ORDERS, BUG_EYES };

struct planted {
    const char *name;
    enum bug_eye eye;
    const char *words[4];                             // of the report, in this order
    enum { IN_KERNEL, AT_LAUNCH, CUDA_ERROR } place;  // also names thread and line; status 2
};

/* Those of a kind (planted/); the last has no name. */
extern const struct planted planted_barriers[], planted_memory[], planted_tensor[];
extern const struct planted planted_launches[], planted_races[], planted_hopper[];

/* Number n of all, from 0; NULL: there are not so many. */
const struct planted *planted_at(size_t n);

#endif
