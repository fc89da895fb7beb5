/*
 * confine [option…] -- PROGRAM [ARGUMENT…]: runs a program that nobody trusts, where it can do little.
 *
 *     --root DIR       it sees DIR as the whole file system, if this system lets us (else it starts in DIR)
 *     --see DIR        and in it DIR, which ROOT/DIR is there for
 *     --hide DIR       it sees nothing in DIR, if this system lets us
 *     --scratch MB     for files in ROOT/tmp and ROOT/dev/shm, empty and its own, and ROOT/proc, if this system lets us; all
 *                      three exist
 *     --user N         it runs as user N, which nobody else is; only root can do that
 *     --seconds S      of the processor's time, and five times as much by the clock
 *     --memory MB      each of its processes may ask for; --resident MB: all of them may have in use
 *     --file MB        the largest file that it may write
 *     --tasks N        processes and threads, itself included; with 1 it may not call exec either
 *     --errors FILE    what it says on standard error; its output is thrown away
 *     --verdict FILE   how it ended: one line, "exited 0", "signal 11", "time", "memory", "interrupted" (this program
 *                      was) or "not started: why"
 *     --set NAME=VALUE in its environment, which is empty otherwise
 *
 * No network, no file that is open here, and no system call that keeps something after the program has ended, takes
 * memory that is nobody's, or looks into other processes. Every limit is in force before the program starts, and
 * whatever it has started is ended with it. Exit status: 0 if the program exited with 0, 1 if it ended in
 * any other way, 2 if it could not be started.
 */
#define _GNU_SOURCE  // unshare
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#endif
#if defined __linux__ && defined __x86_64__
#define MACHINE AUDIT_ARCH_X86_64
#elif defined __linux__ && defined __aarch64__
#define MACHINE AUDIT_ARCH_AARCH64
#endif

enum { MOST_SETTINGS = 20, MOST_SEEN = 20, MOST_OPEN = 256, REFUSED = 2 };

static struct {
    const char *root, *hide, *errors, *verdict;
    long user, seconds, memory, resident, file, tasks, scratch;
    char *settings[MOST_SETTINGS + 1], *seen[MOST_SEEN];
    int count, seen_count;
} wanted = { .user = -1, .seconds = 10, .file = 16, .tasks = 1 };

