#ifndef COMMON_CUDA_TESTS_BUGS_H
#define COMMON_CUDA_TESTS_BUGS_H

#include <stddef.h>

/* Detected by the plain kernel, the instrumented one, its race detector, or several orders. */
enum bug_eye { PLAIN, INSTRUMENTED, RACES, ORDERS, BUG_EYES };

struct planted {
    const char *name;
    enum bug_eye eye;
    const char *words[4];  // of the report, in order
    enum {
        IN_KERNEL,
        AT_LAUNCH,
        CUDA_ERROR
    } place;  // IN_KERNEL: thread and line; CUDA_ERROR: status 2
};

/* Each ends with an entry without a name. */
extern const struct planted planted_barriers[], planted_memory[], planted_tensor[];
extern const struct planted planted_launches[], planted_races[], planted_hopper[];

/* NULL past the end. */
const struct planted *planted_at(size_t n);

#endif
