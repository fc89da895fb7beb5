#define _XOPEN_SOURCE 700
/*
 * bugs NAME EYE - runs one planted mistake, which ends the program with a report.
 * bugs table    - prints all of them with their reports.
 */
#include "common/cuda/tests/bugs.h"

#include "common/cuda/cpu.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef bool bug_runner(const char *name);
bug_runner barrier_bug_cpu, memory_bug_cpu, launch_bug_cpu, race_bug_cpu, tensor_bug_cpu;
bug_runner mbarrier_bug_cpu, tma_bug_cpu, wgmma_bug_cpu, register_bug_cpu;
bug_runner barrier_bug_instrumented, memory_bug_instrumented, launch_bug_instrumented,
    race_bug_instrumented;
bug_runner tensor_bug_instrumented, mbarrier_bug_instrumented, tma_bug_instrumented,
    wgmma_bug_instrumented;
bug_runner register_bug_instrumented;

static bug_runner *const runners[][2] = {
    { barrier_bug_cpu, barrier_bug_instrumented },
    { memory_bug_cpu, memory_bug_instrumented },
    { launch_bug_cpu, launch_bug_instrumented },
    { race_bug_cpu, race_bug_instrumented },
    { tensor_bug_cpu, tensor_bug_instrumented },
    { mbarrier_bug_cpu, mbarrier_bug_instrumented },
    { tma_bug_cpu, tma_bug_instrumented },
    { wgmma_bug_cpu, wgmma_bug_instrumented },
    { register_bug_cpu, register_bug_instrumented },
};

static const char *const eyes[BUG_EYES] = { "plain", "instrumented", "races", "orders" };

static bool run(const char *name, enum bug_eye eye)
{
    cuda_cpu_watch(eye == RACES ? CUDA_WATCH_RACES : 0);
    cuda_cpu_all_schedules(eye == ORDERS);
    cuda_cpu_patience(1);
    const bool instrumented = eye == INSTRUMENTED || eye == RACES;
    for (size_t k = 0; k < sizeof runners / sizeof runners[0]; k++)
        if (runners[k][instrumented](name))
            return true;
    return false;
}

/* A row of Markdown with the report's first line. */
static void print_row(const char *program, const struct planted *p)
{
    static const char mark[] = "CUDA on the CPU: ";
    char command[400], line[400] = "", shown[400] = "";
    snprintf(command, sizeof command, "%s %s %s 2>&1 >/dev/null", program, p->name, eyes[p->eye]);
    FILE *says = popen(command, "r");
    while (says && fgets(line, sizeof line, says))
        if (!*shown)
            snprintf(shown, sizeof shown, "%.*s", (int)strcspn(line, "\n"), line);
    if (says)
        pclose(says);
    const bool marked = strncmp(shown, mark, strlen(mark)) == 0;
    printf("| %s | %s | %s |\n", p->name, eyes[p->eye], shown + (marked ? strlen(mark) : 0));
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "table") == 0) {
        printf("| mistake | seen by | report |\n|---|---|---|\n");
        for (size_t n = 0; planted_at(n); n++)
            print_row(argv[0], planted_at(n));
        return 0;
    }
    for (int eye = 0; argc == 3 && eye < BUG_EYES; eye++)
        if (strcmp(argv[2], eyes[eye]) == 0 && run(argv[1], (enum bug_eye)eye))
            return 0;
    fprintf(stderr,
            "bugs: expected table, or a mistake's name and plain, instrumented, races or orders\n");
    return 2;
}
