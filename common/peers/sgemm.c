#include "common/peers/sgemm.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int onednn_sgemm(char transpose_a, char transpose_b, int64_t m, int64_t n, int64_t k,
                         float alpha, const float *A, int64_t lda, const float *B, int64_t ldb,
                         float beta, float *C, int64_t ldc);
typedef void openblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k,
                            float alpha, const float *A, int lda, const float *B, int ldb,
                            float beta, float *C, int ldc);
enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };  // of the C interface to BLAS

static onednn_sgemm *onednn;
static openblas_sgemm *openblas;

static void onednn_product(bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k,
                           float alpha, const float *A, const float *B, float beta, float *C)
{
    const int64_t lda = (int64_t)(transpose_a ? m : k), ldb = (int64_t)(transpose_b ? k : n);
    if (onednn(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', (int64_t)m, (int64_t)n, (int64_t)k,
               alpha, A, lda, B, ldb, beta, C, (int64_t)n) != 0) {
        fprintf(stderr, "composed: oneDNN refused a product\n");
        exit(2);
    }
}

static void openblas_product(bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k,
                             float alpha, const float *A, const float *B, float beta, float *C)
{
    openblas(ROW_MAJOR, transpose_a ? TRANSPOSED : AS_IT_IS, transpose_b ? TRANSPOSED : AS_IT_IS,
             (int)m, (int)n, (int)k, alpha, A, (int)(transpose_a ? m : k), B,
             (int)(transpose_b ? k : n), beta, C, (int)n);
}

/* NULL if missing. ISO C cannot cast such pointers. */
static void find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
}

/* OpenBLAS builds may prefix names, so that several fit in one process. */
static void find_openblas(void *library, const char *name, void *function)
{
    char prefixed[64];
    snprintf(prefixed, sizeof prefixed, "scipy_%s", name);
    find(library, dlsym(library, prefixed) ? prefixed : name, function);
}

static product *load_openblas(void *library, char *name, size_t size)
{
    void (*set_threads)(int);
    char *(*config)(void), *(*core)(void), version[32] = "OpenBLAS";
    find_openblas(library, "cblas_sgemm", (void *)&openblas);
    find_openblas(library, "openblas_set_num_threads", (void *)&set_threads);
    find_openblas(library, "openblas_get_config", (void *)&config);
    find_openblas(library, "openblas_get_corename", (void *)&core);
    if (!openblas || !set_threads || !config || !core)
        return NULL;
    set_threads(1);
    sscanf(config(), "OpenBLAS %31s", version);
    snprintf(name, size, "OpenBLAS %s (%s)", version, core());
    return openblas_product;
}

static product *load_onednn(void *library, char *name, size_t size)
{
    struct version {
        int number[3];
    };
    const struct version *(*version)(void);
    find(library, "dnnl_sgemm", (void *)&onednn);
    find(library, "dnnl_version", (void *)&version);
    if (!onednn || !version)
        return NULL;
    const int *number = version()->number;
    snprintf(name, size, "oneDNN %d.%d.%d", number[0], number[1], number[2]);
    return onednn_product;
}

product *sgemm_load(const char *which, const char *path, char *name, size_t size)
{
    void *library = dlopen(path, RTLD_NOW);
    product *found = NULL;
    if (library && strcmp(which, "onednn") == 0)
        found = load_onednn(library, name, size);
    if (library && strcmp(which, "openblas") == 0)
        found = load_openblas(library, name, size);
    if (!found) {
        if (library)
            fprintf(stderr, "composed: %s: expected the library of %s, onednn or openblas\n", path,
                    which);
        else
            fprintf(stderr, "composed: %s\n", dlerror());
        exit(2);
    }
    return found;
}
