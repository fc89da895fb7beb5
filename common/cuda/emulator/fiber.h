/*
 * A fiber: a stack of its own and a place to go on, so that a function can stop in the middle, let
 * others run, and continue. One OS thread runs many fibers, one at a time, and none is interrupted.
 *
 * CUDA's threads are fibers here. One that comes to a barrier stops there, and the next runs.
 */
#ifndef COMMON_CUDA_FIBER_H
#define COMMON_CUDA_FIBER_H

#include <cstddef>

namespace cpu
{

struct fiber {
    char *stack;       // its lowest byte; NULL: the OS thread's own stack
    size_t bytes;      // of the stack
    void *at;          // the stack pointer (or the ucontext_t) to go on with
    void *fake_stack;  // the address sanitizer's
};

/* Makes `f`, whose stack is set, call `run` when it is switched to; `run` must never return. */
void fiber_start(fiber *f, void (*run)(), size_t stagger);

/* The first thing that `run` does. `first` is the fiber that the switch came from. */
void fiber_entered(fiber *first);

/* Stops `from`, which runs, and goes on with `to`. `for_good`: `from` never goes on again. */
void fiber_switch(fiber *from, fiber *to, bool for_good);

/* Frees what `f` holds besides its stack. */
void fiber_end(fiber *f);

/* Room for `count` stacks, each above pages that nobody may touch, so that it cannot overflow. */
struct stacks {
    char *room;
    size_t each, bytes;
};
stacks stacks_make(size_t count);
void stacks_free(stacks s);
char *stack_of(stacks s, size_t number, size_t *bytes);

/* Which stack has overflowed where an access to `p` was refused: its number, or -1. */
long stack_overflowed(stacks s, const void *p);

}  // namespace cpu

#endif
