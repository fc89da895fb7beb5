/*
 * referee FOLDER SIZES COMMAND... - times peers in turn on the same problems (peer.h).
 *
 * SIZES is "128 512 2048": the N of the problems, each for d = 64 and 128, without a mask and causal, on
 * one thread and on all cores, with eight heads. Each COMMAND starts a peer; the first is the course's.
 * A peer's output is checked before it is timed. Then they take turns, and the machine's peak takes its
 * turn among them, because a processor is not equally fast at all times. Files go to FOLDER. Standard
 * output gets a line of comma-separated values for each peer and problem, as --bench --csv writes
 * them, with a last column that says what the peer ran.
 */
#define _POSIX_C_SOURCE 200809L

#include "attention_check.h"
#include "bench.h"
#include "memory.h"
#include "npy.h"
#include "options.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PEERS = 8, LINE = 512, ROUNDS = 9, HEADS = 8 };
static const double TURN = 0.05;  // seconds of a turn: at least, a call is not cut short

/* Threads of a library wait for work in a loop before they sleep. Let the last peer's do that. */
static const struct timespec PAUSE = { .tv_nsec = 20000000 };

struct player {
    const char *command;
    FILE *to, *from;
    char name[LINE], runs[LINE];
    double seconds, error;  // of the problem at hand
};

static _Noreturn void peer_failed(const struct player *player)
{
    options_fail(player->command, "this peer stopped: see above");
}

/* Reads what a peer says. It goes into a field of a line of comma-separated values. */
static void listen_to(const struct player *player, char answer[LINE])
{
    if (!fgets(answer, LINE, player->from))
        peer_failed(player);
    answer[strcspn(answer, "\n")] = '\0';
    for (char *comma = strchr(answer, ','); comma; comma = strchr(comma, ','))
        *comma = ';';
}

/* Says a line to the peer, and reads its answer. */
static void ask(const struct player *player, const char *line, char answer[LINE])
{
    fprintf(player->to, "%s\n", line);
    if (fflush(player->to) != 0)
        peer_failed(player);
    listen_to(player, answer);
}

/* Starts a peer between two pipes. It first says its name. */
static struct player start(const char *command)
{
    struct player player = { .command = command };
    int there[2], back[2];
    if (pipe(there) != 0 || pipe(back) != 0)
        options_fail(command, "no pipe to start it with");
    for (int end = 0; end < 2; end++) {  // a peer keeps no pipe of another's open
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

/* Hands the problem to the peer, and checks what it makes of it. */
static void prepare(struct player *player, const char *folder, const struct attention *p,
                    size_t threads, const struct attention_check *check)
{
    char line[2 * LINE], answer[LINE];
    struct npy O;
    struct file_error error;
    snprintf(line, sizeof line, "problem %s %zu %zu %zu %zu %d %zu", folder, p->B, p->H, p->Nq,
             p->d, p->causal, threads);
    ask(player, line, answer);
    if (strncmp(answer, "ready ", 6) != 0)
        options_fail(player->name, "%s", answer);
    snprintf(player->runs, sizeof player->runs, "%.500s", answer + 6);
    snprintf(line, sizeof line, "write %s/o.npy", folder);
    ask(player, line, answer);
    snprintf(line, sizeof line, "%s/o.npy", folder);
    if (!npy_read(line, &O, &error))
        options_fail(line, "%s", error.text);
    if (O.type != NPY_F4 || O.count != attention_query_elements(p))
        options_fail(player->name, "its output has another shape than Q");
    float *rows = attention_check_rows(check, O.data, p->d);
    const struct attention_errors errors = attention_check_errors(check, p, rows, NULL, NULL);
    if (!errors.right)
        fprintf(stderr, "note: %s is off by %.2e, more than the course allows itself\n",
                player->name, errors.reference);
    player->error = errors.reference;
    player->seconds = INFINITY;
    free(rows);
    npy_free(&O);
}

/* Everybody in turn, the peak first. Returns the seconds of one call of that. */
static double take_turns(struct player *players, size_t count)
{
    double peak = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
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

static void play(struct player *players, size_t count, const char *folder, struct attention p,
                 size_t threads)
{
    struct attention_input input = attention_input_random(p, 1);
    struct attention_check check = attention_check_begin(&input, false);
    write_array(folder, "q.npy", &p, input.Q);
    write_array(folder, "k.npy", &p, input.K);
    write_array(folder, "v.npy", &p, input.V);
    for (size_t k = 0; k < count; k++)
        prepare(&players[k], folder, &p, threads, &check);
    const double peak = bench_fma_operations() / take_turns(players, count);
    const double flops = 4.0 * (double)attention_pairs(&p) * (double)p.d;
    for (size_t k = 0; k < count; k++) {
        const double speed = flops / players[k].seconds;
        printf("%s,%s,f32,%zu,%zu,%zu,%zu,%d,forward,%zu,%.5f,%.3f,%.4f,%.3f,%.3e,%s\n",
               k == 0 ? "05" : "peer", players[k].name, p.B, p.H, p.Nq, p.d, p.causal, threads,
               1e3 * players[k].seconds, 1e-9 * speed, speed / peak / (double)threads,
               players[k].seconds / players[0].seconds, players[k].error, players[k].runs);
    }
    fflush(stdout);
    attention_check_end(&check);
    attention_input_free(&input);
}

int main(int argc, char **argv)
{
    static const struct program program = { .name = "referee" };
    struct player players[PEERS];
    size_t count = 0, done = 0;
    options_program(&program, argv[0]);
    if (argc < 4 || argc > 3 + PEERS)
        options_fail("usage", "referee FOLDER SIZES COMMAND…, and at most %d commands", PEERS);
    signal(SIGPIPE, SIG_IGN);
    for (int k = 3; k < argc; k++)
        players[count++] = start(argv[k]);

    const size_t cores = (size_t)sysconf(_SC_NPROCESSORS_ONLN), kinds = cores > 1 ? 8 : 4;
    size_t sizes[32], n = 0;
    for (char *size = strtok(argv[2], " "); size && n < 32; size = strtok(NULL, " "))
        if ((sizes[n++] = strtoul(size, NULL, 10)) == 0)
            options_fail("SIZES", "expected numbers of queries, as in \"128 2048\", found %s",
                         size);
    for (size_t kind = 0; kind < kinds; kind++)
        for (size_t k = 0; k < n; k++) {
            struct attention p =
                attention_of(1, HEADS, HEADS, sizes[k], sizes[k], kind & 2 ? 128 : 64);
            p.causal = kind & 1;
            report_progress("problem", done++, n * kinds);
            play(players, count, argv[1], p, kind & 4 ? cores : 1);
        }
    report_progress("problem", done, n * kinds);
    return EXIT_VERIFIED;
}
