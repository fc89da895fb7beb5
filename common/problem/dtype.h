/*
 * Element types of Q, K and V: float32 and two 16-bit ones. bfloat16 is the upper half of a
 * float32: its range, and 8 of its 24 binary digits. float16 has 11; its maximum is 65504.
 */
#ifndef COMMON_DTYPE_H
#define COMMON_DTYPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum dtype { DTYPE_F32, DTYPE_BF16, DTYPE_F16, DTYPES };

/* "f32", "bf16", "f16", as on the command line; and back: DTYPES for an unknown name. */
const char *dtype_name(enum dtype type);
enum dtype dtype_named(const char *name);

/* Bytes of an element, and binary digits of a normal number. */
size_t dtype_bytes(enum dtype type);
int dtype_digits(enum dtype type);

/* x rounded to nearest, ties to even; infinity on overflow. */
float dtype_round(enum dtype type, float x);

/* The bits of x rounded to a 16-bit type, and back; not for DTYPE_F32. */
uint16_t dtype_bits(enum dtype type, float x);
float dtype_number(enum dtype type, uint16_t bits);

void dtype_round_all(enum dtype type, float *x, size_t n);

#ifdef __cplusplus
}
#endif

#endif
