/*
 * The types of numbers that Q, K and V may come in: float32, and two of 16 bits. bfloat16 is the upper half
 * of a float32, with its range and 8 digits of its 24; float16 has 11 digits, and ends at 65504.
 */
#ifndef COMMON_DTYPE_H
#define COMMON_DTYPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum dtype { DTYPE_F32, DTYPE_BF16, DTYPE_F16, DTYPES };

/* "f32", "bf16", "f16": as on the command line. Back: DTYPES if there is none of that name. */
const char *dtype_name(enum dtype type);
enum dtype dtype_named(const char *name);

/* Bytes of an element, and binary digits of a number that is not tiny. */
size_t dtype_bytes(enum dtype type);
int dtype_digits(enum dtype type);

/* The number of this type that is nearest to x, the even one of two; beyond the largest, infinity. */
float dtype_round(enum dtype type, float x);

/* Its bits, for a type of 16, and the number that such bits are. */
uint16_t dtype_bits(enum dtype type, float x);
float dtype_number(enum dtype type, uint16_t bits);

/* x[0 … n-1], each rounded. */
void dtype_round_all(enum dtype type, float *x, size_t n);

#ifdef __cplusplus
}
#endif

#endif
