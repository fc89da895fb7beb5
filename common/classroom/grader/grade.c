/*
 * grade COURSE BUILD CHAPTER WORK REPORTS SEED USER NAME [REFUSED]: runs the programs made from a submission
 * and says what they are worth.
 *
 * WORK/root is the file system that the programs see: bin/PROGRAM-VARIANT, where VARIANT is plain or sanitized, or of a
 * kernel counted, and what they are linked with. WORK/said/PROGRAM has what the compiler said where there is none. The
 * programs run as USER, or as whoever we are if that is "-". REPORTS gets report.txt, report.json,
 * gradescope.json, classroom50.json and row.csv. REFUSED says why nothing can be graded. common/classroom/grader/grade.sh
 * calls it. WORK/variant has the seed of the questions. PART in the environment names the parts that are graded,
 * unless it is all of them, and LIMIT is how many seconds may pass until no more is tried.
 */
#define _POSIX_C_SOURCE 200809L  // fmemopen
#include "common/classroom/grader/run.h"
#include "common/cpu/memory.h"
#include "common/files/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* So much of a number of points, rounded down; all of them where nothing was tried. */
static int share(int points, size_t passed, size_t tried)
{
    return tried ? (int)((size_t)points * passed / tried) : points;
}

/* Were more than half of a part's outputs right, and half of those that it is about? */
static bool most_outputs_are_right(const struct assignment *a, const char *part)
{
    for (size_t k = 0; k < a->criterion_count; k++) {
        const struct criterion *c = &a->criteria[k];
        if (c->kind == OUTPUT && strcmp(c->part, part) == 0 && c->cases > 0 &&
            (2 * c->passed <= c->cases || 2 * c->core_passed < c->core_cases))
            return false;
    }
    return true;
}

/*
 * An output criterion earns the share of its cases that are right, or of those that its part is about, if that is
 * less; in whole points, rounded down. Counts and sanitizers earn all or nothing, and nothing where most outputs are
 * wrong: a function that does nothing does nothing wrong.
 */
static void give_points(struct report *r, struct assignment *a)
{
    for (size_t k = 0; k < r->trial_count; k++) {
        const struct trial *t = &r->trials[k];
        struct criterion *c = &a->criteria[t->criterion];
        c->cases++;
        c->passed += t->outcome == PASSED;
        c->core_cases += t->core;
        c->core_passed += t->core && t->outcome == PASSED;
    }
    for (size_t k = 0; k < a->criterion_count; k++) {
        struct criterion *c = &a->criteria[k];
        if (c->kind == ELSEWHERE || c->cases == 0)
            continue;
        if (c->kind == OUTPUT || c->kind == NUMBERS) {
            const int all = share(c->points, c->passed, c->cases);
            const int core = share(c->points, c->core_passed, c->core_cases);
            c->earned = core < all ? core : all;
        } else if (c->passed == c->cases && most_outputs_are_right(a, c->part)) {
            c->earned = c->points;
        }
    }
}

static void write_row(const struct report *r, FILE *file)
{
    grade_row(r, true, file);
    grade_row(r, false, file);
}

static void write_reports(const struct report *r)
{
    static const struct {
        const char *name;
        void (*write)(const struct report *, FILE *);
    } reports[] = {
        { "report.txt", grade_text },
        { "report.json", grade_neutral },
        { "gradescope.json", grade_gradescope },
        { "classroom50.json", grade_classroom50 },
        { "row.csv", write_row },
    };
    enum { REPORTS = sizeof reports / sizeof reports[0], MOST = 1 << 24 };
    char path[PATH_ROOM], *const text = allocate(MOST, 1, "the reports");
    struct file_error error;
    for (size_t k = 0; k < REPORTS; k++) {
        path_of(given.reports, reports[k].name, path);
        FILE *const file =
            fmemopen(text, MOST, "w");  // which does not say that it has lost something
        if (file)
            reports[k].write(r, file);
        if (!file || fflush(file) != 0 || ferror(file))
            options_fail(path, "expected memory for it, found: %s", strerror(errno));
        const struct bytes piece = { text, (size_t)ftell(file) };
        fclose(file);
        if (!file_write(path, &piece, 1, &error))
            options_fail(path, "%s", error.text);
    }
    free(text);
}

int main(int argc, char **argv)
{
    static const struct program program = { .name = "grade" };
    static struct report report;
    options_program(&program, argv[0]);
    if (argc != 9 && argc != 10)
        options_fail("usage", "grade COURSE BUILD CHAPTER WORK REPORTS SEED USER NAME [REFUSED]");
    const mode_t mask = umask(022);  // who runs the programs reads what is made for them
    char *end;
    given.course = argv[1];
    given.build = argv[2];
    given.work = argv[4];
    given.reports = argv[5];
    given.seed = strtoull(argv[6], &end, 10);
    given.user = argv[7];
    const char *const limit = getenv("LIMIT");
    given.seconds = limit ? strtol(limit, NULL, 10) : MOST_SECONDS;
    if (*end || end == argv[6])
        options_fail("SEED", "expected a whole number, found '%s'", argv[6]);
    struct assignment a = assignment_load(given.course, argv[3], getenv("PART"));
    given.number = a.number;
    report.assignment = &a;
    report.seed = given.seed;
    snprintf(report.name, sizeof report.name, "%s", argv[8]);
    for (char *c = report.name; *c; c++)  // a name could add lines to report.txt
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    char path[PATH_ROOM];
    read_text(path_of(given.work, "variant", path), report.variant, sizeof report.variant);
    report.variant[strspn(report.variant, "0123456789")] = '\0';
    if (argc == 10)
        snprintf(report.refused, sizeof report.refused, "%s", argv[9]);
    for (size_t k = 0; k < a.criterion_count && argc == 9; k++) {
        if (a.criteria[k].kind == NUMBERS)
            try_numbers(&report, k);
        for (size_t n = 0; n < a.program_count; n++) {
            if (strcmp(a.criteria[k].part, a.programs[n].part) != 0)
                continue;
            if (a.criteria[k].kind == OUTPUT)
                try_output(&report, k, &a.programs[n]);
            else if (a.criteria[k].kind == SANITIZER)
                try_sanitized(&report, k, &a.programs[n]);
            else if (a.criteria[k].kind == COUNTS)
                try_counts(&report, k, &a.programs[n]);
        }
    }
    give_points(&report, &a);
    umask(mask);
    write_reports(&report);
    return 0;
}
