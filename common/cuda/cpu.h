/* Optional settings and reports of the emulator, which runs CUDA kernels on a CPU. */
#ifndef COMMON_CUDA_CPU_H
#define COMMON_CUDA_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The order of threads in a block: ascending, descending, drawn from `seed`, or one warp as far
 * ahead as barriers allow. Blocks start in the same order; for CUDA_AHEAD, ascending.
 */
enum cuda_schedule { CUDA_ASCENDING, CUDA_DESCENDING, CUDA_RANDOM, CUDA_AHEAD };
void cuda_cpu_schedule(enum cuda_schedule schedule, uint64_t seed);

/*
 * Runs every launch under all four schedules from the same memory, and ends the program if device
 * memory differs. Arrays with float atomics are not compared: their rounding may depend on the
 * order.
 */
void cuda_cpu_all_schedules(bool all);

/* OS threads that share the blocks of a grid; 0: one per core. */
void cuda_cpu_threads(size_t count);

/*
 * CPU seconds that a thread may run between barriers, by default 20. Longer runs are reported as
 * busy waits, which never end: threads are not preempted.
 */
void cuda_cpu_patience(unsigned seconds);

/*
 * Bytes of shared memory that a block may request, at least 48 kB. Default: 227 kB as on compute
 * capability 9.0. 8.0 has 163 kB; 8.6, 8.9 and 12.0 have 99 kB.
 */
void cuda_cpu_shared(size_t bytes);

/*
 * Ten times the compute capability of the emulated GPU, by default 90. An instruction that such a
 * GPU lacks is reported, and ends the program.
 */
void cuda_cpu_capability(int capability);

/*
 * The number of emulated devices, by default 1, and the calling thread's current one. All are this
 * CPU with its memory, but each has its own name and its own attributes of kernels.
 */
void cuda_cpu_devices(int count, int device);

/*
 * Creates a stream; counts the launches, copies and fills issued to one (NULL: the default stream).
 */
struct CUstream_st *cuda_cpu_stream(void);
size_t cuda_cpu_works(struct CUstream_st *stream);

/*
 * Checks of instrumented kernels (launchers that end in _instrumented), one or more: data races;
 * counts of global accesses to arrays named by cuda_name (common/measure/traffic.h); accesses per
 * source line; a timeline of the first block's units. Bounds, alignment and reads of uninitialised
 * shared memory are always checked.
 */
enum cuda_watch {
    CUDA_WATCH_RACES = 1,
    CUDA_WATCH_TRAFFIC = 2,
    CUDA_WATCH_PROFILE = 4,
    CUDA_WATCH_TIMELINE = 8,
};
void cuda_cpu_watch(unsigned what);

/*
 * The accesses of one source line to one kind of memory, since the profile was last read. Lanes of
 * a warp that execute the same instruction for the n-th time form one request. `cost`: cycles in
 * shared memory (32 banks deliver one 4-byte word per cycle), 32-byte sectors in global memory.
 * `least`: the lowest cost for the same bytes.
 */
struct cuda_line {
    const char *file;
    int line;
    bool shared, store;
    size_t accesses;  // of array elements; of 4-byte words in shared memory
    size_t requests, cost, least;
};

/* Returns the number of lines; sorted by file and number, valid until the next call. */
size_t cuda_cpu_profile(const struct cuda_line **lines);

/* False if lines are unknown because addr2line or atos did not start. */
bool cuda_cpu_profile_has_lines(void);

/*
 * Work that a warp issued to a unit in the first block of a launch; `begin` and `end` are in cycles
 * (timeline_clock.h).
 */
struct cuda_work {
    unsigned launch;   // counted from 1
    const char *unit;  // copies, sums, tensor cores, exponentials
    unsigned warp;     // that issued it, or the first of four
    unsigned run;      // consecutive work of one kind by one warp
    const char *what;  // the copied array; else product or exp
    const char *file;  // "" and 0 for exponentials
    int line;
    double begin, end;
    double work, cycles;  // bytes, FLOP or exponentials; their time at the unit's rate
};

/* Returns the number of entries; sorted by time, valid until the next call. */
size_t cuda_cpu_timeline(const struct cuda_work **works);

/* Prints the units' utilisation in the last timeline, and writes its entries to `path` as CSV. */
void cuda_cpu_print_timeline(const char *kernel, const char *path);

void cuda_cpu_print_profile(void);

#ifdef __cplusplus
}
#endif

#endif
