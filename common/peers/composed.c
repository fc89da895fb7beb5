/*
 * composed onednn|openblas LIBRARY - attention composed of a library's matrix products.
 *
 *     S = scale Q K^T  (sgemm),   P = e^(S - max)  and its row sums,   O = P V  (sgemm),   O / sums
 *
 * and backward, recomputing P from L, with D = dO O:
 *
 *     S = scale Q K^T,   P = e^(S - L),   dP = dO V^T,   dS = scale P (dP - D),
 *     dV += P^T dO,   dQ = dS K,   dK += dS^T Q                                  (five sgemm)
 *
 * on blocks of rows, whose S may fit in the cache; the fastest of several sizes counts. A thread's
 * task is a block forward, a head backward. Causal blocks stop at their last key.
 */
#include "common/cpu/fast_exp.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/measure/bench.h"
#include "common/peers/peer.h"
#include "common/peers/sgemm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double LONG_CALL = 0.1;  // seconds

static product *multiply;
static size_t block_rows;
static float *scores;      // (threads, 2, block_rows, N): S and dP of each thread
static float *lse, *sums;  // (B, H, N): written forward; backward reads lse

/* e^(S - max), and 0 from key `seen`. Returns the sum. */
static float exponentials(float *row, size_t seen, size_t N, float *max_of_row)
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
    *max_of_row = max;
    return sum;
}

/* Rows of Q, and the keys that they attend to. */
struct rows {
    size_t first, count, keys;
};

static struct rows rows_from(const struct peer_problem *p, size_t first)
{
    const size_t count = first + block_rows < p->N ? block_rows : p->N - first;
    return (struct rows){ first, count, p->causal ? first + count : p->N };
}

static size_t seen_by(const struct peer_problem *p, size_t row)
{
    return p->causal ? row + 1 : p->N;
}

static float *scores_of_thread(const struct peer_problem *p)
{
    return scores + thread_number() * 2 * block_rows * p->N;
}

static void attend(const struct peer_problem *p, size_t head, struct rows rows, float *S)
{
    const size_t d = p->d, start = head * p->N * d, n = rows.keys;
    float *O = p->O + start + rows.first * d;
    multiply(false, true, rows.count, n, d, 1.0f / sqrtf((float)d), p->Q + start + rows.first * d,
             p->K + start, 0.0f, S);
    float *L = lse + head * p->N + rows.first, *l = sums + head * p->N + rows.first, max;
    for (size_t i = 0; i < rows.count; i++) {
        l[i] = exponentials(S + i * n, seen_by(p, rows.first + i), n, &max);
        L[i] = max + logf(l[i]);
    }
    multiply(false, false, rows.count, d, n, 1.0f, S, p->V + start, 0.0f, O);
    for (size_t i = 0; i < rows.count; i++)
        for (size_t c = 0; c < d; c++)
            O[i * d + c] /= l[i];
}

static void forward(const struct peer_problem *p)
{
    const size_t heads = p->B * p->H, blocks = (p->N - 1) / block_rows + 1;
    PARALLEL(omp parallel for schedule(dynamic, 1))
    for (size_t task = 0; task < heads * blocks; task++)
        attend(p, task / blocks, rows_from(p, (blocks - 1 - task % blocks) * block_rows),
               scores_of_thread(p));
}

/* S becomes P, dP becomes dS. */
static void row_backward(float *S, float *dP, size_t seen, size_t n, float L, float D, float scale)
{
#pragma omp simd
    for (size_t j = 0; j < seen; j++) {
        S[j] = fast_exp(S[j] - L);
        dP[j] = scale * S[j] * (dP[j] - D);
    }
    for (size_t j = seen; j < n; j++)
        S[j] = dP[j] = 0.0f;
}

static void rows_backward(const struct peer_problem *p, size_t head, struct rows rows, float *S)
{
    const size_t d = p->d, start = head * p->N * d, own = start + rows.first * d, n = rows.keys;
    const float scale = 1.0f / sqrtf((float)d);
    const float *Q = p->Q + own, *O = p->O + own, *dO = p->dO + own;
    float *dP = S + block_rows * p->N;
    multiply(false, true, rows.count, n, d, scale, Q, p->K + start, 0.0f, S);
    multiply(false, true, rows.count, n, d, 1.0f, dO, p->V + start, 0.0f, dP);
    for (size_t i = 0; i < rows.count; i++) {
        float D = 0.0f;
#pragma omp simd reduction(+ : D)
        for (size_t k = 0; k < d; k++)
            D += dO[i * d + k] * O[i * d + k];
        row_backward(S + i * n, dP + i * n, seen_by(p, rows.first + i), n,
                     lse[head * p->N + rows.first + i], D, scale);
    }
    multiply(true, false, n, d, rows.count, 1.0f, S, dO, 1.0f, p->dV + start);
    multiply(false, false, rows.count, d, n, 1.0f, dP, p->K + start, 0.0f, p->dQ + own);
    multiply(true, false, n, d, rows.count, 1.0f, dP, Q, 1.0f, p->dK + start);
}

static void backward(const struct peer_problem *p)
{
    PARALLEL(omp parallel for schedule(dynamic, 1))
    for (size_t head = 0; head < p->B * p->H; head++) {
        for (size_t k = head * p->N * p->d; k < (head + 1) * p->N * p->d; k++)
            p->dK[k] = p->dV[k] = 0.0f;
        for (size_t first = 0; first < p->N; first += block_rows)
            rows_backward(p, head, rows_from(p, first), scores_of_thread(p));
    }
}

static void run(const struct peer_problem *p)
{
    (p->backward ? backward : forward)(p);
}

static double seconds_with(const struct peer_problem *p, size_t rows)
{
    double best = INFINITY;
    block_rows = rows;
    free(scores);
    scores = allocate(p->threads * rows * p->N, 2 * sizeof *scores, "S");
    double seconds = 0.0;  // a long call needs no repetition
    for (int n = 0; n < 3 && seconds < LONG_CALL; n++) {
        const double start = bench_now();
        run(p);
        seconds = bench_now() - start;
        best = fmin(best, seconds);
    }
    return best;
}

static const char *prepare(const struct peer_problem *p)
{
    static char what[64];
    size_t quickest = p->N;
    free(lse);
    free(sums);
    lse = allocate(p->B * p->H * p->N, sizeof *lse, "lse");
    sums = allocate(p->B * p->H * p->N, sizeof *sums, "the sums");
    threads_use(p->threads);
    if (p->backward) {  // for lse
        block_rows = p->N;
        free(scores);
        scores = allocate(p->threads * p->N * p->N, 2 * sizeof *scores, "S");
        forward(p);
    }
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
    if (argc != 3) {
        fprintf(stderr, "composed: expected onednn or openblas, and a library\n");
        return 2;
    }
    multiply = sgemm_load(argv[1], argv[2], name, sizeof name);
    return peer_serve(&(struct peer){ name, prepare, run });
}
