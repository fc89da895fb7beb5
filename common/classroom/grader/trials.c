/*
 * What is tried of a submission, and what came of it.
 */
#define _POSIX_C_SOURCE 200809L  // clock_gettime
#include "common/classroom/grader/run.h"
#include "common/cpu/memory.h"
#include "common/files/npy.h"
#include "common/program/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// ---- one trial -----------------------------------------------------------------------------------

static struct trial *trial_new(struct report *r, size_t criterion, const char *program,
                               const char *name, enum topic topic)
{
    if (r->trial_count == MOST_TRIALS)
        options_fail("trials", "expected at most %d", MOST_TRIALS);
    struct trial *t = &r->trials[r->trial_count++];
    *t = (struct trial){ .criterion = criterion };
    snprintf(t->program, sizeof t->program, "%s", program);
    snprintf(t->name, sizeof t->name, "%s", name);
    where_to_read(r->assignment, topic, t->reread);
    return t;
}

/* Has all of the submission taken too long? Then no more of it is tried. */
static bool is_late(struct trial *t)
{
    static struct timespec begin;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (begin.tv_sec == 0)
        begin = now;
    if (now.tv_sec - begin.tv_sec < given.seconds)
        return false;
    t->outcome = NOT_RUN;
    snprintf(t->text, sizeof t->text,
             "not tried, because what was tried before took more than %ld seconds", given.seconds);
    return true;
}

static const char *signal_text(const char *verdict, char *text, size_t size)
{
    static const struct {
        int number;
        const char *name;
    } names[] = { { 4, "an illegal instruction" },
                  { 6, "abort()" },
                  { 7, "a bus error" },
                  { 8, "a division by zero" },
                  { 9, "a kill" },
                  { 11, "a segmentation fault" },
                  { 25, "a file that grew too large" },
                  { 31, "a call of exec" } };
    const long n = strncmp(verdict, "signal ", 7) == 0 ? strtol(verdict + 7, NULL, 10) : 0;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (names[k].number == n) {
            snprintf(text, size, "%s", names[k].name);
            return text;
        }
    snprintf(text, size, "signal %ld", n);
    return text;
}

/* What a verdict other than "exited 0" means for a trial. False: it is none, there is output to judge. */
static bool ended_badly(struct trial *t, const char *verdict)
{
    char text[100], errors[200], path[PATH_ROOM];
    read_text(path_of(given.work, "errors", path), errors, sizeof errors);
    errors[strcspn(errors, "\n")] = '\0';
    if (strcmp(verdict, "exited 0") == 0)
        return false;
    t->outcome = CRASHED;
    if (strcmp(verdict, "time") == 0) {
        t->outcome = TIMED_OUT;
        snprintf(t->text, sizeof t->text,
                 "it had not ended after %d seconds of the processor's time", SECONDS);
    } else if (strcmp(verdict, "memory") == 0) {
        snprintf(t->text, sizeof t->text, "it took more than %d MB of memory", MEMORY);
    } else if (strncmp(verdict, "signal", 6) == 0) {
        snprintf(t->text, sizeof t->text, "it was ended by %s",
                 signal_text(verdict, text, sizeof text));
    } else if (strncmp(verdict, "exited", 6) == 0) {
        snprintf(t->text, sizeof t->text, "it ended with status %s%s%s", verdict + 7,
                 errors[0] ? ": " : "", errors);
    } else {
        t->outcome = NOT_RUN;
        snprintf(t->text, sizeof t->text, "%s", verdict);
    }
    return true;
}

static void describe(struct trial *t, const struct finding *f)
{
    char got[32], expected[32], error[60] = "";
    if (f->unlike[0]) {
        snprintf(t->text, sizeof t->text, "%s", f->unlike);
        return;
    }
    if (!f->missing && !isnan(f->error))
        snprintf(error, sizeof error, "; the largest error is %.2e", f->error);
    snprintf(t->text, sizeof t->text, "%s at %s: %s%s, expected %s%s", f->array ? f->array : "-",
             f->place, f->missing ? "never written" : "got ",
             f->missing ? "" : report_value(f->got, 9, got), report_value(f->expected, 9, expected),
             error);
}

// ---- a program -----------------------------------------------------------------------------------

