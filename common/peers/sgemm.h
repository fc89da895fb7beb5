/*
 * The matrix product of a library that is loaded while the program runs: to build it takes no package.
 */
#ifndef COMMON_PEERS_SGEMM_H
#define COMMON_PEERS_SGEMM_H

#include <stdbool.h>
#include <stddef.h>

/*
 * C (m, n) = alpha op(A) op(B) + beta C, row-major and dense. op(A) is A (m, k), or the transpose of A (k, m);
 * op(B) is B (k, n), or the transpose of B (n, k). On one thread; several may call it at a time.
 */
typedef void product(bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k, float alpha,
                     const float *A, const float *B, float beta, float *C);

/*
 * The product of "onednn" or "openblas" in the file `path`, and its name with its version. Ends the program
 * with 2 and a line on standard error if there is none.
 */
product *sgemm_load(const char *which, const char *path, char *name, size_t size);

#endif
