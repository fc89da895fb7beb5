/*
 * Functions that exist only as watched builds (watch.h), for test_traffic.c.
 */
#ifndef COMMON_TESTS_WATCHED_H
#define COMMON_TESTS_WATCHED_H

#include <stddef.h>

struct watched_pair {
    float first, second;
};

/* Accesses as in the source: sum is n loads of each array and n stores, add n of each. */
void watched_sum(float *to, const float *a, const float *b, size_t n);
void watched_add(float *to, float x, size_t n);
void watched_copy(float *to, const float *from, size_t n);
void watched_clear(float *to, size_t n);
void watched_copy_pair(struct watched_pair *to, const struct watched_pair *from);

float watched_load(const float *from);

#endif
