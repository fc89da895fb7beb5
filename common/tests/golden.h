/*
 * Attention as computed by PyTorch in double: the files in golden/, from make_golden.py.
 */
#ifndef COMMON_TESTS_GOLDEN_H
#define COMMON_TESTS_GOLDEN_H

#include "common/files/npy.h"
#include "common/tests/problems.h"

struct golden {
    const char *name;
    struct test_problem t;
    const double *O, *lse, *dQ, *dK, *dV;
    struct npy file;
};

size_t golden_count(void);

/* Reads case k < golden_count. Fails the test if its file is malformed. */
struct golden golden_open(size_t k);
void golden_free(struct golden *g);

#endif