static void not_built(struct report *r, size_t criterion, const struct graded_program *program)
{
    char name[100], path[PATH_ROOM];
    struct trial *t = trial_new(r, criterion, program->name, "the file compiles", ON_NOTHING);
    snprintf(name, sizeof name, "said/%s", program->name);
    t->outcome = NOT_RUN;
    read_text(path_of(given.work, name, path), t->text, sizeof t->text);
    if (t->text[0] == '\0')
        snprintf(t->text, sizeof t->text, "%s: not in the submission", program->file);
}

void try_output(struct report *r, size_t criterion, const struct graded_program *program)
{
    struct test_case cases[MOST_CASES];
    const size_t n = cases_of(r->assignment, program, cases);
    bool hopeless = false;
    if (!was_built(program->name, "plain")) {
        not_built(r, criterion, program);
        return;
    }
    for (size_t k = 0; k < n; k++) {
        struct trial *t = trial_new(r, criterion, program->name, cases[k].name, cases[k].topic);
        char options[1200], verdict[300], folder[PATH_ROOM], out[PATH_ROOM];
        t->core = cases[k].core;
        if (is_late(t))
            continue;
        if (hopeless) {
            t->outcome = NOT_RUN;
            snprintf(t->text, sizeof t->text, "not tried, because the program did not end before");
            continue;
        }
        struct case_input in = case_input_new(program, &cases[k], given.seed + k);
        run_case(program, &cases[k], &in, "plain", options, sizeof options, verdict);
        if (!ended_badly(t, verdict) && !has_output(program->kind)) {
            t->outcome = NO_OUTPUT;
            snprintf(t->text, sizeof t->text, "it ended by itself and has written no output");
        } else if (t->outcome == PASSED) {
            if (cases[k].in_place)
                options[0] = '\0';
            const char *before = run_before(program, options, folder);
            t->finding =
                judge(program, &cases[k], &in, path_of(given.work, "root/out", out), before);
            t->outcome = t->finding.right ? PASSED : WRONG;
            where_to_read(r->assignment, topic_of(cases[k].topic, &t->finding), t->reread);
            describe(t, &t->finding);
        }
        hopeless = t->outcome == TIMED_OUT;
        case_input_free(&in);
    }
}

/* The first line of a sanitizer's report that says what is wrong. */
static void sanitizer_text(struct trial *t)
{
    static const char *const marks[] = { "runtime error", "ERROR: " };
    char text[6000], path[PATH_ROOM];
    read_text(path_of(given.work, "errors", path), text, sizeof text);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        for (size_t k = 0; k < 2; k++) {
            const char *found = strstr(line, marks[k]);
            if (!found)
                continue;
            t->outcome = CRASHED;
            // of ERROR: AddressSanitizer: kind on address …, the kind is what a reader can use
            snprintf(t->text, sizeof t->text, "%.300s", k == 0 ? line : found + strlen(marks[k]));
            return;
        }
}

void try_sanitized(struct report *r, size_t criterion, const struct graded_program *program)
{
    struct test_case cases[MOST_CASES];
    const size_t n = cases_of(r->assignment, program, cases);
    if (!was_built(program->name, "sanitized")) {
        not_built(r, criterion, program);
        return;
    }
    for (size_t k = 0; k < n && k < 2; k++) {
        struct trial *t = trial_new(r, criterion, program->name, cases[k].name, ON_NOTHING);
        char options[1200], verdict[300], out[PATH_ROOM];
        if (is_late(t))
            return;
        struct case_input in = case_input_new(program, &cases[k], given.seed + 100 + k);
        run_case(program, &cases[k], &in, "sanitized", options, sizeof options, verdict);
        if (ended_badly(t, verdict))
            sanitizer_text(t);
        else if (!has_output(program->kind)) {
            t->outcome = NO_OUTPUT;
            snprintf(t->text, sizeof t->text, "it ended by itself and has written no output");
        } else {
            sanitizer_text(t);
            if (t->outcome == PASSED)  // it may do less where it is watched
                t->finding =
                    judge(program, &cases[k], &in, path_of(given.work, "root/out", out), NULL);
            if (t->outcome == PASSED && !t->finding.right) {
                t->outcome = WRONG;
                describe(t, &t->finding);
            } else if (t->outcome == PASSED) {
                snprintf(t->text, sizeof t->text, "no report");
            }
        }
        case_input_free(&in);
        if (t->outcome == TIMED_OUT)
            return;
    }
}

