/*
 * The units of Hopper that work beside a block's threads, as far as they have something to do: copies to shared memory, the
 * mbarriers that are told of them, named barriers, and the warpgroups' products (warpgroup.h).
 *
 * A GPU may do such work at any time before somebody learns that it is done. Here it is done when no thread of the block can
 * go on without it, so as late as is legal at all; until then NaN stands where it writes, and what it reads
 * is read at the end. So who does not wait, or says too early that memory may be used again, is wrong in every run.
 */
#ifndef COMMON_CUDA_UNITS_H
#define COMMON_CUDA_UNITS_H

#include "common/cuda/emulator/diagnostics/race.h"
#include "common/cuda/emulator/diagnostics/timeline.h"
#include "common/cuda/hopper.h"

#include <vector>

namespace cpu
{

/* A phase of an mbarrier is over when all arrivals and all bytes are there; then the next begins. */
struct phase_barrier {
    const void *place;
    unsigned expected, missing;  // arrivals of each phase, and those still to come in this one
    int64_t bytes;               // still to come; below 0 if some came before they were expected
    unsigned phase;              // its number
    unsigned by;                 // the thread that initialised it, and has it said so to the units?
    bool fenced;
    race_clock arriving,
        over;  // what those knew who have arrived, in this phase too, and before it
};

/* A box that is on its way to shared memory. */
struct tensor_copy {
    tensor_map map;
    int from[4];
    char *to;
    size_t bytes, barrier;
    unsigned job;      // in the timeline
    race_clock known;  // to the thread that issued it
    site at;
    const void *instruction;
};

/* A row of a box: where its first element lies in the array, and which of its elements are there. */
struct box_row {
    char *place;
    int64_t begin, end;
};
box_row box_row_of(const tensor_map *map, const int *from, size_t row);

/* Floats that are to be added to global memory, or a box that goes there or is added: on its way, then read, then there. */
struct bulk_copy {
    const char *name;  // of the function that issued it
    float *to;         // NULL: a box
    tensor_map map;
    int box[4];  // where it begins
    bool adds;   // the box, of floats
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
    std::vector<unsigned> bulk_groups;  // of each thread: how many it has committed
    unsigned awaited =
        0;  // what other blocks have done: how often a thread of this one has waited for that
    std::vector<unsigned>
        told;  // of each thread: how many of these its last fence_async_global() told the units of
    named barrier[16];
    std::vector<warpgroup> groups;

    units();
    ~units();
};

/* The running block's; made when they are first needed. */
units *own_units();

/* The running thread calls `name`, of a unit; outside a kernel the program ends. */
void units_called(const char *name, site at);

/* A block begins, and ends; a thread leaves the kernel. What is still under way then is an error. */
void units_begin();
void units_end();
void units_leave();

/* No thread can go on: something that is under way is done. False if there is nothing. */
bool units_land();

/* Why no thread can go on, if it is for one of these; else it returns. */
void units_stuck();

/* The mbarrier at `bar` (mbarrier.cpp), which must have been initialised. */
phase_barrier *phase_find(const void *bar, const char *name, site at);

/* If nothing is missing any more the phase is over, and who waits for that goes on. */
void phase_settle(phase_barrier *b);

/* Boxes, sums and products (tma.cpp, bulk.cpp, wgmma.cpp): what the above does for them. */
bool boxes_land();
void bulk_begin(bulk_copy *c, timeline_unit unit, const void *array);
void bulk_leave();

/* Does a copy in bulk still read some of this shared memory? */
bool bulk_reads(const void *p, size_t bytes);
bool products_land();
void products_leave();
void products_stuck();

/* A thread touches memory of its own: ends the program if it is a register of a running product. */
void products_touched(const void *p, size_t bytes, bool writes, const void *instruction);

}  // namespace cpu

#endif
