#define _POSIX_C_SOURCE 200809L
#include "criterion/criterion.h"

#include <sys/wait.h>
#include <unistd.h>

struct alone_test *alone_tests;

/* Runs one in a process of its own; does it end as it should? */
static int passes(const struct alone_test *test)
{
    int status;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm((unsigned)test->timeout);
        test->run();
        exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 0;
    return test->signal ? WIFSIGNALED(status) && WTERMSIG(status) == test->signal
                        : WIFEXITED(status) && WEXITSTATUS(status) == test->exit_code;
}

int main(void)
{
    int passed = 0, failed = 0;
    for (const struct alone_test *test = alone_tests; test; test = test->next) {
        if (passes(test)) {
            passed++;
            continue;
        }
        failed++;
        printf("FAILED %s::%s\n", test->suite, test->name);
    }
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return passed == 0 || failed > 0;
}
