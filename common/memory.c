#include "memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const char *program = "course";

void memory_program(const char *name)
{
    program = name;
}

void *allocate(size_t count, size_t size, const char *what)
{
    void *room = NULL;
    if (count <= SIZE_MAX / size)
        room = malloc(count > 0 ? count * size : 1);
    if (!room)
        out_of_memory(what, count, size);
    return room;
}

void out_of_memory(const char *what, size_t count, size_t size)
{
    fprintf(stderr, "%s: out of memory: %s needs %.3g GB\n", program, what,
            1e-9 * (double)count * (double)size);
    exit(2);
}
