/* This machine's name, for tables of times, and its cache sizes. */
#if defined(__linux__)
#define _GNU_SOURCE  // sched_getaffinity
#elif defined(__APPLE__)
#define _DARWIN_C_SOURCE  // sysctlbyname
#else
#define _POSIX_C_SOURCE 200809L
#endif

#include "common/measure/bench.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__linux__)
#include <sched.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif

/*
 * Linux lists a core's caches as folder/index0, index1, …; sysconf has returned ten times the size
 * in virtual machines.
 */
static bool read_line(const char *folder, int index, const char *file_name, char *line, int size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/index%d/%s", folder, index, file_name);
    FILE *file = fopen(path, "r");
    const bool read = file && fgets(line, size, file);
    if (file)
        fclose(file);
    return read;
}

size_t bench_listed_cache(const char *folder, int level)
{
    char line[32];
    for (int index = 0; read_line(folder, index, "level", line, sizeof line); index++) {
        if (strtol(line, NULL, 10) != level ||
            !read_line(folder, index, "type", line, sizeof line) || line[0] == 'I' ||
            !read_line(folder, index, "size", line, sizeof line))
            continue;
        char *unit;
        const size_t size = strtoul(line, &unit, 10);
        return *unit == 'M' ? size << 20 : *unit == 'K' ? size << 10 : size;
    }
    return 0;
}

size_t bench_cache_bytes(int level)
{
    static const size_t usual[] = { (size_t)32 << 10, (size_t)1 << 20, (size_t)32 << 20 };
    if (level < 1 || level > 3)
        return 0;
    const size_t bytes = bench_listed_cache("/sys/devices/system/cpu/cpu0/cache", level);
    return bytes > 0 ? bytes : usual[level - 1];
}

/* Drops "(R)", "CPU", "64-Core", "Processor" and everything from "@". */
void bench_tidy_name(char *name)
{
    char *end = name;
    for (char *word = strtok(name, " \t\n"); word && *word != '@'; word = strtok(NULL, " \t\n")) {
        for (char *open; (open = strchr(word, '(')) && strchr(open, ')');) {
            const char *rest = strchr(open, ')') + 1;
            memmove(open, rest, strlen(rest) + 1);
        }
        const size_t length = strlen(word);
        if (length == 0 || strcmp(word, "CPU") == 0 || strcmp(word, "Processor") == 0 ||
            (length > 5 && strcmp(word + length - 5, "-Core") == 0))
            continue;
        if (end > name)
            *end++ = ' ';
        memmove(end, word, length);
        end += length;
    }
    *end = '\0';
}

static void read_processor(char *name, size_t size)
{
    name[0] = '\0';
#if defined(__APPLE__)
    size_t length = size;
    if (sysctlbyname("machdep.cpu.brand_string", name, &length, NULL, 0) != 0)
        name[0] = '\0';
#else
    char line[256];
    long family = 0;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && name[0] == '\0' && fgets(line, sizeof line, file)) {
        const char *const value = strchr(line, ':');
        if (value && strncmp(line, "cpu family", 10) == 0)
            family = strtol(value + 1, NULL, 10);
        if (value && strncmp(line, "model name", 10) == 0)
            snprintf(name, size, "%s", value + 1);
    }
    if (file)
        fclose(file);
    // A virtual machine may not name its processor.
    const size_t length = strcspn(name, "\n");
    if (length > 0 && family > 0 && !strpbrk(name, "0123456789"))
        snprintf(name + length, size - length, " family %ld", family);
#endif
    bench_tidy_name(name);
    if (name[0] == '\0')
        snprintf(name, size, "unnamed processor");
}

/* Cores that this process may use, if the system has such a limit, else all. */
static long available_cores(void)
{
#if defined(__linux__)
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        return CPU_COUNT(&allowed);
#endif
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? cores : 1;
}

const char *bench_machine(void)
{
#if defined(__clang__)
    static const char compiler[] = "clang";
    const int version[] = { __clang_major__, __clang_minor__, __clang_patchlevel__ };
#else
    static const char compiler[] = "gcc";
    const int version[] = { __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__ };
#endif
    static char text[100];
    char processor[256];
    struct utsname system = { .sysname = "unknown" };
    const long cores = available_cores();
    read_processor(processor, sizeof processor);
    uname(&system);
    snprintf(text, sizeof text, "%.36s, %ld core%s, %.8s %.11s, %s %d.%d.%d", processor, cores,
             cores == 1 ? "" : "s", system.sysname, system.machine, compiler, version[0],
             version[1], version[2]);
    for (char *c = text; *c; c++)
        if (!isprint((unsigned char)*c))
            *c = '?';
    return text;
}
