/*
 * referee CHAPTER FOLDER SIZES COMMAND... - times peers in turn on the same problems (peer.h).
 *
 * CHAPTER: 05 (forward) or 07 (backward). SIZES, "128 512 2048": the N, each for d = 64 and 128,
 * full and causal, on one thread and all cores, with eight heads. COMMAND starts a peer; the first
 * is the course's. We check outputs, then time peers and the machine's peak in turns, because a
 * processor's speed varies. Files go to FOLDER. Prints CSV as --bench --csv does, plus a column
 * with what ran.
 */
#define _POSIX_C_SOURCE 200809L
#define _DARWIN_C_SOURCE  // for the number of cores on macOS

#include "common/check/attention_check.h"
#include "common/check/gradient_check.h"
#include "common/cpu/memory.h"
#include "common/files/npy.h"
#include "common/measure/bench.h"
#include "common/measure/progress.h"
#include "common/program/options.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PEERS = 8, LINE = 512, LEAST_ROUNDS = 5, ROUNDS = 9, HEADS = 8, MOST_QUERIES = 1 << 17 };
static const double TURN = 0.05;  // seconds, but at least one call
static const double LONG = 8.0;   // seconds; then at most LEAST_ROUNDS

/* Libraries' threads busy-wait before they sleep: let them finish. */
static const struct timespec PAUSE = { .tv_nsec = 20000000 };

struct player {
    const char *command;
    FILE *to, *from;
    char name[LINE], runs[LINE];
    double seconds, error;  // of the current problem
};

static _Noreturn void peer_failed(const struct player *player)
{
    options_fail(player->command, "this peer stopped: see above");
}

/* Replaces commas, for a field of CSV. */
static void listen_to(const struct player *player, char answer[LINE])
{
    if (!fgets(answer, LINE, player->from))
        peer_failed(player);
    answer[strcspn(answer, "\n")] = '\0';
    for (char *comma = strchr(answer, ','); comma; comma = strchr(comma, ','))
        *comma = ';';
}

static void ask(const struct player *player, const char *line, char answer[LINE])
{
    fprintf(player->to, "%s\n", line);
    if (fflush(player->to) != 0)
        peer_failed(player);
    listen_to(player, answer);
}

static struct player start(const char *command)
{
    struct player player = { .command = command };
    int there[2], back[2];
    if (pipe(there) != 0 || pipe(back) != 0)
        options_fail(command, "no pipe to start it with");
    for (int end = 0; end < 2; end++) {  // peers must not inherit each other's pipes
        fcntl(there[end], F_SETFD, FD_CLOEXEC);
        fcntl(back[end], F_SETFD, FD_CLOEXEC);
    }
    const pid_t child = fork();
    if (child < 0)
        options_fail(command, "could not be started");
    if (child == 0) {
        dup2(there[0], STDIN_FILENO);
        dup2(back[1], STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(there[0]);
    close(back[1]);
    player.to = fdopen(there[1], "w");
    player.from = fdopen(back[0], "r");
    if (!player.to || !player.from)
        out_of_memory("a peer's pipes", 2, sizeof(FILE));
    listen_to(&player, player.name);
    return player;
}

static void write_array(const char *folder, const char *name, const struct attention *p,
                        const float *elements)
{
    char path[LINE];
    struct file_error error;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!npy_write(path, NPY_F4, 4, (size_t[]){ p->B, p->H, p->Nq, p->d }, elements, &error))
        options_fail(path, "%s", error.text);
}

static float *read_output(const struct player *player, const char *folder, const char *name,
                          size_t count)
{
    char path[LINE];
    struct npy array;
    struct file_error error;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!npy_read(path, &array, &error))
        options_fail(path, "%s", error.text);
    if (array.count != count)
        options_fail(player->name, "%s has another shape than Q", name);
    float *elements = npy_floats(&array);
    npy_free(&array);
    return elements;
}

struct match {
    const char *folder;
    bool backward;
    size_t threads;
    struct attention_input input;
    float *dO;
    struct attention_check outputs;
    struct gradient_check gradients;
};

static struct match match_of(const char *folder, bool backward, struct attention p, size_t threads)
{
    struct match m = { .folder = folder,
                       .backward = backward,
                       .threads = threads,
                       .input = attention_input_random(p, 1),
                       .dO = allocate(attention_query_elements(&p), sizeof(float), "dO") };
    random_normals(m.dO, attention_query_elements(&p), 1, 3);
    if (backward)
        m.gradients = gradient_check_begin(&m.input, m.dO, false);
    else
        m.outputs = attention_check_begin(&m.input, false);
    write_array(folder, "q.npy", &p, m.input.Q);
    write_array(folder, "k.npy", &p, m.input.K);
    write_array(folder, "v.npy", &p, m.input.V);
    write_array(folder, "do.npy", &p, m.dO);
    return m;
}

static void match_free(struct match *m)
{
    if (m->backward)
        gradient_check_end(&m->gradients);
    else
        attention_check_end(&m->outputs);
    attention_input_free(&m->input);
    free(m->dO);
}

