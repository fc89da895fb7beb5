/*
 * composed onednn|openblas LIBRARY - attention composed of a library's matrix products.
 *
 * This is what one writes who has a fast sgemm and no attention:
 *
 *     S = scale Q K^T  (sgemm),   P = e^(S - max)  and its row sums,   O = P V  (sgemm),   O / sums
 *
 * for so many rows of Q at a time. All rows at once is the textbook, with S of N x N; fewer keep S in
 * the cache. Which is quickest depends on the problem, so all are tried, and the quickest counts. Every
 * block of rows is a task for one thread. In causal order a block stops at its last row's key.
 *
 * The library is loaded while the program runs: to build it takes no package.
 */
#include "bench.h"
#include "fast_exp.h"
#include "memory.h"
#include "peer.h"
#include "threads.h"

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the libraries ------------------------------------------------------------------------------

/* C (m, n) = alpha A (m, k) op(B), row-major; op(B) is B (k, n), or the transpose of B (n, k). */
typedef void product(bool transpose, size_t m, size_t n, size_t k, float alpha, const float *A,
                     const float *B, float *C);

typedef int onednn_sgemm(char transpose_a, char transpose_b, int64_t m, int64_t n, int64_t k,
                         float alpha, const float *A, int64_t lda, const float *B, int64_t ldb,
                         float beta, float *C, int64_t ldc);
typedef void openblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k,
                            float alpha, const float *A, int lda, const float *B, int ldb,
                            float beta, float *C, int ldc);
enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };  // of the C interface to BLAS

static onednn_sgemm *onednn;
static openblas_sgemm *openblas;

static void onednn_product(bool transpose, size_t m, size_t n, size_t k, float alpha,
                           const float *A, const float *B, float *C)
{
    const int64_t ldb = (int64_t)(transpose ? k : n);
    if (onednn('N', transpose ? 'T' : 'N', (int64_t)m, (int64_t)n, (int64_t)k, alpha, A, (int64_t)k,
               B, ldb, 0.0f, C, (int64_t)n) != 0) {
        fprintf(stderr, "composed: oneDNN refused a product\n");
        exit(2);
    }
}

static void openblas_product(bool transpose, size_t m, size_t n, size_t k, float alpha,
                             const float *A, const float *B, float *C)
{
    openblas(ROW_MAJOR, AS_IT_IS, transpose ? TRANSPOSED : AS_IT_IS, (int)m, (int)n, (int)k, alpha,
             A, (int)k, B, (int)(transpose ? k : n), 0.0f, C, (int)n);
}

/* The function `name` of the library in `function`, NULL if it has none. (ISO C casts no such pointer.) */
static void find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
}

/* OpenBLAS is built under its own names, or with a prefix that tells it from others in one process. */
static void find_openblas(void *library, const char *name, void *function)
{
    char prefixed[64];
    snprintf(prefixed, sizeof prefixed, "scipy_%s", name);
    find(library, dlsym(library, prefixed) ? prefixed : name, function);
}

static bool load_openblas(void *library, char *name, size_t size)
{
    void (*set_threads)(int);
    char *(*config)(void), *(*core)(void), version[32] = "OpenBLAS";
    find_openblas(library, "cblas_sgemm", (void *)&openblas);
    find_openblas(library, "openblas_set_num_threads", (void *)&set_threads);
    find_openblas(library, "openblas_get_config", (void *)&config);
    find_openblas(library, "openblas_get_corename", (void *)&core);
    if (!openblas || !set_threads || !config || !core)
        return false;
    set_threads(1);  // the threads are ours, one for each block of rows
    sscanf(config(), "OpenBLAS %31s", version);
    snprintf(name, size, "OpenBLAS %s (%s)", version, core());
    return true;
}

static bool load_onednn(void *library, char *name, size_t size)
{
    struct version {
        int number[3];
    };
    const struct version *(*version)(void);
    find(library, "dnnl_sgemm", (void *)&onednn);
    find(library, "dnnl_version", (void *)&version);
    if (!onednn || !version)
        return false;
    const int *number = version()->number;
    snprintf(name, size, "oneDNN %d.%d.%d", number[0], number[1], number[2]);
    return true;
}