_Noreturn static void refuse(const char *what, const char *expected)
{
    fprintf(stderr, "confine: %s: %s\n", what, expected);
    exit(REFUSED);
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

/* Reads the options; returns where the program's own words begin. */
static int read_options(int argc, char **argv)
{
    int k = 1;
    for (; k + 1 < argc && strcmp(argv[k], "--") != 0; k += 2) {
        const char *const option = argv[k];
        char *const value = argv[k + 1];
        const struct {
            const char *name;
            const char **text;
            long *number;
        } options[] = {
            { "--root", &wanted.root, NULL },       { "--hide", &wanted.hide, NULL },
            { "--errors", &wanted.errors, NULL },   { "--verdict", &wanted.verdict, NULL },
            { "--user", NULL, &wanted.user },       { "--seconds", NULL, &wanted.seconds },
            { "--memory", NULL, &wanted.memory },   { "--resident", NULL, &wanted.resident },
            { "--file", NULL, &wanted.file },       { "--tasks", NULL, &wanted.tasks },
            { "--scratch", NULL, &wanted.scratch },
        };
        const size_t n = sizeof options / sizeof options[0];
        size_t o = 0;
        while (o < n && strcmp(option, options[o].name) != 0)
            o++;
        if (o < n && options[o].text)
            *options[o].text = value;
        else if (o < n)
            *options[o].number = number(option, value);
        else if (strcmp(option, "--set") == 0 && wanted.count < MOST_SETTINGS)
            wanted.settings[wanted.count++] = value;
        else if (strcmp(option, "--see") == 0 && wanted.seen_count < MOST_SEEN)
            wanted.seen[wanted.seen_count++] = value;
        else
            refuse(option, "expected an option; they are listed in confine.c");
    }
    if (k >= argc - 1)
        refuse("--", "expected a program after it");
    return k + 1;
}

// ---- in the child, before the program starts -----------------------------------------------------

/* Says through `pipe` why the program does not start. */
_Noreturn static void give_up(int pipe, const char *what)
{
    char text[200];
    const int length = snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
    if (write(pipe, text, (size_t)length) < 0)
        _exit(REFUSED + 1);
    _exit(REFUSED);
}

/* So many units at most; nobody may raise it again. */
static struct rlimit at_most(long most, long unit)
{
    const rlim_t n = (rlim_t)most * (rlim_t)unit;
    return (struct rlimit){ n, n };
}

static void set_limits(int pipe)
{
    struct rlimit seconds = at_most(wanted.seconds, 1);
    const struct rlimit file = at_most(wanted.file, 1L << 20);
    const struct rlimit none = at_most(0, 1), memory = at_most(wanted.memory, 1L << 20);
    const struct rlimit open = at_most(MOST_OPEN, 1);  // a pipe or a socket has memory too
    seconds.rlim_max++;  // at the one it is told so, at the other killed
    if (setrlimit(RLIMIT_CORE, &none) != 0 || setrlimit(RLIMIT_CPU, &seconds) != 0 ||
        setrlimit(RLIMIT_FSIZE, &file) != 0 || setrlimit(RLIMIT_NOFILE, &open) != 0 ||
        (wanted.memory && setrlimit(RLIMIT_AS, &memory) != 0))
        give_up(pipe, "a limit");
}

static bool write_text(const char *path, const char *text)
{
    const int file = open(path, O_WRONLY);
    if (file < 0)
        return false;
    const bool written = write(file, text, strlen(text)) == (ssize_t)strlen(text);
    close(file);
    return written;
}

#ifdef __linux__
/* Mounts in ROOT what is gone with the last process that sees it, if this system lets us: else its folders are what they are. */
static void make_scratch(void)
{
    static const char *const folders[] = { "tmp", "dev/shm" };
    char path[4200], size[60];
    // a file without a byte takes memory too
    snprintf(size, sizeof size, "mode=1777,size=%ldm,nr_inodes=1000", wanted.scratch);
    for (size_t k = 0; k < sizeof folders / sizeof folders[0]; k++) {
        snprintf(path, sizeof path, "%.4000s/%s", wanted.root, folders[k]);
        (void)!mount("none", path, "tmpfs", MS_NOSUID | MS_NODEV, size);
    }
    snprintf(path, sizeof path, "%.4000s/proc", wanted.root);
    // Without other users' processes, whose words say what is being graded; in some containers only as it is.
    if (mount("none", path, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=2") != 0)
        (void)!mount("/proc", path, NULL, MS_BIND | MS_REC, NULL);
}
#endif

#ifdef __linux__
/* Shows in ROOT what of the whole file system is to be seen there; false if this system does not let us. */
static bool show(void)
{
    char path[4200];
    for (int k = 0; k < wanted.seen_count; k++) {
        snprintf(path, sizeof path, "%.2000s/%.2000s", wanted.root, wanted.seen[k]);
        if (mount(wanted.seen[k], path, NULL, MS_BIND | MS_REC, NULL) != 0)
            return false;
    }
    return true;
}
#endif

/*
 * A file system, a network and message queues of its own, as far as this system lets us. False if ROOT lacks what is to be
 * seen there: then nothing would run in it.
 */
static bool separate(void)
{
#ifdef __linux__
    const uid_t user = getuid();
    const gid_t group = getgid();
    if (user != 0 && unshare(CLONE_NEWUSER) == 0) {
        char map[60];
        snprintf(map, sizeof map, "%u %u 1\n", (unsigned)user, (unsigned)user);
        write_text("/proc/self/setgroups", "deny");
        write_text("/proc/self/uid_map", map);
        snprintf(map, sizeof map, "%u %u 1\n", (unsigned)group, (unsigned)group);
        write_text("/proc/self/gid_map", map);
    }
    (void)!unshare(CLONE_NEWNET);
    (void)!unshare(CLONE_NEWIPC);
    if ((!wanted.hide && !wanted.scratch && !wanted.seen_count) || unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return !wanted.seen_count;
    if (wanted.scratch && wanted.root)
        make_scratch();
    if (wanted.hide)
        (void)!mount("none", wanted.hide, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "mode=555");
    return !wanted.seen_count || (wanted.root && show());
#else
    return !wanted.seen_count;
#endif
}

static void redirect(int pipe, const char *path, int flags, int to)
{
    const int file = open(path, flags, 0600);
    if (file < 0 || dup2(file, to) < 0)
        give_up(pipe, path);
    close(file);
}

/* The files that who called this has open, such as the pipe by which make counts its jobs. */
static void close_all_but(int pipe)
{
    for (int file = STDERR_FILENO + 1; file < MOST_OPEN; file++)
        if (file != pipe)
            close(file);
#ifdef __linux__
    enum { CLOSE_RANGE = 436, AT_EXEC = 4 };  // the same on every machine
    syscall(CLOSE_RANGE, MOST_OPEN, UINT_MAX, AT_EXEC);
#endif
}

#ifdef MACHINE
/* The settings at an address that nobody can guess: by it the filter below knows the one exec that is allowed. */
static char **hidden_settings(int pipe)
{
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        give_up(pipe, "a random number");
    const uintptr_t place = (uintptr_t)1 << 44 | (random & (((uintptr_t)1 << 44) - 1)),
                    page = place & ~(uintptr_t)0xfff;
    char *const memory = mmap((void *)page, 0x2000, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory == MAP_FAILED)
        give_up(pipe, "memory for the settings");
    return memcpy(memory + (place & 0xff8), wanted.settings, sizeof wanted.settings);
}

/*
 * From here on the calls in `refused` fail, and so do filters, by which a program could come back from the end that a sanitizer
 * gives it, and sockets and shared memory, whose pages would be counted as nobody's: all of these with one task, else
 * (Criterion needs some) sockets that are not local and memory of no file. With one task exec ends the process, unless its
 * third argument is `settings` (a program has nothing there), and signals and limits are for itself alone: of an ordinary user
 * it could end all that runs.
 */
static void filter_calls(int pipe, char **settings)
{
#define FIELD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define IF(compare, value, then, otherwise) \
    BPF_JUMP(BPF_JMP | BPF_##compare | BPF_K, value, then, otherwise)
#define THEN(verdict) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_##verdict)
    // the same on every machine
    enum { PIDFD_SEND_SIGNAL = 424, IO_URING_SETUP, PIDFD_GETFD = 438, MEMFD_SECRET = 447 };
    static const uint32_t refused[] = { SYS_add_key,
                                        SYS_keyctl,
                                        SYS_request_key,
                                        SYS_shmget,
                                        SYS_msgget,
                                        SYS_semget,
                                        SYS_mq_open,
                                        SYS_memfd_create,
                                        MEMFD_SECRET,
                                        SYS_ptrace,
                                        SYS_kcmp,
                                        SYS_process_vm_readv,
                                        SYS_process_vm_writev,
                                        PIDFD_GETFD,
                                        SYS_userfaultfd,
                                        SYS_perf_event_open,
                                        SYS_bpf,
                                        SYS_seccomp,
                                        IO_URING_SETUP,
                                        SYS_unshare,
                                        SYS_setns,
                                        SYS_execveat,
                                        PIDFD_SEND_SIGNAL,
                                        SYS_tkill,
                                        SYS_rt_sigqueueinfo,
                                        SYS_rt_tgsigqueueinfo };
    enum { REFUSED_CALLS = sizeof refused / sizeof *refused };
    const uint32_t shared = MAP_SHARED | (wanted.tasks > 1 ? MAP_ANONYMOUS : 0);
    const uint64_t place = (uintptr_t)settings;
    const struct sock_filter first[] = {
        FIELD(arch),
        IF(JEQ, MACHINE, 1, 0),
        THEN(KILL_PROCESS),
        FIELD(nr),
        IF(JGE, 0x40000000, 0, 1),  // x32, another way to the same calls
        THEN(KILL_PROCESS),
    }, last[] = {
        IF(JEQ, SYS_prctl, 0, 4),
        FIELD(args[0]),
        IF(JEQ, PR_SET_SECCOMP, 0, 1),
        THEN(ERRNO | EPERM),
        THEN(ALLOW),
        IF(JEQ, SYS_mmap, 0, 4),
        FIELD(args[3]),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, shared),
        IF(JEQ, shared, 0, 1),
        THEN(ERRNO | EPERM),
        IF(JEQ, SYS_socket, 0, 3),
        FIELD(args[0]),
        IF(JEQ, wanted.tasks > 1 ? AF_UNIX : UINT32_MAX, 1, 0),
        THEN(ERRNO | EPERM),
        IF(JGE, wanted.tasks == 1 ? 0 : UINT32_MAX, 0, 13),  // the rest is for one task
        IF(JEQ, SYS_kill, 2, 0),
        IF(JEQ, SYS_tgkill, 1, 0),
        IF(JEQ, SYS_prlimit64, 0, 4),
        FIELD(args[0]),
        IF(JEQ, 0, 8, 0),
        IF(JEQ, (uint32_t)getpid(), 7, 0),
        THEN(ERRNO | EPERM),
        IF(JEQ, SYS_execve, 0, 5),
        FIELD(args[2]),  // both machines have the lower half first
        IF(JEQ, (uint32_t)place, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2]) + 4),
        IF(JEQ, (uint32_t)(place >> 32), 1, 0),
        THEN(KILL_PROCESS),
        THEN(ALLOW),
    };
    enum { FIRST = sizeof first / sizeof *first, LAST = sizeof last / sizeof *last };
    struct sock_filter filter[FIRST + 2 * REFUSED_CALLS + LAST];
    memcpy(filter, first, sizeof first);
    for (size_t k = 0; k < REFUSED_CALLS; k++) {
        const struct sock_filter refuse_it[] = { IF(JEQ, refused[k], 0, 1), THEN(ERRNO | EPERM) };
        memcpy(filter + FIRST + 2 * k, refuse_it, sizeof refuse_it);
    }
    memcpy(filter + FIRST + 2 * (size_t)REFUSED_CALLS, last, sizeof last);
    const struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
        give_up(pipe, "a filter of system calls");
}
#endif

_Noreturn static void become(int pipe, char **words)
{
    setsid();
    redirect(pipe, "/dev/null", O_RDONLY, STDIN_FILENO);
    close_all_but(pipe);
    redirect(pipe, "/dev/null", O_WRONLY, STDOUT_FILENO);
    redirect(pipe, wanted.errors ? wanted.errors : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC,
             STDERR_FILENO);
    const bool complete = separate();
    // what is hidden is still there under the name that the working directory has
    if ((wanted.root || wanted.hide) && chdir(wanted.root ? wanted.root : "/") != 0)
        give_up(pipe, wanted.root);
    if (wanted.root && complete && chroot(wanted.root) != 0 && geteuid() == 0)
        give_up(pipe, "chroot");
    set_limits(pipe);
    const struct rlimit tasks = at_most(wanted.tasks, 1);
    if (wanted.user >= 0 && (setgroups(0, NULL) != 0 || setgid((gid_t)wanted.user) != 0))
        give_up(pipe, "another group");
    if (setrlimit(RLIMIT_NPROC, &tasks) != 0)  // it does not hold for root
        give_up(pipe, "a limit");
    if (wanted.user >= 0 && setuid((uid_t)wanted.user) != 0)
        give_up(pipe, "another user");
#ifdef __linux__
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
#endif
    char **settings = wanted.settings;
#ifdef MACHINE
    settings = hidden_settings(pipe);
    filter_calls(pipe, settings);
#endif
    execve(words[0], words, settings);
    give_up(pipe, words[0]);
}

// ---- in the parent -------------------------------------------------------------------------------

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

/* Whoever interrupts this program ends the other, which is in a session of its own and hears nothing of it. */
static void catch_signals(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    const struct sigaction action = { .sa_handler = interrupt };
    for (size_t k = 0; k < sizeof signals / sizeof signals[0]; k++)
        sigaction(signals[k], &action, NULL);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Memory that the process has in use, in MB, and what lists it; 0 where that cannot be known. */
static long resident(pid_t process)
{
    static const char *const lines[] = { "VmRSS:", "VmPTE:" };
    char path[60], text[200];
    long kilobytes = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)process);
    FILE *file = fopen(path, "r");
    while (file && fgets(text, sizeof text, file))
        for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++)
            if (strncmp(text, lines[k], strlen(lines[k])) == 0)
                kilobytes += strtol(text + strlen(lines[k]), NULL, 10);
    if (file)
        fclose(file);
    return kilobytes / 1024;
}

