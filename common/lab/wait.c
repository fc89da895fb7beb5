/*
 * On a terminal, shows how long a step will take and its progress. Steps print nothing while they
 * run, so both are estimated from the time of a few queries.
 */
#define _XOPEN_SOURCE 700
#include "common/lab/lab.h"
#include "common/measure/bench.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static const double LONG = 10.0;  // seconds; shorter steps are not announced
enum { QUERIES = 64 };            // timed for the estimate

static double begun, expected;  // of the step that is announced, for tick

/* Overwrites the two digits at the start of the line, and again in a second. */
static void tick(int signal_number)
{
    (void)signal_number;
    const int percent = (int)fmin(99.0, 100.0 * (bench_now() - begun) / expected);
    const char text[] = { '\r', (char)('0' + percent / 10), (char)('0' + percent % 10) };
    if (write(STDERR_FILENO, text, sizeof text) == sizeof text)
        alarm(1);
}

/* Seconds for the whole problem, from a run of the first queries of the first head. */
static double estimate(const struct step *step, const struct attention *p, struct tile_size size,
                       struct tensors x)
{
    struct attention few = *p;
    few.B = few.H = few.Hkv = 1;
    few.Nq = few.Nq < QUERIES ? few.Nq : QUERIES;
    const double pairs = (double)attention_pairs(p),
                 of_few = fmax(1.0, (double)attention_pairs(&few)), start = bench_now();
    x = step_run(step, &few, size, x);
    const double seconds = bench_now() - start;
    outputs_free(&x);
    return seconds * pairs / of_few;
}

struct tensors wait_for_step(const struct step *step, const struct attention *p,
                             struct tile_size size, struct tensors x)
{
    const double seconds = p->Nq > QUERIES ? estimate(step, p, size, x) : 0.0;
    if (seconds < LONG)
        return step_run(step, p, size, x);
    begun = bench_now();
    expected = seconds;
    fprintf(stderr, "00 %% of %s, which takes about %.0f s", step->name, seconds);
    sigaction(SIGALRM, &(struct sigaction){ .sa_handler = tick, .sa_flags = SA_RESTART }, NULL);
    alarm(1);
    x = step_run(step, p, size, x);
    alarm(0);
    fputs("\r\033[K", stderr);
    return x;
}
