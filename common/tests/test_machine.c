/*
 * The description of the machine: fake caches, CPU names, and what holds on any machine.
 */
#define _XOPEN_SOURCE 700  // for mkdtemp
#define _DARWIN_C_SOURCE   // the same on macOS, and the number of cores

#include "common/measure/bench.h"
#include "common/tests/test.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder that lists caches as Linux does. */
struct cache {
    const char *level, *type, *size;
};

static void write_file(const char *folder, int index, const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/index%d/%s", folder, index, name);
    FILE *file = fopen(path, "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0, "cannot write %s", path);
}

static void list_caches(const char *folder, const struct cache *caches, int count)
{
    for (int i = 0; i < count; i++) {
        char path[300];
        snprintf(path, sizeof path, "%s/index%d", folder, i);
        cr_assert(mkdir(path, 0700) == 0, "cannot make %s", path);
        write_file(folder, i, "level", caches[i].level);
        write_file(folder, i, "type", caches[i].type);
        write_file(folder, i, "size", caches[i].size);
    }
}

static void remove_caches(const char *folder, int count)
{
    static const char *const names[] = { "/level", "/type", "/size", "" };
    for (int i = 0; i < count; i++)
        for (int n = 0; n < 4; n++) {
            char path[300];
            snprintf(path, sizeof path, "%s/index%d%s", folder, i, names[n]);
            remove(path);
        }
    rmdir(folder);
}

TEST(machine, caches_are_read_as_linux_lists_them)
{
    static const struct cache caches[] = {
        { "1\n", "Instruction\n", "64K\n" }, { "1\n", "Data\n", "48K\n" },
        { "2\n", "Unified\n", "2048K\n" },   { "3\n", "Unified\n", "96M\n" },
        { "4\n", "Unified\n", "4096\n" },
    };
    static const size_t expected[] = { 0, 48 << 10, 2048 << 10, 96 << 20, 4096, 0 };
    const char *place = getenv("TMPDIR");
    char folder[200];
    size_t got[6];
    snprintf(folder, sizeof folder, "%s/bench.XXXXXX", place ? place : "/tmp");
    cr_assert(mkdtemp(folder), "cannot make %s", folder);
    list_caches(folder, caches, 5);
    for (int level = 0; level < 6; level++)
        got[level] = bench_listed_cache(folder, level);
    remove_caches(folder, 5);
    for (int level = 0; level < 6; level++)
        cr_assert(got[level] == expected[level], "level %d: %zu bytes, not %zu", level, got[level],
                  expected[level]);
    cr_assert(bench_listed_cache(folder, 1) == 0, "%s is not there", folder);
}

TEST(machine, this_machine_has_caches)
{
    const size_t one = bench_cache_bytes(1), two = bench_cache_bytes(2),
                 three = bench_cache_bytes(3);
    cr_assert(one >= 4 << 10 && one <= 1 << 20, "level 1: %zu bytes", one);
    cr_assert(two >= one && two <= (size_t)1 << 30, "level 2: %zu bytes", two);
    cr_assert(three >= 1 << 20 && three <= (size_t)4 << 30, "level 3: %zu bytes", three);
    cr_assert(bench_cache_bytes(0) == 0 && bench_cache_bytes(4) == 0 && bench_cache_bytes(-1) == 0,
              "there are caches of level 0, 4 or -1");
}

TEST(machine, what_linux_lists_of_this_machine_is_believed)
{
    for (int level = 1; level <= 3; level++) {
        const size_t listed = bench_listed_cache("/sys/devices/system/cpu/cpu0/cache", level);
        cr_assert(listed == 0 || bench_cache_bytes(level) == listed, "level %d: %zu, listed as %zu",
                  level, bench_cache_bytes(level), listed);
    }
}

TEST(machine, names_of_processors_lose_their_decoration)
{
    static const char *const names[][2] = {
        { " Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz\n", "Intel Xeon E5-2680 v4" },
        { "Intel(R) Core(TM)2 Duo CPU     T7700  @ 2.40GHz", "Intel Core2 Duo T7700" },
        { "Intel(R) Xeon(R) Processor @ 2.60GHz", "Intel Xeon" },
        { "AMD EPYC 9B45 128-Core Processor", "AMD EPYC 9B45" },
        { "AMD Ryzen 7 7840U w/ Radeon 780M Graphics",
          "AMD Ryzen 7 7840U w/ Radeon 780M Graphics" },
        { "Apple M2 Pro", "Apple M2 Pro" },
        { "Odd (name) and (half", "Odd and (half" },
        { "-Core", "-Core" },
        { " \t\n", "" },
        { "", "" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[100];
        snprintf(name, sizeof name, "%s", names[i][0]);
        bench_tidy_name(name);
        cr_assert(strcmp(name, names[i][1]) == 0, "\"%s\" became \"%s\"", names[i][0], name);
    }
}

TEST(machine, the_machine_is_one_short_line)
{
    char copy[200], processor[100], number[10], system[20], hardware[20], compiler[20];
    snprintf(copy, sizeof copy, "%s", bench_machine());
    cr_assert(strlen(copy) > 0 && strlen(copy) < 100, "%zu characters", strlen(copy));
    for (const char *c = copy; *c; c++)
        cr_assert(isprint((unsigned char)*c), "character %d in \"%s\"", *c, copy);
    const int read = sscanf(copy, "%99[^,], %9[0-9] core%*[s,] %19s %19[^,], %19s", processor,
                            number, system, hardware, compiler);
    cr_assert(read == 5, "\"%s\" has %d of its five parts", copy, read);
    const long cores = strtol(number, NULL, 10);
    cr_assert(cores >= 1 && cores <= sysconf(_SC_NPROCESSORS_ONLN), "\"%s\": %ld cores", copy,
              cores);
    cr_assert(strcmp(compiler, "gcc") == 0 || strcmp(compiler, "clang") == 0, "\"%s\"", copy);
    cr_assert(!strchr(copy, '?') && copy[0] != ' ', "\"%s\" is untidy", copy);
    cr_assert(strcmp(copy, bench_machine()) == 0, "\"%s\", then \"%s\"", copy, bench_machine());
}

TEST(machine, the_processor_is_the_one_that_linux_names)
{
    char line[256] = "", named[256] = "";
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !named[0] && fgets(line, sizeof line, file))
        sscanf(line, "model name : %255[^\n]", named);
    if (file)
        fclose(file);
    bench_tidy_name(named);
    const size_t shown = strlen(named) < 36 ? strlen(named) : 36;
    const char *machine = bench_machine();
    cr_assert(named[0] == '\0' || strncmp(machine, named, shown) == 0,
              "\"%s\" is to begin with \"%s\"", machine, named);
    // A name without a number does not identify the processor.
    const char *const more = strpbrk(named, "0123456789") ? "," : " family ";
    cr_assert(named[0] == '\0' || strncmp(machine + shown, more, strlen(more)) == 0,
              "\"%s\": expected \"%s\" after \"%s\"", machine, more, named);
}

/* Only that the rates are plausible, in FLOP and bytes a second. */
TEST(machine, peak_and_bandwidth_are_plausible_rates)
{
    const double peak = bench_fma_peak(), bandwidth = bench_copy_bandwidth();
    cr_assert(peak > 1e7 && peak < 1e13, "%g FLOP/s", peak);
    cr_assert(bandwidth > 1e7 && bandwidth < 1e13, "%g bytes/s", bandwidth);
}
