#include "05_flash_tiled_cpu/fast/pieces.h"

#include "05_flash_tiled_cpu/fast/overlap.h"
#include "common/measure/bench.h"
#include "common/problem/attention_input.h"

const char *const piece_names[PIECES] = {
    [PIECE_BEGIN] = "the queries, transposed",
    [PIECE_SCORES] = "scores: S^T = K Q^T",
    [PIECE_WEIGHTS] = "weights: 2^(S - m), m, l",
    [PIECE_OUTPUTS] = "outputs: O^T = O^T + V^T P^T",
    [PIECE_END] = "the outputs, divided and transposed",
};

struct work_of_pieces {
    struct head a;
    struct group g;
    group_row *P;
};

static void begin(void *arg)
{
    struct work_of_pieces *w = arg;
    group_begin(&w->g, &w->a, 0, min(GROUP, w->a.p->Nq));
}

static void scores(void *arg)
{
    struct work_of_pieces *w = arg;
    const size_t n = w->a.p->Nk, d = w->a.p->d;
    for (size_t j = 0; j < n; j += ROWS) {
        const struct block c = block_scores(&w->g, w->a.K + j * d, d, n - j);
        for (size_t r = 0; r < ROWS; r++)
            for (int v = 0; v < COLUMNS; v++)
                w->P[j + r][v] = c.at[r][v];
    }
}

static void scores_and_weights(void *arg)
{
    struct work_of_pieces *w = arg;
    const size_t n = w->a.p->Nk, d = w->a.p->d;
    vec sum[COLUMNS];
    for (int v = 0; v < COLUMNS; v++)
        sum[v] = vec_of(0.0f);
    for (size_t j = 0; j < n; j += ROWS)
        overlap_accumulate(&w->g, block_scores(&w->g, w->a.K + j * d, d, n - j), d, w->P, j, sum);
    for (int v = 0; v < COLUMNS; v++)
        w->g.l[v] = sum[v];
}

static void outputs(void *arg)
{
    struct work_of_pieces *w = arg;
    vec discard[COLUMNS];  // so that O does not overflow in repeated runs
    for (int v = 0; v < COLUMNS; v++)
        discard[v] = vec_of(0.0f);
    block_outputs(&w->g, discard, w->a.V, w->a.p->d, (const group_row *)w->P, w->a.p->Nk,
                  w->a.p->Nk);
}

static void end(void *arg)
{
    struct work_of_pieces *w = arg;
    group_end(&w->g, &w->a);
}

void pieces_measure(size_t N, size_t d, double seconds, double share[PIECES])
{
    struct attention p = attention_of(1, 1, 1, N, N, d);
    struct attention_input in = attention_input_random(p, 1);
    float *O = extra_fast("O", N * d), *lse = extra_fast("lse", N);
    struct work_of_pieces w = {
        head_of(&p, 0, (struct tensors){ .Q = in.Q, .K = in.K, .V = in.V, .O = O, .lse = lse }),
        group_new(d), group_rows_new(N + ROWS)
    };
    begin(&w);
    scores_and_weights(&w);
    struct bench timed[PIECES + 1] = { { "begin", begin, &w, 0 },
                                       { "scores", scores, &w, 0 },
                                       { "weights", scores_and_weights, &w, 0 },
                                       { "outputs", outputs, &w, 0 },
                                       { "end", end, &w, 0 },
                                       { "peak", bench_fma_work, NULL, 0 } };
    bench_run(timed, PIECES + 1, seconds);
    const double peak = bench_fma_operations() / timed[PIECES].best,
                 products = 4.0 * (double)GROUP * (double)N * (double)d / peak;
    for (int k = 0; k < PIECES; k++)
        share[k] = timed[k].best / products;
    share[PIECE_WEIGHTS] -= share[PIECE_SCORES];
    group_free(&w.g);
    extra_free((float *)w.P);
    extra_free(O);
    extra_free(lse);
    attention_input_free(&in);
}