/* The same of the process and of those it has started: all that its user has. */
static long resident_of_all(pid_t process)
{
    DIR *const folder = wanted.tasks > 1 && wanted.user >= 0 ? opendir("/proc") : NULL;
    long all = 0;
    if (!folder)
        return resident(process);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[300];
        struct stat of;
        const long number = strtol(entry->d_name, NULL, 10);
        snprintf(path, sizeof path, "/proc/%s", entry->d_name);
        if (number > 0 && stat(path, &of) == 0 && of.st_uid == (uid_t)wanted.user)
            all += resident((pid_t)number);
    }
    closedir(folder);
    return all;
}

/* Ends what else is our child, because all between us have ended; false if there is nothing. */
static bool end_orphans(pid_t process)
{
    bool found = false;
#ifdef __linux__
    char path[60], text[4000] = "", *rest = text;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *file = fopen(path, "r");
    if (file && fgets(text, sizeof text, file))
        for (long child; (child = strtol(rest, &rest, 10)) > 0;)
            if (child != (long)process) {
                found = true;
                kill((pid_t)child, SIGKILL);
                waitpid((pid_t)child, NULL, 0);
            }
    if (file)
        fclose(file);
#else
    (void)process;
#endif
    return found;
}

/* Ends the process and all that it started. */
static void end_all(pid_t process)
{
    kill(-process, SIGKILL);
    kill(process, SIGKILL);
    const pid_t sweeper = wanted.user < 0 ? -1 : fork();
    if (sweeper == 0) {  // the user is nobody else's, so everything that is its own goes
        if (setgid((gid_t)wanted.user) == 0 && setuid((uid_t)wanted.user) == 0)
            kill(-1, SIGKILL);
        _exit(0);
    }
    if (sweeper > 0)
        waitpid(sweeper, NULL, 0);
    while (end_orphans(process))
        nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
}

