#include "common/tests/watched.h"

#include <string.h>

void watched_sum(float *to, const float *a, const float *b, size_t n)
{
    for (size_t j = 0; j < n; j++)
        to[j] = a[j] + b[j];
}

void watched_add(float *to, float x, size_t n)
{
    for (size_t j = 0; j < n; j++)
        to[j] += x;
}

void watched_copy(float *to, const float *from, size_t n)
{
    memcpy(to, from, n * sizeof *to);
}

void watched_clear(float *to, size_t n)
{
    memset(to, 0, n * sizeof *to);
}

void watched_copy_pair(struct watched_pair *to, const struct watched_pair *from)
{
    *to = *from;
}

float watched_load(const float *from)
{
    return *from;
}
