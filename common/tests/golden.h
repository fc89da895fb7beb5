/*
 * Attention as PyTorch computed it in double: the files in golden/ (make_golden.py says how).
 */
#ifndef COMMON_TESTS_GOLDEN_H
#define COMMON_TESTS_GOLDEN_H

#include "common/files/npy.h"
#include "common/tests/problems.h"

/* A case: its problem, and what PyTorch has for it. */
struct golden {
    const char *name;
    struct test_problem t;
    const double *O, *lse, *dQ, *dK, *dV;
    struct npy file;
};

size_t golden_count(void);

/* Reads case number k, less than golden_count. Ends the test if its file is not as it should be. */
struct golden golden_open(size_t k);
void golden_free(struct golden *g);

#endif
