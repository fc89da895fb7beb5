/*
 * Arrays in a device's memory: copies in the kernels' types, and poisoned room. Each is new;
 * reports and the access counter call it `name`; release with device_release_all or
 * device->release.
 */
#ifndef FLASH_TILED_CUDA_COPIES_H
#define FLASH_TILED_CUDA_COPIES_H

#include "06_flash_tiled_cuda/kernels/device/device.h"
#include "common/problem/attention.h"

#include <stddef.h>
#include <stdint.h>

/* The same bytes; NULL for NULL. */
void *device_copy(const struct device *device, const void *host, size_t bytes, const char *name);

/* n numbers, rounded to a 16-bit type. */
uint16_t *device_copy_rounded(const struct device *device, const float *host, size_t n,
                              enum dtype type, const char *name);

/* Poisoned room for n numbers: tolerance.h detects what a kernel did not write. */
float *device_poisoned(const struct device *device, size_t n, const char *name);
uint16_t *device_poisoned_16(const struct device *device, size_t n, const char *name);

/* Copies n 16-bit numbers to the host as float32; poison stays poison. */
void device_download_16(const struct device *device, float *host, const uint16_t *array, size_t n,
                        enum dtype type);

/* Replaces a problem's masks by copies, without a name: they are not counted. */
void device_copy_masks(const struct device *device, struct attention *p);

void device_release_all(const struct device *device, const void *const *arrays, size_t n);

#endif
