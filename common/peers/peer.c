#include "common/peers/peer.h"

#include "common/cpu/memory.h"
#include "common/files/npy.h"
#include "common/measure/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024 };
static const double SHORT_CALL = 0.02;  // seconds; below, a first call warms the caches

static _Noreturn void give_up(const char *what, const char *why)
{
    fprintf(stderr, "peer: %s: %s\n", what, why);
    exit(2);
}

static float *read_array(const char *folder, const char *name, size_t count)
{
    char path[LINE + 16];
    struct npy array;
    struct file_error error;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!npy_read(path, &array, &error))
        give_up(path, error.text);
    if (array.count != count)
        give_up(path, "expected as many elements as the problem has");
    float *elements = npy_floats(&array);
    npy_free(&array);
    return elements;
}

/* "" at the end of strtok's line. */
static const char *next_word(void)
{
    const char *word = strtok(NULL, " \n");
    return word ? word : "";
}

static size_t next_number(void)
{
    return strtoul(next_word(), NULL, 10);
}

static void read_problem(struct peer_problem *p)
{
    const char *const folder = next_word();
    p->B = next_number();
    p->H = next_number();
    p->N = next_number();
    p->d = next_number();
    p->causal = next_number() != 0;
    p->threads = next_number();
    p->backward = next_number() != 0;
    const size_t n = p->B * p->H * p->N * p->d;
    if (n * p->threads == 0)
        give_up("problem", "expected FOLDER B H N d CAUSAL THREADS BACKWARD");
    p->Q = read_array(folder, "q.npy", n);
    p->K = read_array(folder, "k.npy", n);
    p->V = read_array(folder, "v.npy", n);
    p->dO = read_array(folder, "do.npy", n);
    p->O = allocate(n, sizeof(float), "O");
    p->dQ = allocate(n, sizeof(float), "dQ");
    p->dK = allocate(n, sizeof(float), "dK");
    p->dV = allocate(n, sizeof(float), "dV");
}

static void forget_problem(struct peer_problem *p)
{
    free((void *)p->Q);
    free((void *)p->K);
    free((void *)p->V);
    free((void *)p->dO);
    free(p->O);
    free(p->dQ);
    free(p->dK);
    free(p->dV);
    *p = (struct peer_problem){ 0 };
}

static double timed_call(const struct peer *peer, const struct peer_problem *p)
{
    const double start = bench_now();
    peer->run(p);
    return bench_now() - start;
}

/* Seconds of the fastest call. Other peers have used the caches since the last turn. */
static double take_turn(const struct peer *peer, const struct peer_problem *p, double seconds)
{
    const double start = bench_now();
    double best = timed_call(peer, p);
    if (best < SHORT_CALL)
        best = timed_call(peer, p);
    while (bench_now() - start < seconds)
        best = fmin(best, timed_call(peer, p));
    return best;
}

static void write_array(const struct peer_problem *p, const char *folder, const char *name,
                        const float *elements)
{
    char path[LINE + 16];
    struct file_error error;
    const size_t shape[] = { p->B, p->H, p->N, p->d };
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!npy_write(path, NPY_F4, 4, shape, elements, &error))
        give_up(path, error.text);
}

static void write_output(const struct peer_problem *p, const char *folder)
{
    if (!p->backward) {
        write_array(p, folder, "o.npy", p->O);
        return;
    }
    write_array(p, folder, "dq.npy", p->dQ);
    write_array(p, folder, "dk.npy", p->dK);
    write_array(p, folder, "dv.npy", p->dV);
}

int peer_serve(const struct peer *peer)
{
    struct peer_problem p = { 0 };
    char line[LINE];
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%s\n", peer->name);
    while (fgets(line, sizeof line, stdin)) {
        const char *const word = strtok(line, " \n");
        if (!p.Q && (!word || strcmp(word, "problem") != 0))
            give_up("expected a problem first, found", line);
        if (word && strcmp(word, "time") == 0) {
            printf("took %.9f\n", take_turn(peer, &p, strtod(next_word(), NULL)));
        } else if (word && strcmp(word, "write") == 0) {
            peer->run(&p);
            write_output(&p, next_word());
            puts("written");
        } else if (word && strcmp(word, "problem") == 0) {
            forget_problem(&p);
            read_problem(&p);
            printf("ready %s\n", peer->prepare(&p));
        } else {
            give_up("expected problem, time or write, found", line);
        }
    }
    forget_problem(&p);
    return 0;
}