/* Waits for the process, with an eye on the clock and on its memory. What ended it, or NULL. */
static const char *watch(pid_t process, int *status)
{
    const double end = now() + 5.0 * (double)wanted.seconds;
    long pause = 200000;  // nanoseconds
    for (;;) {
        siginfo_t info = { 0 };
        if (waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid) {
            end_all(process);
            waitpid(process, status, 0);
            return NULL;
        }
        const bool late = now() > end,
                   large = wanted.resident && resident_of_all(process) > wanted.resident;
        if (late || large || interrupted) {
            end_all(process);
            waitpid(process, status, 0);
            return late ? "time" : large ? "memory" : "interrupted";
        }
        nanosleep(&(struct timespec){ 0, pause }, NULL);
        pause = pause < (wanted.tasks > 1 ? 50000000 : 10000000) ? 2 * pause : pause;
    }
}

/* Was it told that its time is over, or has it not listened, and was killed a second later? */
static bool out_of_time(int status)
{
    struct rusage used;
    if (!WIFSIGNALED(status) || getrusage(RUSAGE_CHILDREN, &used) != 0)
        return false;
    return WTERMSIG(status) == SIGXCPU ||
           (WTERMSIG(status) == SIGKILL &&
            used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1 >= wanted.seconds);
}

static void say(const char *verdict)
{
    FILE *file = wanted.verdict ? fopen(wanted.verdict, "w") : stdout;
    if (!file)
        refuse(wanted.verdict, "expected a file to write");
    fprintf(file, "%s\n", verdict);
    if (file != stdout)
        fclose(file);
}

