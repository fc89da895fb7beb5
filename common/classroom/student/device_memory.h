/*
 * The device's memory, for a program in C.
 */
#ifndef CLASSROOM_DEVICE_MEMORY_H
#define CLASSROOM_DEVICE_MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A copy of these bytes there, which reports know by that name. */
void *device_copy(const void *from, size_t bytes, const char *name);

/* The first bytes of an array there, once all kernels have ended. */
void device_read(void *to, const void *array, size_t bytes);
void device_free(const void *array);

#ifdef __cplusplus
}
#endif
#endif
