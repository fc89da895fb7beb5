/*
 * Hopper's asynchronous units: copies, mbarriers, named barriers, products of warpgroups
 * (warpgroup.h).
 *
 * A GPU may do such work at any time before a thread waits for it. We do it when no thread of the
 * block can continue otherwise, the latest legal time. Until then the target holds NaN, and sources
 * are read at the end. So a kernel that forgets a wait, or frees memory too early, is wrong in
 * every run.
 */
#ifndef COMMON_CUDA_UNITS_H
#define COMMON_CUDA_UNITS_H

#include "common/cuda/emulator/diagnostics/race.h"
#include "common/cuda/emulator/diagnostics/timeline.h"
#include "common/cuda/hopper.h"

#include <vector>

namespace cpu
{

/* A phase ends when no arrivals and bytes are missing. */
struct phase_barrier {
    const void *place;
    unsigned expected, missing;  // arrivals: per phase, in this phase
    int64_t bytes;               // missing; may come before they are expected
    unsigned phase;
    unsigned by;  // initialised it; then called fence_async()?
    bool fenced;
    race_clock arriving,
        over;  // clocks of arrivals: in this phase, in earlier ones
};

/* A pending copy of a box to shared memory. */
struct tensor_copy {
    tensor_map map;
    int from[4];
    char *to;
    size_t bytes, barrier;
    unsigned job;
    race_clock known;  // to the issuing thread
    site at;
    const void *instruction;
};

/* Address of the row's first element, and the range inside the array. */
struct box_row {
    char *place;
    int64_t begin, end;
};
box_row box_row_of(const tensor_map *map, const int *from, size_t row);

/* A pending bulk copy or sum: issued, then read, then done. */
struct bulk_copy {
    const char *name;
    float *to;  // NULL: a box
    tensor_map map;
    int box[4];
    bool adds;  // the box, of floats
    const char *from;
    std::vector<char> data;
    size_t bytes;
    unsigned thread, group;
    unsigned job;
    bool read;
    site at;
    const void *instruction;
};

struct named {
    unsigned threads = 0, arrived = 0, phase = 0;
    race_clock arriving, over;
};

struct warpgroup;

struct units {
    std::vector<phase_barrier> barriers;
    std::vector<tensor_copy> copies;
    std::vector<bulk_copy> bulk;
    std::vector<unsigned> bulk_groups;  // committed, per thread
    unsigned awaited = 0;               // waits for other blocks
    std::vector<unsigned> told;         // per thread: `awaited` at its last fence_async_global()
    named barrier[16];
    std::vector<warpgroup> groups;

    units();
    ~units();
};

/* Created at the first use. */
units *own_units();

/* The running thread calls `name`; ends the program outside kernels. */
void units_called(const char *name, site at);

/* A block begins, ends; a thread leaves. Pending work is then an error. */
void units_begin();
void units_end();
void units_leave();

/* No thread can run: completes pending work. False if there is none. */
bool units_land();

/* Reports a deadlock of the units; otherwise returns. */
void units_stuck();

/* Ends the program if no mbarrier is initialised at `bar`. */
phase_barrier *phase_find(const void *bar, const char *name, site at);

/* If nothing is missing, ends the phase and wakes its threads. */
void phase_settle(phase_barrier *b);

/* The same per unit (tma.cpp, bulk.cpp, wgmma.cpp). */
bool boxes_land();
void bulk_begin(bulk_copy *c, timeline_unit unit, const void *array);
void bulk_leave();

/* Does a pending bulk copy read this shared memory? */
bool bulk_reads(const void *p, size_t bytes);

/* Has this thread bulk copies or additions that it has not waited for? */
bool bulk_pending();
bool products_land();
void products_leave();
void products_stuck();

/* Ends the program if a thread accesses a register of a running product. */
void products_touched(const void *p, size_t bytes, bool writes, const void *instruction);

}  // namespace cpu

#endif
