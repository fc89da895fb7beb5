/*
 * The event log of the first block of an instrumented launch, under CUDA_WATCH_TIMELINE;
 * timeline_clock.cpp assigns times. The emulator's order of threads means nothing, so each thread
 * has its own list. A *gate* is a synchronisation: it opens when all recorded arrivals have come.
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

/* Issued by `thread`, or started when gate `needs` opens; its end arrives at `gives`. */
struct timeline_job {
    timeline_unit unit;
    unsigned thread,
        run;         // number of consecutive work of one kind
    unsigned parts;  // of four: 1 for a warp, 4 for a warpgroup
    double work;     // bytes, FLOP, exponentials
    gate needs, gives;
    const char *what;
    site at;
};

/* An event of a thread: arrives at a gate, waits, does both, issues a job, or works. */
struct timeline_event {
    enum { BRINGS, AWAITS, MEETS, ASKS, WORKS } kind;
    unsigned which;  // gate or job
};

struct timeline_log {
    std::vector<std::vector<timeline_event>> threads;
    std::vector<timeline_job> jobs;
    gate gates = 0;
};

extern bool timeline_runs;

void timeline_begin();
void timeline_end();

/* The gate of phase `number` of the object at `place`. */
gate timeline_phase(const void *place, size_t number);

/* The running thread arrives without waiting; waits for a gate (NO_GATE: returns at once). */
void timeline_brings(gate g);
void timeline_awaits(gate g);

/* Thread `number`, not the running one, waits. */
void timeline_other_awaits(unsigned number, gate g);

/* The waiting threads with `there(t)` have met. */
template <class There> void timeline_meet(unsigned first, unsigned count, There there);

/* At a barrier: the next work is a new run. */
void timeline_new_run(unsigned number);

/* Returns the job, named after the array. */
unsigned timeline_copy(timeline_unit unit, const void *array, size_t bytes, site at);

/* The job's end arrives at `g`; or, returns a gate to wait for its end. */
void timeline_lands(unsigned job, gate g);
gate timeline_done(unsigned job);

/* These threads have just met. */
unsigned timeline_product(unsigned first, unsigned count, double flop, unsigned parts, site at);

/* No-op if no timeline runs. */
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