int main(int argc, char **argv)
{
    const int first = read_options(argc, argv);
    int pipes[2], status = 0;
    char reason[200] = "", verdict[260];
    if (pipe(pipes) != 0)
        refuse("pipe", strerror(errno));
    fcntl(pipes[1], F_SETFD, FD_CLOEXEC);
    catch_signals();
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
    const pid_t process = fork();
    if (process < 0)
        refuse("fork", strerror(errno));
    if (process == 0) {
        close(pipes[0]);
        become(pipes[1], argv + first);
    }
    close(pipes[1]);
    const ssize_t length = read(pipes[0], reason, sizeof reason - 1);
    close(pipes[0]);
    const char *const ended = watch(process, &status);
    if (length > 0)
        snprintf(verdict, sizeof verdict, "not started: %s", reason);
    else if (ended)
        snprintf(verdict, sizeof verdict, "%s", ended);
    else if (out_of_time(status))
        snprintf(verdict, sizeof verdict, "time");
    else if (WIFSIGNALED(status))
        snprintf(verdict, sizeof verdict, "signal %d", WTERMSIG(status));
    else
        snprintf(verdict, sizeof verdict, "exited %d", WEXITSTATUS(status));
    say(verdict);
    return length > 0 ? REFUSED : strcmp(verdict, "exited 0") != 0;
}
