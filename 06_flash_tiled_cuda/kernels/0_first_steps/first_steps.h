/* All arrays are in the host's memory. */
#ifndef FLASH_TILED_CUDA_FIRST_STEPS_H
#define FLASH_TILED_CUDA_FIRST_STEPS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* n floats; c may be a or b. */
typedef void add_launcher(const float *a, const float *b, float *c, size_t n);

/* n floats; 0 if n is 0. */
typedef float sum_launcher(const float *x, size_t n);

#ifdef __cplusplus
}
#endif
#endif
