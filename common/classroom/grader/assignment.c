/* What is graded, from common/classroom/grader/programs and a chapter's exercise/points. */
#include "common/classroom/grader/grade.h"

#include <stdlib.h>
#include <string.h>

static FILE *open_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        options_fail(path, "expected a file that can be read");
    return file;
}

static enum kind kind_of(const char *path, const char *word)
{
    static const char *const names[] = { "rows",     "merge",  "share",  "forward", "product",
                                         "backward", "kernel", "tensor", "sink",    "dsink" };
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (strcmp(word, names[k]) == 0)
            return (enum kind)k;
    options_fail(path,
                 "expected rows, merge, share, forward, product, backward, kernel, tensor, sink or "
                 "dsink, found '%s'",
                 word);
}

static void load_programs(struct assignment *a, const char *course)
{
    char path[4096], line[400];
    snprintf(path, sizeof path, "%s/common/classroom/grader/programs", course);
    FILE *file = open_file(path);
    while (fgets(line, sizeof line, file)) {
        struct graded_program p;
        char number[8], kind[20];
        if (sscanf(line, "%7s %31s %39s %19s %79s %59s", number, p.part, p.name, kind, p.file,
                   p.before) != 6 ||
            strcmp(number, a->number) != 0 || a->program_count == MOST_PROGRAMS)
            continue;
        p.kind = kind_of(path, kind);
        a->programs[a->program_count++] = p;
    }
    fclose(file);
    if (a->program_count == 0)
        options_fail(path, "expected programs of chapter %s, found none", a->number);
}

static bool is_graded(const struct assignment *a, const char *part)
{
    for (size_t k = 0; k < a->program_count; k++)
        if (strcmp(a->programs[k].part, part) == 0)
            return true;
    return false;
}

/* Is `part` one of `parts`, which has commas between them? */
static bool is_among(const char *part, const char *parts)
{
    const size_t length = strlen(part);
    for (const char *at = parts; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && strncmp(at, part, length) == 0)
            return true;
    return false;
}

static void load_points(struct assignment *a, const char *course, const char *parts)
{
    static const char *const kinds[] = { "output", "counts", "sanitizer" };
    char path[4096], line[400];
    snprintf(path, sizeof path, "%s/%s/exercise/points", course, a->chapter);
    FILE *file = open_file(path);
    while (fgets(line, sizeof line, file)) {
        struct criterion c = { .kind = ELSEWHERE };
        char points[20], *end;
        if (sscanf(line, "%31s %19s %31s", c.part, points, c.word) != 3 || c.part[0] == '#' ||
            strcmp(c.part, "part") == 0 || strcmp(c.part, "shown") == 0)
            continue;
        if (parts && *parts && !is_among(c.part, parts))
            continue;
        const long n = strtol(points, &end, 10);
        if (*end || n < 0 || n > 1000)
            options_fail(path, "expected a number of points, found '%s'", points);
        if (a->criterion_count == MOST_CRITERIA)
            options_fail(path, "expected at most %d criteria", MOST_CRITERIA);
        c.points = (int)n;
        c.causal = strstr(line, "--causal") != NULL;
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            if (strcmp(c.word, kinds[k]) == 0 && is_graded(a, c.part))
                c.kind = (enum criterion_kind)k;
        if (strcmp(c.word, "numbers") == 0)
            c.kind = NUMBERS;
        a->criteria[a->criterion_count++] = c;
    }
    fclose(file);
    if (a->criterion_count == 0)
        options_fail(path, "expected points of %s, found none",
                     parts && *parts ? parts : "any part");
}

struct assignment assignment_load(const char *course, const char *chapter, const char *parts)
{
    struct assignment a = { .program_count = 0 };
    snprintf(a.chapter, sizeof a.chapter, "%s", chapter);
    snprintf(a.number, sizeof a.number, "%.2s", chapter);
    load_programs(&a, course);
    load_points(&a, course, parts);
    return a;
}
