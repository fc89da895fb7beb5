/*
 * Shared memory of a block.
 *
 * Variables that a kernel declares (__shared__ float q[4]) get their places when the first thread
 * reaches them, packed as a GPU's compiler packs them, but with gaps between. The dynamic part has
 * the size given at launch. Both start as NaN, and so do the gaps: if a gap has changed when a
 * block ends, a thread wrote past an end.
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
    SHARED_USUAL = 48 * 1024,  // bytes that a kernel may have by default …
    SHARED_MOST = 227 * 1024,  // … and with cudaFuncSetAttribute and cuda_cpu_shared
    SHARED_VARIABLES = 64,     // that a kernel may declare
    SHARED_GAP = 1024,         // around each; keeps its bank and alignment
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
    char *dynamic;  // aligned; a guard page follows at most 1 KB after its end
    char *dynamic_room;
    size_t used;  // bytes of `room` that may differ from NaN
    size_t used_dynamic;
    size_t alignment;  // declared for the dynamic part; 0: none
};
shared_memory shared_make();
void shared_free(shared_memory *s);

/* Resets the memory for a block; shared_check tests the gaps after it. */
void shared_begin(shared_memory *s, const struct launch *l);
void shared_check(const shared_memory *s, const struct launch *l);

/* The address of a variable, or of the dynamic part, in the running block. */
void *shared_place(shared_site *declared, size_t bytes, size_t alignment);
void *dynamic_shared();
void *dynamic_shared(size_t alignment);

/* Ends the program if p lies in the dynamic part and that was declared with less alignment. */
void shared_wants_alignment(const void *p, size_t alignment, const char *name, site at);

/* Is the whole range in one variable of the running block, or in the dynamic part? */
bool shared_holds(const void *p, size_t bytes);

/* to_cpp.sed writes this for `__shared__ type name dimensions;`. */
#define CUDA_SHARED(name, type, ...)                                                   \
    typedef type name##_shared_type __VA_ARGS__;                                       \
    static cpu::shared_site name##_site = { #name, { __FILE__, __LINE__ }, { 0 }, 0 }; \
    auto &name = *static_cast<name##_shared_type *>(                                   \
        cpu::shared_place(&name##_site, sizeof(name##_shared_type), alignof(name##_shared_type)))

}  // namespace cpu

#endif
