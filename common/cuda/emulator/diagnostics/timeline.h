/*
 * The log of one block: who works, and who waits for whom. Then a clock can be put to it (timeline_clock.cpp).
 *
 * Only of the first block of an instrumented launch, and only if the program wants it (CUDA_WATCH_TIMELINE). The emulator says what
 * happens in the order in which it happens here. That order means nothing: threads of a block take turns on a CPU. So
 * each thread has a list of its own, and where one thing waits for others there is a *gate*: it opens when all have come
 * that came to it here.
 */
#ifndef COMMON_CUDA_TIMELINE_H
#define COMMON_CUDA_TIMELINE_H

#include "common/cuda/emulator/site.h"

#include <cstddef>
#include <vector>

namespace cpu
{

enum timeline_unit { TIMED_COPIES, TIMED_SUMS, TIMED_PRODUCTS, TIMED_EXPONENTIALS };

using gate = unsigned;
enum : unsigned { NO_GATE = 0xffffffff };

/* Work for a unit. Thread `thread` issues it, or it starts when `needs` opens; when it is done, it counts towards `gives`. */
struct timeline_job {
    timeline_unit unit;
    unsigned thread,
        run;  // works of the same kind that a thread issues one after the other are a run
    unsigned
        parts;  // of the unit's four: a warp has one of its own, and a warpgroup's products are made by all
    double work;  // bytes, FLOP, exponentials
    gate needs, gives;
    const char *what;
    site at;
};

/* What a thread does: comes to a gate, waits until one is open, does both, issues a job, or waits for its own work. */
struct timeline_event {
    enum { BRINGS, AWAITS, MEETS, ASKS, WORKS } kind;
    unsigned which;  // gate or job
};

struct timeline_log {
    std::vector<std::vector<timeline_event>> threads;
    std::vector<timeline_job> jobs;
    gate gates = 0;
};

/* Whether the running block is written down. */
extern bool timeline_runs;

/* A block begins; and ends. */
void timeline_begin();
void timeline_end();

/* Phase `number` of something that is known by its address: its gate. */
gate timeline_phase(const void *place, size_t number);

/* The running thread comes to a gate, and goes on; it waits until one is open, or, with NO_GATE, need not wait. */
void timeline_brings(gate g);
void timeline_awaits(gate g);

/* Thread `number` waits, and does not run now. */
void timeline_other_awaits(unsigned number, gate g);

/* The threads that `there` says, all of which wait now, have met. */
template <class There> void timeline_meet(unsigned first, unsigned count, There there);

/* What the thread issues from here on is another run: it has come to a barrier. */
void timeline_new_run(unsigned number);

/* What an asynchronous copy is called, by the array that it reads; its work, in bytes. */
unsigned timeline_copy(timeline_unit unit, const void *array, size_t bytes, site at);

/* It is done in this phase of an mbarrier; else a thread that waits for it asks for its gate. */
void timeline_lands(unsigned job, gate g);
gate timeline_done(unsigned job);

/* These threads, which have met last, ask for a product of so many FLOP, made by one of four tensor cores or all. */
unsigned timeline_product(unsigned first, unsigned count, double flop, unsigned parts, site at);

/* The running thread makes an exponential. Kernels call it, whether anybody wants to know or not. */
void timeline_exponential();

// ---- the implementation of timeline_meet ------------------------------------------------------------

gate timeline_new_gate();
void timeline_meets(unsigned number, gate g);

template <class There> void timeline_meet(unsigned first, unsigned count, There there)
{
    const gate g = timeline_new_gate();
    for (unsigned t = first; t < first + count; t++)
        if (there(t))
            timeline_meets(t, g);
}

}  // namespace cpu

#endif
