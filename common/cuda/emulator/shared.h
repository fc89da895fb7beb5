/*
 * Shared memory: what the threads of a block have in common, gone when the block is done.
 *
 * There are two parts. Variables that a kernel declares (__shared__ float q[4]) get their places
 * when the first thread comes past them, one after the other as a compiler for a GPU packs them,
 * but with a gap between. The dynamic part has the size that the launch says. Both begin as NaN,
 * and so do the gaps: where one holds anything else when a block ends, somebody wrote past an end.
 */
#ifndef COMMON_CUDA_SHARED_H
#define COMMON_CUDA_SHARED_H

#include "common/cuda/emulator/site.h"

#include <atomic>
#include <cstddef>

namespace cpu
{

struct launch;

enum {
    SHARED_USUAL = 48 * 1024,  // bytes that a kernel may have …
    SHARED_MOST = 227 * 1024,  // … and that it may ask for (cudaFuncSetAttribute, cuda_cpu_shared)
    SHARED_VARIABLES = 64,     // that a kernel may declare
    SHARED_GAP = 1024,         // before each of them, and after; keeps its bank and alignment
    SHARED_ALIGNMENT = 1024,
    SHARED_ROOM = SHARED_USUAL + (SHARED_VARIABLES + 1) * SHARED_GAP,
};

/* A declaration in a kernel. */
struct shared_site {
    const char *name;
    site at;
    std::atomic<unsigned> launch;  // the launch that `offset` belongs to
    size_t offset;                 // from the beginning of the block's shared memory
};

/* A variable of a launch. */
struct shared_variable {
    const char *name;
    site at;
    size_t offset, bytes;
};

struct shared_memory {
    char *room;     // variables with their gaps
    char *dynamic;  // aligned; past its end, at the latest 1 KB later, a page to run into
    char *dynamic_room;
    size_t used;  // bytes of `room` that are not NaN any more
    size_t used_dynamic;
    size_t alignment;  // that the kernel has declared for the dynamic part; 0: none
};
shared_memory shared_make();
void shared_free(shared_memory *s);

/* Makes the memory of a block as it should begin, and looks at the gaps when it is done. */
void shared_begin(shared_memory *s, const struct launch *l);
void shared_check(const shared_memory *s, const struct launch *l);

/* The place in the running block of a variable, and of the dynamic part. */
void *shared_place(shared_site *declared, size_t bytes, size_t alignment);
void *dynamic_shared();
void *dynamic_shared(size_t alignment);

/* Ends the program if p lies in the dynamic part, and that was declared with less alignment. */
void shared_wants_alignment(const void *p, size_t alignment, const char *name, site at);

/* Does all of it lie in one variable of the running block, or in the dynamic part? */
bool shared_holds(const void *p, size_t bytes);

/* What to_cpp.sed makes of `__shared__ type name dimensions;`. */
#define CUDA_SHARED(name, type, ...)                                                   \
    typedef type name##_shared_type __VA_ARGS__;                                       \
    static cpu::shared_site name##_site = { #name, { __FILE__, __LINE__ }, { 0 }, 0 }; \
    auto &name = *static_cast<name##_shared_type *>(                                   \
        cpu::shared_place(&name##_site, sizeof(name##_shared_type), alignof(name##_shared_type)))

}  // namespace cpu

#endif
