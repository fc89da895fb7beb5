/*
 * confine [option…] -- PROGRAM [ARGUMENT…]: runs an untrusted program within limits.
 *
 *     --root DIR       DIR is its whole file system (root only)
 *     --in DIR         its working directory
 *     --user N         runs as user N, which has no other process (root only)
 *     --seconds S      of CPU time per process; --clock S: wall time in all
 *     --memory MB      per process
 *     --file MB        the largest file
 *     --tasks N        processes and threads of its user; needs --user
 *     --errors FILE    its standard error; standard output is discarded
 *
 * Prints one line: "exited 0", "signal 11", "cpu", "clock C" (C: its CPU time), "interrupted"
 * (this program) or "not started: why". The environment has only PATH. With --user, all its
 * processes end.
 */
#define _GNU_SOURCE  // unshare
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#include <sys/prctl.h>
#endif

enum { MOST_OPEN = 256, NOT_STARTED = 2 };

static struct {
    const char *root, *in, *errors;
    long user, seconds, clock, memory, file, tasks;
} wanted = { .user = -1, .seconds = 10, .clock = 60, .file = 16 };

_Noreturn static void refuse(const char *what, const char *expected)
{
    fprintf(stderr, "confine: %s: %s\n", what, expected);
    exit(NOT_STARTED);
}

static long number(const char *option, const char *text)
{
    char *end;
    errno = 0;
    const long n = strtol(text, &end, 10);
    if (errno || *end || end == text || n < 0 || n > INT_MAX / 2)
        refuse(option, "expected a whole number");
    return n;
}

/* Returns the index of PROGRAM. */
static int read_options(int argc, char **argv)
{
    const struct {
        const char *name;
        const char **text;
        long *number;
    } options[] = {
        { "--root", &wanted.root, NULL },     { "--in", &wanted.in, NULL },
        { "--errors", &wanted.errors, NULL }, { "--user", NULL, &wanted.user },
        { "--clock", NULL, &wanted.clock },   { "--seconds", NULL, &wanted.seconds },
        { "--memory", NULL, &wanted.memory }, { "--file", NULL, &wanted.file },
        { "--tasks", NULL, &wanted.tasks },
    };
    const size_t n = sizeof options / sizeof options[0];
    int k = 1;
    for (; k + 1 < argc && strcmp(argv[k], "--") != 0; k += 2) {
        size_t o = 0;
        while (o < n && strcmp(argv[k], options[o].name) != 0)
            o++;
        if (o == n)
            refuse(argv[k], "expected an option; they are listed in confine.c");
        if (options[o].text)
            *options[o].text = argv[k + 1];
        else
            *options[o].number = number(argv[k], argv[k + 1]);
    }
    if (k >= argc - 1)
        refuse("--", "expected a program after it");
    return k + 1;
}

// ---- in the child, before the program starts -----------------------------------------------------

/* Reports through `pipe` why the program does not start. */
_Noreturn static void give_up(int pipe, const char *what)
{
    char text[200];
    const int length = snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
    _exit(write(pipe, text, (size_t)length) < 0 ? NOT_STARTED + 1 : NOT_STARTED);
}

/* A hard limit of `most` units; 0: none. */
static void limit(int pipe, int what, long most, rlim_t unit, rlim_t more)
{
    const rlim_t n = (rlim_t)most * unit;
    if (most > 0 && setrlimit((unsigned)what, &(struct rlimit){ n, n + more }) != 0)
        give_up(pipe, "a limit");
}

static void redirect(int pipe, const char *path, int flags, int to)
{
    const int file = open(path, flags, 0600);
    if (file < 0 || dup2(file, to) < 0)
        give_up(pipe, path);
    close(file);
}

