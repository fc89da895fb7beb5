/*
 * A fiber: a stack and a place to continue, so that a function can stop and continue later. An OS
 * thread runs many fibers in turn, without preemption. CUDA's threads are fibers here.
 */
#ifndef COMMON_CUDA_FIBER_H
#define COMMON_CUDA_FIBER_H

#include <cstddef>

namespace cpu
{

struct fiber {
    char *stack;  // lowest byte; NULL: the OS thread's
    size_t bytes;
    void *at;          // stack pointer, or ucontext_t
    void *fake_stack;  // the address sanitizer's
};

/*
 * The first switch calls `run`, which must never return. `stagger`: bytes left free at the stack's
 * top.
 */
void fiber_start(fiber *f, void (*run)(), size_t stagger);

/* `run` must call this first; `first`: the fiber it was switched from. */
void fiber_entered(fiber *first);

/* `for_good`: `from` never continues. */
void fiber_switch(fiber *from, fiber *to, bool for_good);

/* Keeps the stack. */
void fiber_end(fiber *f);

/* Each stack lies above guard pages. */
struct stacks {
    char *room;
    size_t each, bytes;
};
stacks stacks_make(size_t count);
void stacks_free(stacks s);
char *stack_of(stacks s, size_t number, size_t *bytes);

/* The stack whose guard contains `p`, or -1. */
long stack_overflowed(stacks s, const void *p);

}  // namespace cpu

#endif
