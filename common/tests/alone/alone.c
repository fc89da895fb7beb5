/*
 * Runs each test in its own process.
 *
 *     PROGRAM [--filter PATTERN] [--jobs N]    tests whose SUITE/NAME matches, N at a time
 *     PROGRAM --debug PATTERN                  the first match in this process, without a time limit
 */
#define _POSIX_C_SOURCE 200809L
#include "common/tests/alone/criterion/criterion.h"

#include <fnmatch.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_JOBS = 256 };

struct alone_test *alone_tests;

/* A running test; process 0: a free slot. */
static struct job {
    const struct alone_test *test;
    pid_t process;
} jobs[MOST_JOBS];
static int passed, failed;

static void begin(struct job *job, const struct alone_test *test)
{
    fflush(NULL);
    *job = (struct job){ test, fork() };
    if (job->process == 0) {
        alarm((unsigned)test->timeout);
        test->run();
        exit(0);
    }
    if (job->process < 0) {
        perror("fork");
        exit(2);
    }
}

static struct job *end(void)
{
    int status, n = 0;
    const pid_t process = wait(&status);
    while (jobs[n].process != process)
        n++;
    const struct alone_test *const test = jobs[n].test;
    const int right = test->signal ? WIFSIGNALED(status) && WTERMSIG(status) == test->signal
                                   : WIFEXITED(status) && WEXITSTATUS(status) == test->exit_code;
    passed += right ? 1 : 0;
    failed += right ? 0 : 1;
    if (!right)
        printf("FAILED %s::%s (%s %d)\n", test->suite, test->name,
               WIFSIGNALED(status) ? "signal" : "status",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    jobs[n].process = 0;
    return &jobs[n];
}

static int is_wanted(const struct alone_test *test, const char *filter)
{
    char name[300];
    snprintf(name, sizeof name, "%s/%s", test->suite, test->name);
    return fnmatch(filter, name, 0) == 0;
}

int main(int argc, char **argv)
{
    const char *filter = "*", *debugged = NULL;
    int most = 1, running = 0;
    for (int n = 1; n + 1 < argc; n += 2)
        if (strcmp(argv[n], "--filter") == 0)
            filter = argv[n + 1];
        else if (strcmp(argv[n], "--jobs") == 0)
            most = (int)strtol(argv[n + 1], NULL, 10);
        else if (strcmp(argv[n], "--debug") == 0)
            debugged = argv[n + 1];
    if (debugged) {
        const struct alone_test *first = NULL;  // the list is in reverse order
        for (const struct alone_test *test = alone_tests; test; test = test->next)
            if (is_wanted(test, debugged))
                first = test;
        if (first)
            first->run();
        fprintf(stderr, "--debug %s: expected a test of this program, as SUITE/NAME\n", debugged);
        return 2;
    }
    most = most < 1 ? 1 : most > MOST_JOBS ? MOST_JOBS : most;
    for (const struct alone_test *test = alone_tests; test; test = test->next) {
        if (!is_wanted(test, filter))
            continue;
        begin(running < most ? &jobs[running++] : end(), test);
    }
    while (running-- > 0)
        end();
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return passed == 0 || failed > 0;
}