/* Loads and stores that a counted program reports; false if it does not. */
static bool counts_of(double counts[2])
{
    char path[PATH_ROOM];
    struct npy array;
    struct file_error error;
    if (!npy_read(path_of(given.work, "root/out/counts.npy", path), &array, &error))
        return false;
    const bool right = array.count == 2 && array.type == NPY_F4;
    for (size_t k = 0; k < 2 && right; k++)
        counts[k] = (double)((const float *)array.data)[k];
    npy_free(&array);
    return right;
}

/* What is counted: loads and stores, or in CUDA the cycles that shared memory takes, and the least it could. */
static const char *const count_formats[2] = {
    "%.0f loads and %.0f stores, expected %.0f and %.0f",
    "%.0f cycles of shared memory where %.0f would do, expected %.0f where %.0f would do",
};

/* Runs the program, or the course's own, which say what they have counted; false if they do not. */
static bool run_to_count(const struct graded_program *program, const struct test_case *c,
                         const struct case_input *in, const char *variant, double counts[2],
                         char verdict[300])
{
    char options[1200];
    run_case(program, c, in, variant, options, sizeof options, verdict);
    return counts_of(counts);
}

void try_counts(struct report *r, size_t criterion, const struct graded_program *program)
{
    const bool of_kernel = program->kind == OF_TENSOR;
    const struct test_case c = counted_case(program, r->assignment->criteria[criterion].causal);
    char verdict[300], out[PATH_ROOM];
    double right[2] = { 0, 0 }, counted[2] = { 0, 0 };
    if (!was_built(program->name, "counted")) {
        not_built(r, criterion, program);
        return;
    }
    struct trial *t = trial_new(r, criterion, program->name, c.name, ON_COUNTS);
    if (is_late(t))
        return;
    struct case_input in = case_input_new(program, &c, given.seed + 200);
    if (!run_to_count(program, &c, &in, "course", right, verdict))
        options_fail(program->name, "expected counts from the course's own program, found: %s",
                     verdict);
    const bool there = run_to_count(program, &c, &in, "counted", counted, verdict);
    if (!ended_badly(t, verdict)) {
        t->finding = judge(program, &c, &in, path_of(given.work, "root/out", out), NULL);
        const bool enough = of_kernel ? counted[0] <= right[0] : counted[0] == right[0];
        if (!there)
            t->outcome = NO_OUTPUT;
        else if (!t->finding.right || !enough || counted[1] != right[1])
            t->outcome = WRONG;
        if (!there)
            snprintf(t->text, sizeof t->text, "it ended without counts");
        else if (!t->finding.right)
            describe(t, &t->finding);
        else
            snprintf(t->text, sizeof t->text, count_formats[of_kernel], counted[0], counted[1],
                     right[0], right[1]);
    }
    case_input_free(&in);
}

void try_numbers(struct report *r, size_t criterion)
{
    char path[PATH_ROOM], line[300], verdict[10], name[80], got[60];
    read_text(path_of(given.work, "said/answers.txt", path), line, sizeof line);
    if (line[0]) {
        struct trial *t = trial_new(r, criterion, "answers.txt", "the numbers", ON_NOTHING);
        t->outcome = NOT_RUN;
        snprintf(t->text, sizeof t->text, "%s", line);
        return;
    }
    FILE *file = fopen(path_of(given.work, "answers", path), "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%9s %79s %59s", verdict, name, got) != 3 ||
            strchr("rwm", verdict[0]) == NULL)
            continue;
        struct trial *t = trial_new(r, criterion, "answers.txt", name, ON_NOTHING);
        t->outcome = verdict[0] == 'r' ? PASSED : WRONG;
        // what is right stays here: it could be handed in the next time
        if (verdict[0] == 'w')
            snprintf(t->text, sizeof t->text, "got %s", got);
        else
            snprintf(t->text, sizeof t->text, "%s",
                     verdict[0] == 'r' ? "right" : "no number given");
    }
    if (file)
        fclose(file);
}
