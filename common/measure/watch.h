/*
 * The instrumented build of a lesson: the same file, compiled to call traffic.c before each access
 * (WATCH_FLAGS in common/tools/build.mk), with _watched after its functions' names.
 *
 * WATCHED(f), after DECLARE_WATCHED(f), is f's instrumented build, or NULL if built by hand. Then,
 * and without compiler support, CAN_WATCH is false, and programs print that they do not count.
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
 * Redirects all accesses to `who`, uncounted, until `who` is NULL: for the emulator of common/cuda
 * while its threads run. `instruction` is the address after the call; an `aligned` access must be
 * at a multiple of its size.
 */
typedef void watcher(const void *at, size_t bytes, bool writes, bool aligned,
                     const void *instruction);
void watch_with(watcher *who);

#ifdef __cplusplus
}
#endif

#endif
