#include "07_backward/fast/pieces.h"

#include "07_backward/fast/workspace.h"
#include "common/cpu/threads.h"
#include "common/measure/bench.h"
#include "common/problem/attention_input.h"

#include <string.h>

const char *const backward_piece_names[BACKWARD_PIECES] = {
    [PIECE_LOOP] = "five products out of the first cache",
    [PIECE_WEIGHTS] = "P and dS by themselves",
    [PIECE_SEEN] = "S, P, dP, dS, dV, dK",
    [PIECE_DQ] = "dQ",
    [PIECE_KEYS] = "K, V transposed; dK, dV back",
    [PIECE_WHOLE] = "complete",
};

enum { LOOP_D = 64 };
static const struct tile_size piece_size = { PIECE_QUERIES, PIECE_NUMBER_OF_KEYS };

struct work_of_pieces {
    struct backward_head a;
    struct backward_input in;
    struct gradients out;
    struct workspace w;
    struct queries q;
};

/* The scores of 64 queries and one group of keys, as if d were LOOP_D: 32 KB with AVX-512. */
static void loop(void *arg)
{
    const struct work_of_pieces *work = arg;
    for (size_t i = 0; i < PIECE_QUERIES; i += ROWS) {
        const struct block c = block_product((struct block){ 0 }, work->a.Q + i * LOOP_D, LOOP_D, 1,
                                             (const group_row *)work->w.k[0].K, LOOP_D);
        memcpy(work->w.P + i, &c, sizeof c);
    }
}

/* Of any scores, and dP = 1: how long it takes does not depend on them. */
static void weights(void *arg)
{
    const struct work_of_pieces *work = arg;
    const struct workspace *w = &work->w;
    for (size_t g = 0; g < w->groups; g++)
        for (size_t r = 0; r < PIECE_QUERIES; r++)
            for (int v = 0; v < COLUMNS; v++) {
                const vec P = vec_exp2(w->P[r][v] * work->a.p->scale - w->lse[r]);
                w->P[r][v] = P;
                w->dS[g * PIECE_QUERIES + r][v] = P * (vec_of(1.0f) - w->D[r]);
            }
}

static void seen(void *arg)
{
    struct work_of_pieces *work = arg;
    for (size_t g = 0; g < work->w.groups; g++)
        workspace_see(&work->w, g, &work->a, &work->q);
}

static void dQ(void *arg)
{
    struct work_of_pieces *work = arg;
    workspace_end(&work->w, &work->q, work->a.p->d);
}

static void begin_keys(struct work_of_pieces *work)
{
    for (size_t g = 0; g < work->w.groups; g++)
        keys_begin(&work->w.k[g], &work->a, g * GROUP,
                   min(GROUP, PIECE_NUMBER_OF_KEYS - g * GROUP));
}

static void keys(void *arg)
{
    struct work_of_pieces *work = arg;
    begin_keys(work);
    for (size_t g = 0; g < work->w.groups; g++)
        keys_end(&work->w.k[g], &work->a);
}

static void whole(void *arg)
{
    const struct work_of_pieces *work = arg;
    backward_complete(work->a.p, piece_size, work->in, work->out);
}

/* The first tile, ready for all pieces. */
static struct work_of_pieces work_of(const struct attention *p, struct backward_input in,
                                     struct gradients out)
{
    struct work_of_pieces work = {
        backward_head_of(p, 0, in, out), in, out, workspace_new(p, piece_size), { 0 }
    };
    const float D[PIECE_QUERIES] = { 0.0f };
    work.w.groups = (PIECE_NUMBER_OF_KEYS - 1) / GROUP + 1;
    begin_keys(&work);
    work.q = workspace_queries(&work.w, &work.a, D, 0, PIECE_QUERIES);
    seen(&work);
    return work;
}

/* Those of the products that a piece's time is held against. */
static double operations(enum backward_piece piece, const struct attention *p)
{
    const double tile = PIECE_QUERIES * PIECE_NUMBER_OF_KEYS;
    switch (piece) {
    case PIECE_LOOP:
        return 2.0 * PIECE_QUERIES * GROUP * LOOP_D;
    case PIECE_WHOLE:
        return 10.0 * (double)attention_pairs(p) * (double)p->d;
    default:
        return 10.0 * tile * (double)p->d;
    }
}

void backward_pieces_measure(const struct attention *p, struct backward_input in,
                             struct gradients out, double seconds, double share[BACKWARD_PIECES])
{
    struct work_of_pieces work = work_of(p, in, out);
    struct bench timed[BACKWARD_PIECES + 1] = {
        [PIECE_LOOP] = { "loop", loop, &work, 0, 0 },
        [PIECE_WEIGHTS] = { "weights", weights, &work, 0, 0 },
        [PIECE_SEEN] = { "seen", seen, &work, 0, 0 },
        [PIECE_DQ] = { "dQ", dQ, &work, 0, 0 },
        [PIECE_KEYS] = { "keys", keys, &work, 0, 0 },
        [PIECE_WHOLE] = { "whole", whole, &work, 0, 0 },
        [BACKWARD_PIECES] = { "peak", bench_fma_work, NULL, 0, 0 },
    };
    const size_t threads = threads_in_use();
    threads_use(1);
    bench_run(timed, BACKWARD_PIECES + 1, seconds);
    threads_use(threads);
    const double peak = bench_fma_operations() / timed[BACKWARD_PIECES].best;
    for (int k = 0; k < BACKWARD_PIECES; k++)
        share[k] = timed[k].best * peak / operations((enum backward_piece)k, p);
    workspace_free(&work.w);
}
