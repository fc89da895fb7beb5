/*
 * Device memory: what cudaMalloc gives.
 *
 * It is apart from host memory, as on a GPU. Host code that touches it is refused by the machine:
 * its pages are there only while a kernel or a copy runs. It begins as NaN, it ends close before a
 * page that is never there, and the bytes up to that page are looked at after every launch.
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
    site at;  // where it was asked for
    char name[32];
    size_t element;      // bytes of what it is counted in
    bool float_atomics;  // some kernel has added floats to it in no particular order
    void *shadow;        // what the race detector remembers of it
};

/* A piece of device memory, NULL if there is no more; and back with it, false if it is none. */
void *memory_allocate(size_t bytes, site at);
bool memory_free(void *p);

/* The allocation that p points into or just past, or NULL; the same with its pages and guard. */
allocation *allocation_of(const void *p);
allocation *allocation_near(const void *p);

/* Does all of it lie in one allocation? */
bool on_device(const void *p, size_t bytes);

/* Gives `p` a name in reports, and says how large its elements are. */
void memory_name(const void *p, const char *name, size_t element);

/* Makes device memory accessible, and inaccessible again; pairs may stand within one another. */
void memory_expose();
void memory_hide();

/* Whether a launch has written past the end of some allocation: says so. */
void memory_check(const struct launch *l);

/* Calls `visit` for every allocation, by address. */
void memory_each(void (*visit)(allocation *a, void *data), void *data);

}  // namespace cpu

#endif
