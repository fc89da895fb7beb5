/* kernels/primitives.cu and halves.cu, for the tests in C. */
#ifndef COMMON_CUDA_TESTS_PRIMITIVES_H
#define COMMON_CUDA_TESTS_PRIMITIVES_H

#include <stdint.h>

enum primitive {
    SHFL,
    SHFL_UP,
    SHFL_DOWN,
    SHFL_XOR,
    VOTE_ALL,
    VOTE_ANY,
    BALLOT,
    MATCH_ANY,
    REDUCE_ADD,
    REDUCE_MIN,
    REDUCE_MAX,
    REDUCE_MIN_SIGNED,
    REDUCE_MAX_SIGNED,
    REDUCE_AND,
    REDUCE_OR,
    REDUCE_XOR,
    BARRIER_COUNT,
    BARRIER_AND,
    BARRIER_OR,
};

enum { COORDINATES = 2 * 3 * 4 * 5 * 6 * 7 * 6, FUNCTIONS = 11 };

#ifdef __cplusplus
extern "C" {
#endif

/* out[k] of thread k of a block of n; threads outside the mask write nothing. */
typedef void primitive_runner(enum primitive which, const unsigned *in, unsigned *out, unsigned n,
                              int by, int width, unsigned mask);
primitive_runner primitive_cpu, primitive_instrumented;

void coordinates_cpu(unsigned *out);
void atomics_cpu(double out[12]);
void arithmetic_cpu(float x, float y, float out[FUNCTIONS]);

/* bits[k]: the rounded float with bits `first` + k. */
void to_halves_cpu(uint32_t first, uint32_t count, uint16_t *bits);
void to_bfloats_cpu(uint32_t first, uint32_t count, uint16_t *bits);

/* x[k]: the number with bits k. */
void from_halves_cpu(float x[65536]);
void from_bfloats_cpu(float x[65536]);

#ifdef __cplusplus
}
#endif
#endif
