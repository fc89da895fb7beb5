/*
 * What a C program may ask of the emulator that runs CUDA kernels on a CPU. None of it is needed to
 * run a kernel.
 */
#ifndef COMMON_CUDA_CPU_H
#define COMMON_CUDA_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The order in which threads of a block take turns: ascending by number, descending, drawn from a
 * seed, or one warp as far ahead of the others as the barriers allow. The blocks of a grid begin in such an
 * order too, the last with the blocks ascending.
 */
enum cuda_schedule { CUDA_ASCENDING, CUDA_DESCENDING, CUDA_RANDOM, CUDA_AHEAD };
void cuda_cpu_schedule(enum cuda_schedule schedule, uint64_t seed);

/*
 * Whether every launch is run under all four schedules, from the same memory. One that leaves other
 * bits in device memory than the first is reported, and ends the program. (Arrays that float
 * atomics add to are not compared: their rounding depends on the order by right.)
 */
void cuda_cpu_all_schedules(bool all);

/* How many OS threads the blocks of a grid are spread over; 0: as many as there are cores. */
void cuda_cpu_threads(size_t count);

/*
 * How many seconds of the processor's time a thread may run without coming to a barrier, 20 if this is
 * not called. One that takes longer is reported: it seems to wait in a loop for another thread, which
 * does not run meanwhile.
 */
void cuda_cpu_patience(unsigned seconds);

/*
 * How many bytes of shared memory a block may ask for, from 48 kB on: 227 kB if this is not called, as on GPUs of compute
 * capability 9.0. Others give less: 163 kB on 8.0, 99 kB on 8.6, 8.9 and 12.0.
 */
void cuda_cpu_shared(size_t bytes);

/*
 * Ten times the compute capability of the GPU that is imitated, 90 if this is not called. An instruction that a GPU of this kind
 * lacks is reported, and ends the program.
 */
void cuda_cpu_capability(int capability);

/*
 * How many devices there seem to be, 1 if this is not called, and which of them is the calling thread's current one. All are
 * this CPU and its memory, but for their names and for the attributes of kernels, which each device has of its own.
 */
void cuda_cpu_devices(int count, int device);

/* A new stream, and how many launches, copies and fills a stream has been given; NULL is the default stream. */
struct CUstream_st *cuda_cpu_stream(void);
size_t cuda_cpu_works(struct CUstream_st *stream);

/*
 * What is done with the accesses of an instrumented kernel (launchers that end in _instrumented), one or more:
 * data races are reported; global accesses are counted in common/measure/traffic.h, which must watch the
 * arrays (cuda_name does that); accesses are summed up by source line; and it is written down which
 * unit would work on the first block when. Always checked are bounds, alignment, and reads of shared memory that was never written.
 */
enum cuda_watch {
    CUDA_WATCH_RACES = 1,
    CUDA_WATCH_TRAFFIC = 2,
    CUDA_WATCH_PROFILE = 4,
    CUDA_WATCH_TIMELINE = 8,
};
void cuda_cpu_watch(unsigned what);

/*
 * The accesses of one source line to one kind of memory, since the profile was last read. The
 * lanes of a warp that run the same instruction for the n-th time make one request. Its cost is
 * what the GPU pays: in shared memory, cycles (each of 32 banks gives one 4-byte word a cycle); in
 * global memory, sectors of 32 bytes. `least` is what the same bytes would cost at best.
 */
struct cuda_line {
    const char *file;
    int line;
    bool shared, store;
    size_t accesses;  // of elements of an array, of 4-byte words in shared memory
    size_t requests, cost, least;
};

/* How many lines there are, and the lines, by file and number; kept until the next call. */
size_t cuda_cpu_profile(const struct cuda_line **lines);

/* False if no process could be started that finds the lines of the last profile: they are unknown then, and the rest is right. */
bool cuda_cpu_profile_has_lines(void);

/*
 * A piece of work that a warp has asked of a unit, in the first block of a launch: when it would begin and end, in
 * cycles, if each unit worked at its published rate and nothing but waiting took time (timeline_clock.h).
 */
struct cuda_work {
    unsigned launch;   // since the timeline was last read, from 1 on
    const char *unit;  // copies, sums, tensor cores, exponentials
    unsigned warp;     // that asked, or the first of four
    unsigned run;  // a warp's works of the same kind, one after the other, are one; it counts them
    const char *what;  // the array that is copied; else product or exp
    const char *file;  // where it was issued; "" and 0 for exponentials
    int line;
    double begin, end;
    double work, cycles;  // bytes, FLOP or exponentials, and how long the unit takes for them alone
};

/* How many pieces there are, and the pieces, in order of time; kept until the next call. */
size_t cuda_cpu_timeline(const struct cuda_work **works);

/* Prints how busy each unit is in the last timeline, of this kernel, and writes its pieces as comma-separated values. */
void cuda_cpu_print_timeline(const char *kernel, const char *path);

/* Prints the last profile as a table beside the lines themselves. */
void cuda_cpu_print_profile(void);

#ifdef __cplusplus
}
#endif

#endif
