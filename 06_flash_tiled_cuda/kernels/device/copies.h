/*
 * Arrays in a device's memory: copies of the host's, in the type that kernels want, and room that is poisoned. Each is a new
 * one, which reports and the access counter know as `name`, and which device_release_all or device->release lets go.
 */
#ifndef FLASH_TILED_CUDA_COPIES_H
#define FLASH_TILED_CUDA_COPIES_H

#include "06_flash_tiled_cuda/kernels/device/device.h"
#include "common/problem/attention.h"

#include <stddef.h>
#include <stdint.h>

/* The same bytes; NULL of NULL. */
void *device_copy(const struct device *device, const void *host, size_t bytes, const char *name);

/* n numbers, rounded to a type of 16 bits. */
uint16_t *device_copy_rounded(const struct device *device, const float *host, size_t n,
                              enum dtype type, const char *name);

/* Room for n numbers, in which tolerance.h sees what a kernel has not written. */
float *device_poisoned(const struct device *device, size_t n, const char *name);
uint16_t *device_poisoned_16(const struct device *device, size_t n, const char *name);

/* n numbers of 16 bits come back to the host as float32; what is still poison is poison there. */
void device_download_16(const struct device *device, float *host, const uint16_t *array, size_t n,
                        enum dtype type);

/* The masks of a problem become copies. They have no name: they are not counted. */
void device_copy_masks(const struct device *device, struct attention *p);

/* Those that are not NULL. */
void device_release_all(const struct device *device, const void *const *arrays, size_t n);

#endif