static struct attention_errors judge(const struct match *m, const struct player *player)
{
    const struct attention *p = &m->input.p;
    const size_t n = attention_query_elements(p);
    struct attention_errors errors;
    if (m->backward) {
        float *const got[GRADIENTS] = { read_output(player, m->folder, "dq.npy", n),
                                        read_output(player, m->folder, "dk.npy", n),
                                        read_output(player, m->folder, "dv.npy", n) };
        errors = gradient_check_errors(&m->gradients, got, NULL);
        for (int k = 0; k < GRADIENTS; k++)
            free(got[k]);
    } else {
        float *O = read_output(player, m->folder, "o.npy", n),
              *rows = attention_check_rows(&m->outputs, O, p->d);
        errors = attention_verdict_end(attention_verdict_of(&m->outputs, rows, NULL, NULL, NULL));
        free(rows);
        free(O);
    }
    return errors;
}

/* Sends the problem; checks the output. */
static void prepare(struct player *player, const struct match *m)
{
    const struct attention *p = &m->input.p;
    char line[2 * LINE], answer[LINE];
    snprintf(line, sizeof line, "problem %s %zu %zu %zu %zu %d %zu %d", m->folder, p->B, p->H,
             p->Nq, p->d, p->causal, m->threads, m->backward);
    ask(player, line, answer);
    if (strncmp(answer, "ready ", 6) != 0)
        options_fail(player->name, "%s", answer);
    snprintf(player->runs, sizeof player->runs, "%.500s", answer + 6);
    snprintf(line, sizeof line, "write %s", m->folder);
    ask(player, line, answer);
    const struct attention_errors errors = judge(m, player);
    if (!errors.right)
        fprintf(stderr, "note: %s is off by %.2e, more than rounding explains\n", player->name,
                errors.reference);
    player->error = errors.reference;
    player->seconds = (double)INFINITY;
}

/* Returns the peak's seconds per call. */
static double take_turns(struct player *players, size_t count)
{
    double peak = (double)INFINITY;
    const double start = bench_now();
    for (int round = 0; round < LEAST_ROUNDS || (round < ROUNDS && bench_now() - start < LONG);
         round++) {
        struct bench fma = { .name = "peak", .work = bench_fma_work };
        bench_run(&fma, 1, 0.01);
        peak = fmin(peak, fma.best);
        for (size_t k = 0; k < count; k++) {
            char line[LINE], answer[LINE];
            snprintf(line, sizeof line, "time %g", TURN);
            nanosleep(&PAUSE, NULL);
            ask(&players[k], line, answer);
            const double seconds =
                strncmp(answer, "took ", 5) == 0 ? strtod(answer + 5, NULL) : 0.0;
            if (!(seconds > 0.0))
                peer_failed(&players[k]);
            players[k].seconds = fmin(players[k].seconds, seconds);
        }
    }
    return peak;
}

static void play(struct player *players, size_t count, const struct match *m)
{
    const struct attention *p = &m->input.p;
    for (size_t k = 0; k < count; k++)
        prepare(&players[k], m);
    const double peak = bench_fma_operations() / take_turns(players, count);
    const double flops = (m->backward ? 10.0 : 4.0) * (double)attention_pairs(p) * (double)p->d;
    for (size_t k = 0; k < count; k++) {
        const double speed = flops / players[k].seconds;
        printf("%s,%s,f32,%zu,%zu,%zu,%zu,%d,%s,%zu,%.5f,%.3f,%.4f,%.3f,%.3e,%s\n",
               k > 0         ? "peer"
               : m->backward ? "07"
                             : "05",
               players[k].name, p->B, p->H, p->Nq, p->d, p->causal,
               m->backward ? "backward" : "forward", m->threads, 1e3 * players[k].seconds,
               1e-9 * speed, speed / peak / (double)m->threads,
               players[k].seconds / players[0].seconds, players[k].error, players[k].runs);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const struct program program = { .name = "referee" };
    struct player players[PEERS];
    size_t count = 0, done = 0;
    options_program(&program, argv[0]);
    const bool backward = argc > 1 && strcmp(argv[1], "07") == 0;
    if (argc < 5 || argc > 4 + PEERS || (!backward && strcmp(argv[1], "05") != 0))
        options_fail("usage", "referee 05|07 FOLDER SIZES COMMAND…, and at most %d commands",
                     PEERS);
    signal(SIGPIPE, SIG_IGN);
    const size_t cores = (size_t)sysconf(_SC_NPROCESSORS_ONLN), kinds = cores > 1 ? 8 : 4;
    size_t sizes[32], n = 0;
    for (char *size = strtok(argv[3], " "), *end; size && n < 32; size = strtok(NULL, " ")) {
        sizes[n] = strtoul(size, &end, 10);
        if (*end != '\0' || sizes[n] == 0 || sizes[n] > MOST_QUERIES)
            options_fail("SIZES", "expected numbers of queries, as in \"128 2048\", found %s",
                         size);
        n++;
    }
    if (n == 0)
        options_fail("SIZES", "expected numbers of queries, as in \"128 2048\", found none");
    for (int k = 4; k < argc; k++)
        players[count++] = start(argv[k]);

    for (size_t kind = 0; kind < kinds; kind++)
        for (size_t k = 0; k < n; k++) {
            struct attention p =
                attention_of(1, HEADS, HEADS, sizes[k], sizes[k], kind & 2 ? 128 : 64);
            p.causal = kind & 1;
            progress("problem", done++, n * kinds);
            struct match m = match_of(argv[2], backward, p, kind & 4 ? cores : 1);
            play(players, count, &m);
            match_free(&m);
        }
    progress("problem", done, n * kinds);
    options_flush();
    return EXIT_VERIFIED;
}