// ---- attention ----------------------------------------------------------------------------------

static product *multiply;
static size_t block_rows;  // of Q at a time
static float *scores;      // (threads, block_rows, N + 1): S, and the sums of its rows

/* Row `row` of S becomes e^(S - max), and 0 from key `seen` on. Returns the sum. */
static float exponentials(float *row, size_t seen, size_t N)
{
    float max = -INFINITY, sum = 0.0f;
#pragma omp simd reduction(max : max)
    for (size_t j = 0; j < seen; j++)
        max = row[j] > max ? row[j] : max;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < seen; j++) {
        row[j] = fast_exp(row[j] - max);
        sum += row[j];
    }
    for (size_t j = seen; j < N; j++)
        row[j] = 0.0f;
    return sum;
}

static void attend(const struct peer_problem *p, size_t head, size_t first, float *S)
{
    const size_t N = p->N, d = p->d, start = head * N * d;
    const size_t rows = first + block_rows < N ? block_rows : N - first;
    const size_t keys = p->causal ? first + rows : N;
    const float *Q = p->Q + start + first * d;
    float *O = p->O + start + first * d;
    float *sums = S + rows * keys;
    multiply(true, rows, keys, d, 1.0f / sqrtf((float)d), Q, p->K + start, S);
    for (size_t i = 0; i < rows; i++)
        sums[i] = exponentials(S + i * keys, p->causal ? first + i + 1 : N, keys);
    multiply(false, rows, d, keys, 1.0f, S, p->V + start, O);
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < d; c++)
            O[i * d + c] /= sums[i];
}

/* The longest blocks first, in causal order the last of each head. */
static void forward(const struct peer_problem *p)
{
    const size_t heads = p->B * p->H, blocks = (p->N - 1) / block_rows + 1;
    PARALLEL(omp parallel for schedule(dynamic, 1))
    for (size_t task = 0; task < heads * blocks; task++)
        attend(p, task % heads, (blocks - 1 - task / heads) * block_rows,
               scores + thread_number() * block_rows * (p->N + 1));
}

static double seconds_with(const struct peer_problem *p, size_t rows)
{
    double best = INFINITY;
    block_rows = rows;
    free(scores);
    scores = allocate(p->threads * rows * (p->N + 1), sizeof(float), "S");
    for (int n = 0; n < 3; n++) {
        const double start = bench_now();
        forward(p);
        best = fmin(best, bench_now() - start);
    }
    return best;
}

static const char *prepare(const struct peer_problem *p)
{
    static char what[64];
    size_t quickest = p->N;
    threads_use(p->threads);
    double best = seconds_with(p, p->N);
    for (size_t rows = 32; rows < p->N && rows <= 512; rows *= 2) {
        const double seconds = seconds_with(p, rows);
        if (seconds < best) {
            best = seconds;
            quickest = rows;
        }
    }
    seconds_with(p, quickest);
    snprintf(what, sizeof what, quickest == p->N ? "scores N x N" : "%zu rows at a time", quickest);
    return what;
}

int main(int argc, char **argv)
{
    static char name[128];
    void *library = argc == 3 ? dlopen(argv[2], RTLD_NOW) : NULL;
    if (!library) {
        fprintf(stderr, "composed: %s\n",
                argc == 3 ? dlerror() : "expected onednn or openblas, and a library");
        return 2;
    }
    const bool is_onednn = strcmp(argv[1], "onednn") == 0;
    multiply = is_onednn ? onednn_product : openblas_product;
    if (!(is_onednn ? load_onednn : load_openblas)(library, name, sizeof name)) {
        fprintf(stderr, "composed: %s is no %s\n", argv[2], argv[1]);
        return 2;
    }
    return peer_serve(&(struct peer){ name, prepare, forward });
}
