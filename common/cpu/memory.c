#define _DEFAULT_SOURCE  // _SC_PHYS_PAGES
#include "common/cpu/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *program_name = "course";

void *allocate(size_t count, size_t size, const char *what)
{
    void *const room = count <= SIZE_MAX / size ? malloc(count > 0 ? count * size : 1) : NULL;
    if (!room)
        out_of_memory(what, count, size);
    return room;
}

void out_of_memory(const char *what, size_t count, size_t size)
{
    fprintf(stderr, "%s: out of memory: %s needs %.3g GB\n", program_name, what,
            1e-9 * (double)count * (double)size);
    exit(2);
}

double memory_of_machine(void)
{
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* A quiet NaN; CPUs make 0x7FC00000 or 0xFFC00000, GPUs 0x7FFFFFFF. */
static const uint32_t POISON = 0x7FC0DEAD;

void poison_fill(float *x, size_t n)
{
    for (size_t k = 0; k < n; k++)
        memcpy(&x[k], &POISON, sizeof *x);
}

bool is_poison(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits == POISON;
}
