/*
 * The event log of one block: who works, and who waits for whom. timeline_clock.cpp assigns times.
 *
 * It covers the first block of an instrumented launch under CUDA_WATCH_TIMELINE. The emulator's own
 * order of threads means nothing, so each thread has its own list of events. A *gate* stands for a
 * synchronisation: it opens when all threads and jobs that arrived there have done so again.
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

/*
 * Work for a unit, issued by `thread`, or started when gate `needs` opens; its end arrives at
 * `gives`.
 */
struct timeline_job {
    timeline_unit unit;
    unsigned thread,
        run;         // of consecutive jobs of one kind by one thread
    unsigned parts;  // of the unit's four: 1 for a warp, 4 for a warpgroup's products
    double work;     // bytes, FLOP, exponentials
    gate needs, gives;
    const char *what;
    site at;
};

/*
 * An event of a thread: arrives at a gate, waits for one, does both, issues a job, or works itself.
 */
struct timeline_event {
    enum { BRINGS, AWAITS, MEETS, ASKS, WORKS } kind;
    unsigned which;  // gate or job
};

struct timeline_log {
    std::vector<std::vector<timeline_event>> threads;
    std::vector<timeline_job> jobs;
    gate gates = 0;
};

/* Whether the running block is logged. */
extern bool timeline_runs;

/* A block begins; and ends. */
void timeline_begin();
void timeline_end();

/* The gate of phase `number` of the object at `place`. */
gate timeline_phase(const void *place, size_t number);

/*
 * The running thread arrives at a gate without waiting; waits for one (NO_GATE: returns at once).
 */
void timeline_brings(gate g);
void timeline_awaits(gate g);

/* Thread `number`, not the running one, waits. */
void timeline_other_awaits(unsigned number, gate g);

/* The waiting threads for which `there` is true have met. */
template <class There> void timeline_meet(unsigned first, unsigned count, There there);

/* A barrier: the thread's next work is a new run. */
void timeline_new_run(unsigned number);

/* A copy of `bytes` bytes, named after the array that it reads; returns its job. */
unsigned timeline_copy(timeline_unit unit, const void *array, size_t bytes, site at);

/*
 * The job's end arrives at gate `g`; timeline_done returns a gate for a thread that waits for it.
 */
void timeline_lands(unsigned job, gate g);
gate timeline_done(unsigned job);

/* These threads, which have just met, issue a product of `flop` FLOP on `parts` tensor cores. */
unsigned timeline_product(unsigned first, unsigned count, double flop, unsigned parts, site at);

/* The running thread computes an exponential; no-op without a timeline. */
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
