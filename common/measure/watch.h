/*
 * The watched build of a lesson: the same file, compiled so that it calls a function of watch.c before each access to
 * memory (WATCH_FLAGS in common/tools/build.mk), and with _watched after the names of its functions. What falls into an array
 * of traffic.h is counted there.
 *
 * A program names the watched build of a function f by WATCHED(f), after DECLARE_WATCHED(f). It is NULL where somebody compiles
 * by hand. There, and where the compiler does not have the flag, CAN_WATCH is false, and the program says that it does not count.
 */
#ifndef COMMON_WATCH_H
#define COMMON_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DECLARE_WATCHED(f) extern __typeof__(f) f##_watched
#ifdef WATCH
#define CAN_WATCH (WATCH > 0)
#define WATCHED(f) f##_watched
#else
#define CAN_WATCH false
#define WATCHED(f) ((__typeof__(f) *)NULL)
#endif

/*
 * From now on all accesses go to `who` and none is counted, until `who` is NULL: the emulator of common/cuda asks for that while
 * its threads run. `instruction` is what follows the call; an `aligned` access must be at a multiple of its size.
 */
typedef void watcher(const void *at, size_t bytes, bool writes, bool aligned,
                     const void *instruction);
void watch_with(watcher *who);

/* For watch.c: an access that has to be looked at (traffic.h). */
extern watcher *watching;

#ifdef __cplusplus
}
#endif

#endif
