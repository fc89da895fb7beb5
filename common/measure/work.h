/*
 * Counting floating-point operations, in the counted build of an algorithm (traffic.h) and at no
 * cost in the other.
 *
 * Two kinds are told apart, because machines do. Matrix products are multiplications and additions
 * that run side by side in fused or tensor instructions. All else (maximum, subtraction, exponential,
 * division, rescaling, each one operation) has to be done by slower units.
 *
 * Counting is for one thread.
 */
#ifndef COMMON_WORK_H
#define COMMON_WORK_H

#include <stddef.h>

struct work {
    size_t products;  // multiplications and additions of matrix products
    size_t others;
};

/* Forgets what has been counted; what has been counted since. */
void work_reset(void);
struct work work_done(void);

void work_count(size_t products, size_t others);

#ifdef COUNT_TRAFFIC
static inline void work_products(size_t n)
{
    work_count(n, 0);
}

static inline void work_others(size_t n)
{
    work_count(0, n);
}
#else
static inline void work_products(size_t n)
{
    (void)n;
}

static inline void work_others(size_t n)
{
    (void)n;
}
#endif

#endif
