/*
 * resident COMMAND [ARGUMENT...] - runs it without its output; prints its peak memory in bytes and
 * its CPU seconds.
 *
 * Ends with 0 if the command did, else with 1.
 */
#define _XOPEN_SOURCE 700
#define _DARWIN_C_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __APPLE__
enum { UNIT = 1 };
#else
enum { UNIT = 1024 };
#endif

static _Noreturn void run(char **command)
{
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0)
        dup2(nowhere, STDOUT_FILENO);
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
}

int main(int count, char **arguments)
{
    if (count < 2) {
        fprintf(stderr, "resident: expected a command\n");
        return 2;
    }
    const pid_t child = fork();
    if (child == 0)
        run(arguments + 1);
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0) {
        perror("resident");
        return 1;
    }
    struct rusage used;
    if (getrusage(RUSAGE_CHILDREN, &used) != 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return 1;
    printf("%lld %.2f\n", (long long)used.ru_maxrss * UNIT,
           (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
               1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec));
    if (fflush(stdout) != 0) {
        perror("resident: standard output");
        return 1;
    }
    return 0;
}
