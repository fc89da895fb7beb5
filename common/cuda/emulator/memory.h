/*
 * Device memory. As on a GPU it is separate from host memory: pages are accessible only while a
 * kernel or a copy runs, so host accesses fault. It starts as NaN and ends near a guard page; every
 * launch checks the bytes between.
 */
#ifndef COMMON_CUDA_MEMORY_H
#define COMMON_CUDA_MEMORY_H

#include "common/cuda/emulator/site.h"

#include <cstddef>

namespace cpu
{

struct launch;

enum { DEVICE_ALIGNMENT = 256 };

struct allocation {
    char *begin;
    size_t bytes;
    char *room;
    size_t room_bytes;
    site at;
    char name[32];
    size_t element;      // bytes
    bool float_atomics;  // floats added in no fixed order
    void *shadow;
};

/* NULL without memory; memory_free is false if `p` is no allocation. */
void *memory_allocate(size_t bytes, site at);
bool memory_free(void *p);

/* The allocation that p points into or just past, or NULL; _near includes its pages and guard. */
allocation *allocation_of(const void *p);
allocation *allocation_near(const void *p);

bool on_device(const void *p, size_t bytes);

/* For reports; `element` in bytes. */
void memory_name(const void *p, const char *name, size_t element);

/* Calls may nest. */
void memory_expose();
void memory_hide();

/* Ends the program if a launch wrote past an allocation. */
void memory_check(const struct launch *l);

/* In order of addresses. */
void memory_each(void (*visit)(allocation *a, void *data), void *data);

}  // namespace cpu

#endif
