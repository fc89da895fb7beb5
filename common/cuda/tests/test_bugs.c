/* Planted mistakes are reported with kernel, block, thread and line. */
#include "common/cuda/tests/bugs.h"

#include "common/tests/command.h"
#include "common/tests/test.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const eyes[BUG_EYES] = { "plain", "instrumented", "races", "orders" };

static bool is_in_kernel(const char *file, long line, const char *kernel)
{
    char text[300], heading[220];
    FILE *source = fopen(file, "r");
    snprintf(heading, sizeof heading, "void %s(", kernel);
    bool inside = false, found = false;
    for (long n = 1; source && fgets(text, sizeof text, source); n++) {
        inside = inside ? *text != '}' : strstr(text, heading) && !isspace((unsigned char)*text);
        found = found || (inside && n == line);
    }
    if (source)
        fclose(source);
    return found;
}

/* Up to a character of `ends`. */
static char *word_after(const char *text, const char *before, const char *ends, char word[200])
{
    const char *at = strstr(text, before);
    *word = '\0';
    if (at)
        snprintf(word, 200, "%.*s", (int)strcspn(at + strlen(before), ends), at + strlen(before));
    return word;
}

static bool names_the_place(const char *report)
{
    char kernel[200], file[200];
    const char *place = strstr(report, "common/cuda/tests/kernels/");
    if (!strstr(report, ", block (") || !place)
        return false;
    word_after(report, "in kernel ", ",", kernel);
    snprintf(file, sizeof file, "%.*s", (int)strcspn(place, ":"), place);
    const long line = strtol(place + strlen(file) + 1, NULL, 10);
    return is_in_kernel(file, line, kernel) || strstr(report, "stack overflow");
}

static void assert_reported(const struct planted *p)
{
    char words[300];
    snprintf(words, sizeof words, "$EMULATOR ${BUILD:-build}/cuda-bugs %s %s", p->name,
             eyes[p->eye]);
    const struct command c = command_run(words);
    const int status = p->place == CUDA_ERROR ? 2 : 1;
    if (strstr(c.err, "ERROR: AddressSanitizer") || strstr(c.err, ": runtime error: "))
        return;  // reported by the compiler's sanitizers, also with thread and line
    const char *const *missing = p->words;
    const char *at = c.err;
    for (size_t k = 0; k < 4 && p->words[k] && at; k++) {
        at = strstr(at, p->words[k]);
        missing = &p->words[k];
    }
    cr_assert(at, "%s: expected \"%s\", it said: %s", words, *missing, c.err);
    cr_assert(c.status == status, "%s: status %d, it said: %s", words, c.status, c.err);
    cr_assert(p->place != IN_KERNEL || names_the_place(c.err),
              "%s: the report does not name kernel, block, thread and line: %s", words, c.err);
}

static void assert_all_reported(enum bug_eye eye)
{
    for (size_t n = 0; planted_at(n); n++)
        if (planted_at(n)->eye == eye)
            assert_reported(planted_at(n));
}

TEST(bugs, that_any_run_shows_are_reported)
{
    assert_all_reported(PLAIN);
}

TEST(bugs, that_watching_shows_are_reported)
{
    assert_all_reported(INSTRUMENTED);
}

TEST(bugs, that_are_races_are_reported)
{
    assert_all_reported(RACES);
}

TEST(bugs, that_another_order_shows_are_reported)
{
    assert_all_reported(ORDERS);
}

TEST(bugs, are_at_least_a_hundred)
{
    size_t count = 0;
    while (planted_at(count))
        count++;
    cr_assert(count >= 100, "there are %zu", count);
}

#if defined(__linux__)
struct place {
    const char *file;
    int line;
};
struct place site_of(const void *instruction) __asm__("_ZN3cpu7site_ofEPKv");

/* The program has other instructions, with lines, at the same offsets. */
TEST(bugs, of_a_shared_library_are_not_looked_up_in_the_program)
{
    const char *const library = (const char *)(uintptr_t)&qsort;
    for (size_t n = 0; n < 20; n++) {
        const struct place place = site_of(library + 4096 * n);
        cr_assert(!strstr(place.file, ".cu"), "an instruction of the C library is at %s:%d",
                  place.file, place.line);
    }
}
#endif