_Noreturn static void become(int pipe, char **words)
{
    char path[] = "PATH=/usr/local/bin:/usr/bin:/bin", locale[] = "LC_ALL=C",
         threads[] = "OMP_WAIT_POLICY=passive", cache[] = "CCACHE_DISABLE=1", home[] = "HOME=/";
    char *const settings[] = { path, locale, threads, cache, home, NULL };
    setsid();
#ifdef __linux__
    const int first = open("/proc/self/oom_score_adj", O_WRONLY);  // to be ended where memory ends
    (void)!write(first, "1000", 4);
    close(first);
#endif
    redirect(pipe, "/dev/null", O_RDONLY, STDIN_FILENO);
    redirect(pipe, "/dev/null", O_WRONLY, STDOUT_FILENO);
    redirect(pipe, wanted.errors ? wanted.errors : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC,
             STDERR_FILENO);
    for (int file = STDERR_FILENO + 1; file < 1024; file++)  // make's jobs are counted by one
        if (file != pipe)
            close(file);
#ifdef __linux__
    if (wanted.user >= 0)
        (void)!unshare(CLONE_NEWNET | CLONE_NEWIPC);  // needs root
#endif
    if (wanted.in && chdir(wanted.in) != 0)
        give_up(pipe, wanted.in);
    if (wanted.root && (chdir(wanted.root) != 0 || chroot(".") != 0))
        give_up(pipe, wanted.root);
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    limit(pipe, RLIMIT_CPU, wanted.seconds, 1, 1);  // a second later it is killed
    limit(pipe, RLIMIT_FSIZE, wanted.file, 1 << 20, 0);
    limit(pipe, RLIMIT_AS, wanted.memory, 1 << 20, 0);
    limit(pipe, RLIMIT_NOFILE, MOST_OPEN, 1, 0);
    if (wanted.user >= 0) {
        if (setgroups(0, NULL) != 0 || setgid((gid_t)wanted.user) != 0)
            give_up(pipe, "another group");
        limit(pipe, RLIMIT_NPROC, wanted.tasks, 1, 0);
        if (setuid((uid_t)wanted.user) != 0)
            give_up(pipe, "another user");
    }
#ifdef __linux__
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
#endif
    execve(words[0], words, settings);
    give_up(pipe, words[0]);
}

// ---- in the parent -------------------------------------------------------------------------------

static volatile pid_t process;
static volatile sig_atomic_t ended_by;

static void end_it(int signal)
{
    ended_by = signal;
    if (process > 0) {
        kill(-process, SIGKILL);
        kill(process, SIGKILL);
    }
}

/* Kills all processes of its user. */
static void sweep(void)
{
    const pid_t sweeper = wanted.user < 0 ? -1 : fork();
    if (sweeper == 0) {
        if (setgid((gid_t)wanted.user) == 0 && setuid((uid_t)wanted.user) == 0)
            kill(-1, SIGKILL);
        _exit(0);
    }
    if (sweeper > 0)
        waitpid(sweeper, NULL, 0);
    kill(-process, SIGKILL);
}

int main(int argc, char **argv)
{
    static const int signals[] = { SIGALRM, SIGINT, SIGTERM, SIGHUP };
    const int first = read_options(argc, argv);
    int pipes[2], status = 0;
    char reason[200] = "";
    struct rusage used;
    if (pipe(pipes) != 0)
        refuse("pipe", strerror(errno));
    fcntl(pipes[1], F_SETFD, FD_CLOEXEC);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
#endif
    process = fork();
    if (process < 0)
        refuse("fork", strerror(errno));
    if (process == 0) {
        close(pipes[0]);
        become(pipes[1], argv + first);
    }
    for (size_t k = 0; k < sizeof signals / sizeof signals[0]; k++)
        sigaction(signals[k], &(struct sigaction){ .sa_handler = end_it }, NULL);
    alarm((unsigned)wanted.clock);
    close(pipes[1]);
    const ssize_t length = read(pipes[0], reason, sizeof reason - 1);
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        continue;
    getrusage(RUSAGE_CHILDREN, &used);
    sweep();
    const double seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (length > 0)
        printf("not started: %s\n", reason);
    else if (ended_by == SIGALRM)
        printf("clock %.1f\n", seconds);
    else if (ended_by)
        printf("interrupted\n");
    else if (signal == SIGXCPU || (signal == SIGKILL && seconds >= (double)wanted.seconds))
        printf("cpu\n");
    else if (signal)
        printf("signal %d\n", signal);
    else
        printf("exited %d\n", WEXITSTATUS(status));
    return length > 0 ? NOT_STARTED : 0;
}
