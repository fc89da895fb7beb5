/*
 * A fiber: a stack and a place to continue, so that a function can stop in the middle and continue
 * later. One OS thread runs many fibers, one at a time, without preemption. CUDA's threads are
 * fibers here.
 */
#ifndef COMMON_CUDA_FIBER_H
#define COMMON_CUDA_FIBER_H

#include <cstddef>

namespace cpu
{

struct fiber {
    char *stack;       // its lowest byte; NULL: the OS thread's own stack
    size_t bytes;      // of the stack
    void *at;          // the stack pointer (or the ucontext_t) to continue with
    void *fake_stack;  // the address sanitizer's
};

/*
 * Prepares `f`, whose stack is set, to call `run` at the first switch; `run` must never return.
 * `stagger`: bytes left free at the top of the stack.
 */
void fiber_start(fiber *f, void (*run)(), size_t stagger);

/* `run` must call this first. `first` is the fiber that the switch came from. */
void fiber_entered(fiber *first);

/* Suspends the running fiber `from` and continues `to`. `for_good`: `from` never continues. */
void fiber_switch(fiber *from, fiber *to, bool for_good);

/* Frees what `f` holds besides its stack. */
void fiber_end(fiber *f);

/* Memory for `count` stacks, each above guard pages, so that an overflow faults. */
struct stacks {
    char *room;
    size_t each, bytes;
};
stacks stacks_make(size_t count);
void stacks_free(stacks s);
char *stack_of(stacks s, size_t number, size_t *bytes);

/* The number of the stack whose guard contains `p`, or -1. */
long stack_overflowed(stacks s, const void *p);

}  // namespace cpu

#endif
