/* The matrix product of a library loaded at run time: building needs no package. */
#ifndef COMMON_PEERS_SGEMM_H
#define COMMON_PEERS_SGEMM_H

#include <stdbool.h>
#include <stddef.h>

/*
 * C (m, n) = alpha op(A) op(B) + beta C, row-major, dense; op(A) is (m, k), op(B) is (k, n). On one
 * thread; thread-safe.
 */
typedef void product(bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k, float alpha,
                     const float *A, const float *B, float beta, float *C);

/*
 * The product of "onednn" or "openblas" in the file `path`; writes its name and version. Ends the
 * program with 2 if there is none.
 */
product *sgemm_load(const char *which, const char *path, char *name, size_t size);

#endif
