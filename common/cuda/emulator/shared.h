/*
 * Shared memory of a block. Variables (__shared__ float q[4]) get their places when the first
 * thread reaches them, packed as by a GPU's compiler, but with gaps. The dynamic part has the size
 * given at launch. All starts as NaN; a gap that has changed at the block's end shows a write out
 * of bounds.
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
    SHARED_USUAL = 48 * 1024,  // bytes by default …
    SHARED_MOST = 227 * 1024,  // … and at most
    SHARED_VARIABLES = 64,
    SHARED_GAP = 1024,  // around each; keeps bank and alignment
    SHARED_ALIGNMENT = 1024,
    SHARED_ROOM = SHARED_USUAL + (SHARED_VARIABLES + 1) * SHARED_GAP,
};

struct shared_site {
    const char *name;
    site at;
    std::atomic<unsigned> launch;  // that `offset` belongs to
    size_t offset;                 // in the block's shared memory
};

struct shared_variable {
    const char *name;
    site at;
    size_t offset, bytes;
};

struct shared_memory {
    char *room;     // variables and gaps
    char *dynamic;  // aligned; a guard page at most 1 KB after it
    char *dynamic_room;
    size_t used;  // bytes that may have changed
    size_t used_dynamic;
    size_t alignment;  // declared for the dynamic part; 0: none
};
shared_memory shared_make();
void shared_free(shared_memory *s);

/* Reset the memory for a block; check the gaps after it. */
void shared_begin(shared_memory *s, const struct launch *l);
void shared_check(const shared_memory *s, const struct launch *l);

void *shared_place(shared_site *declared, size_t bytes, size_t alignment);
void *dynamic_shared();
void *dynamic_shared(size_t alignment);

/* Ends the program if the dynamic part holds p and is declared with less alignment. */
void shared_wants_alignment(const void *p, size_t alignment, const char *name, site at);

/* Is the range in one variable of the running block, or in the dynamic part? */
bool shared_holds(const void *p, size_t bytes);

/* to_cpp.sed writes this for `__shared__ type name dimensions;`. */
#define CUDA_SHARED(name, type, ...)                                                   \
    typedef type name##_shared_type __VA_ARGS__;                                       \
    static cpu::shared_site name##_site = { #name, { __FILE__, __LINE__ }, { 0 }, 0 }; \
    auto &name = *static_cast<name##_shared_type *>(                                   \
        cpu::shared_place(&name##_site, sizeof(name##_shared_type), alignof(name##_shared_type)))

}  // namespace cpu

#endif
