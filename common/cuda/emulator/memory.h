/*
 * Device memory: what cudaMalloc returns.
 *
 * It is separate from host memory, as on a GPU: its pages are accessible only while a kernel or a
 * copy runs, so host accesses fault. It starts as NaN and ends close before a guard page; every
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
    char *room;  // the pages
    size_t room_bytes;
    site at;  // where it was allocated
    char name[32];
    size_t element;      // bytes of an element
    bool float_atomics;  // a kernel added floats to it in no fixed order
    void *shadow;        // the race detector's records
};

/*
 * Allocates device memory, NULL if there is none left; and frees it, false if `p` is no allocation.
 */
void *memory_allocate(size_t bytes, site at);
bool memory_free(void *p);

/* The allocation that p points into or just past, or NULL; _near includes its pages and guard. */
allocation *allocation_of(const void *p);
allocation *allocation_near(const void *p);

/* Is the whole range in one allocation? */
bool on_device(const void *p, size_t bytes);

/* Sets the name for reports and the element size in bytes. */
void memory_name(const void *p, const char *name, size_t element);

/* Make device memory accessible, and inaccessible again; calls may nest. */
void memory_expose();
void memory_hide();

/* Ends the program if a launch wrote past the end of an allocation. */
void memory_check(const struct launch *l);

/* Calls `visit` for every allocation, by address. */
void memory_each(void (*visit)(allocation *a, void *data), void *data);

}  // namespace cpu

#endif
