/*
 * Hopper's asynchronous units: copies to and from shared memory, the mbarriers that count them,
 * named barriers, and products of warpgroups (warpgroup.h).
 *
 * A GPU may do such work at any time before a thread waits for it. We do it only when no thread of
 * the block can continue otherwise, the latest legal time. Until then the target holds NaN, and
 * sources are read at the end. So a kernel that forgets a wait, or frees memory too early, is wrong
 * in every run.
 */
#ifndef COMMON_CUDA_UNITS_H
#define COMMON_CUDA_UNITS_H

#include "common/cuda/emulator/diagnostics/race.h"
#include "common/cuda/emulator/diagnostics/timeline.h"
#include "common/cuda/hopper.h"

#include <vector>

namespace cpu
{

/* A phase ends when all arrivals and all bytes have come; then the next begins. */
struct phase_barrier {
    const void *place;
    unsigned expected, missing;  // arrivals per phase, and those missing in this one
    int64_t bytes;               // missing; negative if bytes came before they were expected
    unsigned phase;              // its number
    unsigned by;                 // the thread that initialised it; has it called fence_async()
                                 // since?
    bool fenced;
    race_clock arriving,
        over;  // clocks of this phase's arrivals, and of the phases before
};

/* A pending copy of a box to shared memory. */
struct tensor_copy {
    tensor_map map;
    int from[4];
    char *to;
    size_t bytes, barrier;
    unsigned job;      // in the timeline
    race_clock known;  // of the issuing thread
    site at;
    const void *instruction;
};

/*
 * A row of a box: the address of its first element in the array, and the range of elements inside.
 */
struct box_row {
    char *place;
    int64_t begin, end;
};
box_row box_row_of(const tensor_map *map, const int *from, size_t row);

/* A pending bulk copy or sum to global memory: issued, then read, then done. */
struct bulk_copy {
    const char *name;  // the function that issued it
    float *to;         // NULL: a box
    tensor_map map;
    int box[4];  // its coordinates
    bool adds;   // adds the box, of floats
    const char *from;
    std::vector<char> data;
    size_t bytes;
    unsigned thread, group;
    unsigned job;  // in the timeline
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
    std::vector<unsigned> bulk_groups;  // per thread: committed groups
    unsigned awaited = 0;        // how often threads of this block have waited for other blocks
    std::vector<unsigned> told;  // per thread: `awaited` at its last fence_async_global()
    named barrier[16];
    std::vector<warpgroup> groups;

    units();
    ~units();
};

/* The running block's units; created at the first use. */
units *own_units();

/* The running thread calls `name`, a function of a unit; ends the program outside kernels. */
void units_called(const char *name, site at);

/* A block begins or ends; a thread leaves the kernel. Pending work is then an error. */
void units_begin();
void units_end();
void units_leave();

/* No thread can run: completes pending work. False if there is none. */
bool units_land();

/* Reports a deadlock that one of the units explains; otherwise returns. */
void units_stuck();

/* The mbarrier at `bar` (mbarrier.cpp); ends the program if it is not initialised. */
phase_barrier *phase_find(const void *bar, const char *name, site at);

/* Ends the phase if nothing is missing, and wakes its waiting threads. */
void phase_settle(phase_barrier *b);

/* The same per unit: boxes, sums and products (tma.cpp, bulk.cpp, wgmma.cpp). */
bool boxes_land();
void bulk_begin(bulk_copy *c, timeline_unit unit, const void *array);
void bulk_leave();

/* Does a pending bulk copy still read from this shared memory? */
bool bulk_reads(const void *p, size_t bytes);
bool products_land();
void products_leave();
void products_stuck();

/* A thread accesses private memory: ends the program if that is a register of a running product. */
void products_touched(const void *p, size_t bytes, bool writes, const void *instruction);

}  // namespace cpu

#endif
