/*
 * The peer's side of the conversation.
 */
#include "peer.h"

#include "bench.h"
#include "memory.h"
#include "npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE = 1024 };
static const double SHORT_CALL = 0.02;  // seconds; before such a call the caches are warmed again

/* Where a line cannot be answered the peer stops, and says why. */
static _Noreturn void give_up(const char *what, const char *why)
{
    fprintf(stderr, "peer: %s: %s\n", what, why);
    exit(2);
}

static float *read_array(const char *folder, const char *name)
{
    char path[LINE + 16];
    struct npy array;
    struct file_error error;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!npy_read(path, &array, &error))
        give_up(path, error.text);
    float *elements = npy_floats(&array);
    npy_free(&array);
    return elements;
}

static bool read_problem(const char *line, struct peer_problem *p)
{
    char folder[LINE];
    int causal;
    if (sscanf(line, "problem %1000s %zu %zu %zu %zu %d %zu", folder, &p->B, &p->H, &p->N, &p->d,
               &causal, &p->threads) != 7)
        return false;
    p->causal = causal != 0;
    p->Q = read_array(folder, "q.npy");
    p->K = read_array(folder, "k.npy");
    p->V = read_array(folder, "v.npy");
    p->O = allocate(p->B * p->H * p->N * p->d, sizeof(float), "O");
    return true;
}

static void forget_problem(struct peer_problem *p)
{
    free((void *)p->Q);
    free((void *)p->K);
    free((void *)p->V);
    free(p->O);
    *p = (struct peer_problem){ 0 };
}

static double timed_call(const struct peer *peer, const struct peer_problem *p)
{
    const double start = bench_now();
    peer->forward(p);
    return bench_now() - start;
}

/* Seconds of the quickest call. Others have been computing since the last turn. */
static double take_turn(const struct peer *peer, const struct peer_problem *p, double seconds)
{
    const double start = bench_now();
    double best = timed_call(peer, p);
    if (best < SHORT_CALL)
        best = INFINITY;
    do
        best = fmin(best, timed_call(peer, p));
    while (bench_now() - start < seconds);
    return best;
}

static void write_output(const struct peer_problem *p, const char *path)
{
    struct file_error error;
    const size_t shape[] = { p->B, p->H, p->N, p->d };
    if (!npy_write(path, NPY_F4, 4, shape, p->O, &error))
        give_up(path, error.text);
}

int peer_serve(const struct peer *peer)
{
    struct peer_problem p = { 0 };
    char line[LINE], path[LINE];
    double seconds;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%s\n", peer->name);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "time %lf", &seconds) == 1) {
            printf("took %.9f\n", take_turn(peer, &p, seconds));
        } else if (sscanf(line, "write %1000s", path) == 1) {
            peer->forward(&p);
            write_output(&p, path);
            puts("written");
        } else {
            forget_problem(&p);
            if (!read_problem(line, &p))
                give_up("not understood", line);
            printf("ready %s\n", peer->prepare(&p));
        }
    }
    forget_problem(&p);
    return 0;
}
