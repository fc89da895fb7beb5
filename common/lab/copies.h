/*
 * Arrays in a device's memory: copies in the kernels' types, and poisoned outputs. Reports and the
 * access counter call an array `name`; release it with device_release_all or device->release.
 */
#ifndef COMMON_LAB_COPIES_H
#define COMMON_LAB_COPIES_H

#include "common/lab/device.h"
#include "common/problem/attention.h"

#include <stddef.h>
#include <stdint.h>

/* Allocates `bytes`; and the same without counting the accesses to it. */
void *device_room(const struct device *device, size_t bytes, const char *name);
void *device_room_uncounted(const struct device *device, size_t bytes, const char *name);

/* The same bytes; NULL for NULL. */
void *device_copy(const struct device *device, const void *host, size_t bytes, const char *name);

/* n numbers, rounded to a 16-bit type. */
uint16_t *device_copy_rounded(const struct device *device, const float *host, size_t n,
                              enum dtype type, const char *name);

/*
 * A poisoned array of n numbers of float32 or, if `size` is 2, of 16 bits: tolerance.h detects what
 * a kernel did not write.
 */
void *device_poisoned(const struct device *device, size_t n, size_t size, const char *name);

/* Replaces a problem's masks by copies, whose accesses are not counted. */
void device_copy_masks(const struct device *device, struct attention *p);

/* Copies to the host; from 16-bit numbers to float32, where poison stays poison. */
void device_download(const struct device *device, void *host, const void *array, size_t bytes);
void device_download_16(const struct device *device, float *host, const uint16_t *array, size_t n,
                        enum dtype type);

void device_release_all(const struct device *device, const void *const *arrays, size_t n);

/*
 * For benchmarks: from now on arrays stay in the device's memory. An array whose name already
 * exists is neither allocated nor filled again, and nothing is downloaded or released, so only a
 * kernel's launches are left. Copies 1, 2, … of a problem have their own arrays. 0 ends this and
 * releases all of them.
 */
void device_keep(const struct device *device, size_t copy);

#endif
