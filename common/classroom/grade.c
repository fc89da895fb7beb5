/*
 * grade COURSE BUILD CHAPTER WORK REPORTS SEED USER NAME [REFUSED]: runs the programs made from a submission
 * and says what they are worth.
 *
 * WORK/root is the file system that the programs see: bin/PROGRAM-VARIANT, where VARIANT is plain, sanitized or
 * counted, and what they are linked with. WORK/said/PROGRAM has what the compiler said where there is none. The
 * programs run as USER, or as whoever we are if that is "-". REPORTS gets report.txt, report.json,
 * gradescope.json, classroom50.json and row.csv. REFUSED says why nothing can be graded. common/classroom/grade.sh
 * calls it. WORK/variant has the seed of the questions. PART in the environment names the parts that are graded,
 * unless it is all of them.
 */
#define _XOPEN_SOURCE 700  // realpath
#include "grade.h"

#include "memory.h"
#include "npy.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 4, MEMORY = 1024, FILE_SIZE = 16, MOST_WORDS = 60, PATH_ROOM = 4200 };

static struct {
    const char *course, *build, *work, *reports, *user;
    uint64_t seed;
} given;

// ---- files and programs --------------------------------------------------------------------------

static const char *path_of(const char *folder, const char *name, char path[PATH_ROOM])
{
    snprintf(path, PATH_ROOM, "%.2000s/%.2000s", folder, name);
    return path;
}

/* Up to `size` - 1 bytes of a file, without what a terminal might take for orders; "" if there is none. */
static void read_text(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, size - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = '\0';
    for (size_t k = 0; k < n; k++)
        if ((text[k] < ' ' && text[k] != '\n') || text[k] == 0x7f || (unsigned char)text[k] >= 0x80)
            text[k] = text[k] == '\t' ? ' ' : '?';
}

/* Makes WORK/root/NAME an empty folder that only we may write to. */
static void fresh_folder(const char *name, const char *const *files, bool theirs)
{
    char folder[PATH_ROOM], root[PATH_ROOM], path[PATH_ROOM];
    path_of(path_of(given.work, "root", root), name, folder);
    if (mkdir(folder, 0755) != 0 && errno != EEXIST)
        options_fail(folder, "expected a folder that can be made, found: %s", strerror(errno));
    for (size_t k = 0; files[k]; k++) {
        char file[60];
        snprintf(file, sizeof file, "%.40s.npy", files[k]);
        path_of(folder, file, path);
        if (unlink(path) != 0 && errno != ENOENT)
            options_fail(path, "expected a file that can be removed, found: %s", strerror(errno));
        FILE *empty = theirs ? fopen(path, "w") : NULL;
        if (theirs && (!empty || fclose(empty) != 0))
            options_fail(path, "expected a file that can be made, found: %s", strerror(errno));
        if (theirs && strcmp(given.user, "-") != 0) {
            const long user = strtol(given.user, NULL, 10);
            if (chown(path, (uid_t)user, (gid_t)user) != 0)
                options_fail(path, "expected to give it to user %s, found: %s", given.user,
                             strerror(errno));
        }
    }
}

/* Cuts `text` into words at blanks, and adds them to those there are. */
static size_t add_words(char **words, size_t n, char *text)
{
    for (char *word = strtok(text, " "); word && n + 1 < MOST_WORDS; word = strtok(NULL, " "))
        words[n++] = word;
    words[n] = NULL;
    return n;
}

/* Runs the words with their output thrown away; the exit status, or -1. */
static int run(char **words)
{
    const pid_t process = fork();
    int status = -1;
    if (process == 0) {
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "r", stdin) ||
            !freopen("/dev/null", "w", stderr))
            _exit(127);
        execv(words[0], words);
        _exit(127);
    }
    if (process < 0 || waitpid(process, &status, 0) != process || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

/* How a student's program ended: confine's verdict. */
static void run_student(const char *program, const char *variant, const char *options,
                        char verdict[300])
{
    char confine[PATH_ROOM], root[PATH_ROOM], errors[PATH_ROOM], ended[PATH_ROOM], text[3000],
        rest[1200], hide[PATH_ROOM];
    char *words[MOST_WORDS];
    const bool sanitized = strcmp(variant, "sanitized") == 0;
    if (!realpath(given.course, hide))
        options_fail(given.course, "expected the course's folder");
    path_of(given.build, "grader/confine", confine);
    path_of(given.work, "root", root);
    path_of(given.work, "errors", errors);
    path_of(given.work, "verdict", ended);
    unlink(errors);
    unlink(ended);
    words[0] = confine;
    char *const fixed[] = {
        "--root", root, "--hide", hide, "--errors", errors, "--verdict", ended
    };
    memcpy(words + 1, fixed, sizeof fixed);
    snprintf(text, sizeof text, "--seconds %d --file %d --tasks 1 --resident %d",
             SECONDS * (sanitized ? 3 : 1), FILE_SIZE, MEMORY);
    size_t n = add_words(words, 1 + sizeof fixed / sizeof fixed[0], text);
    char user[60], memory[60];
    snprintf(user, sizeof user, "--user %.40s", given.user);
    snprintf(memory, sizeof memory, "--memory %d", MEMORY);
    if (strcmp(given.user, "-") != 0)
        n = add_words(words, n, user);
    if (!sanitized)  // its shadow takes more than there is, and is not used
        n = add_words(words, n, memory);
    snprintf(rest, sizeof rest, "-- bin/%s-%s %s", program, variant, options);
    add_words(words, n, rest);
    run(words);
    read_text(ended, verdict, 300);
    verdict[strcspn(verdict, "\n")] = '\0';
    if (verdict[0] == '\0')
        snprintf(verdict, 300, "not started: no verdict");
}

/* Is there WORK/root/bin/PROGRAM-VARIANT? */
static bool was_built(const char *program, const char *variant)
{
    char name[200], path[PATH_ROOM];
    snprintf(name, sizeof name, "root/bin/%s-%s", program, variant);
    return access(path_of(given.work, name, path), X_OK) == 0;
}

/* Runs the stage before on the same input; the folder that has its outputs, or NULL if it cannot do it. */
static const char *run_before(const struct graded_program *program, const char *options,
                              char folder[PATH_ROOM])
{
    char path[PATH_ROOM], binary[80], words_text[3000], name[80] = "";
    char *words[MOST_WORDS];
    const char *colon = strchr(program->before, ':');
    if (strcmp(program->before, "-") == 0)
        return NULL;
    path_of(given.work, "before", folder);
    snprintf(binary, sizeof binary, "%.*s", colon ? (int)(colon - program->before) : 59,
             program->before);
    if (colon)
        snprintf(name, sizeof name, " --kernel=%s", colon + 1);
    words[0] = (char *)path_of(given.build, binary, path);
    // the same input, by its place outside; tiles are no business of those without any
    char in[PATH_ROOM], rest[1200];
    path_of(given.work, "root/in", in);
    snprintf(rest, sizeof rest, "%s", options);
    if (!colon && strstr(rest, " --br="))
        *strstr(rest, " --br=") = '\0';
    if (strstr(rest, " --dtype="))  // the numbers are rounded already
        *strstr(rest, " --dtype=") = '\0';
    size_t used = 0;
    for (const char *from = rest; *from && used + strlen(in) + 2 < sizeof words_text;) {
        if (strncmp(from, "=in/", 4) == 0) {
            used += (size_t)snprintf(words_text + used, sizeof words_text - used, "=%.1000s/", in);
            from += 4;
        } else {
            words_text[used++] = *from++;
        }
    }
    words_text[used] = '\0';
    char outputs[PATH_ROOM * 2];
    if (program->kind == OF_ROWS)
        snprintf(outputs, sizeof outputs, "--input=%.1000s/x.npy --output=%.1000s/y.npy", in,
                 folder);
    else if (program->kind == OF_BACKWARD)
        snprintf(outputs, sizeof outputs,
                 "--dq=%.1000s/dq.npy --dk=%.1000s/dk.npy --dv=%.1000s/dv.npy", folder, folder,
                 folder);
    else
        snprintf(outputs, sizeof outputs, "--output=%.1000s/o.npy", folder);
    char quiet[] = "--quiet";
    size_t n = add_words(words, 1, quiet);
    n = add_words(words, n, words_text);
    n = add_words(words, n, outputs);
    add_words(words, n, name);
    const int status = run(words);
    return status == 0 || status == 1 ? folder : NULL;
}

// ---- one trial -----------------------------------------------------------------------------------

static struct trial *trial_new(struct report *r, size_t criterion, const char *program,
                               const char *name, const char *reread)
{
    if (r->trial_count == MOST_TRIALS)
        options_fail("trials", "expected at most %d", MOST_TRIALS);
    struct trial *t = &r->trials[r->trial_count++];
    *t = (struct trial){ .criterion = criterion };
    snprintf(t->program, sizeof t->program, "%s", program);
    snprintf(t->name, sizeof t->name, "%s", name);
    snprintf(t->reread, sizeof t->reread, "%s", reread);
    return t;
}

static const char *signal_text(const char *verdict, char *text, size_t size)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {
        { 4, "an illegal instruction" },     { 6, "abort()" }, { 7, "a bus error" },
        { 8, "a division by zero" },         { 9, "a kill" },  { 11, "a segmentation fault" },
        { 25, "a file that grew too large" }
    };
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

/* printf would give NaN a sign that means nothing. */
static const char *number_text(double x, char text[40])
{
    if (isnan(x))
        snprintf(text, 40, "NaN");
    else
        snprintf(text, 40, "%.9g", x);
    return text;
}

static void describe(struct trial *t, const struct finding *f)
{
    char got[40], expected[40], error[60] = "";
    if (f->unlike[0]) {
        snprintf(t->text, sizeof t->text, "%s", f->unlike);
        return;
    }
    if (!f->missing && !isnan(f->error))
        snprintf(error, sizeof error, "; the largest error is %.2e", f->error);
    snprintf(t->text, sizeof t->text, "%s at %s: %s%s, expected %s%s", f->array ? f->array : "-",
             f->place, f->missing ? "never written" : "got ",
             f->missing ? "" : number_text(f->got, got), number_text(f->expected, expected), error);
}

/* Prepares in/ and out/, runs the program and returns how it ended. */
static void run_case(const struct graded_program *program, const struct test_case *c,
                     const struct case_input *in, const char *variant, char *options, size_t size,
                     char verdict[300])
{
    static const char *const inputs[] = { "x",  "states", "q",   "k", "v", "mask",
                                          "do", "o",      "lse", "m", "l", NULL };
    static const char *const outputs[] = { "y", "o", "lse", "dq", "dk", "dv", "counts", NULL };
    char folder[PATH_ROOM];
    fresh_folder("in", inputs, false);
    fresh_folder("out", outputs, true);
    case_input_write(program, c, in, path_of(given.work, "root/in", folder));
    case_options(program, c, options, size);
    if (c->in_place)
        snprintf(options, size, "--in-place");
    run_student(program->name, variant, options, verdict);
}

/* Is there something in out/? A program that ended in silence has written nothing. */
static bool has_output(enum kind kind)
{
    struct stat there;
    char name[60], path[PATH_ROOM];
    snprintf(name, sizeof name, "root/out/%s.npy", outputs_of(kind)[0]);
    return stat(path_of(given.work, name, path), &there) == 0 && there.st_size > 0;
}

// ---- a program -----------------------------------------------------------------------------------

static void not_built(struct report *r, size_t criterion, const struct graded_program *program)
{
    char name[100], path[PATH_ROOM];
    struct trial *t = trial_new(r, criterion, program->name, "the file compiles", "");
    snprintf(name, sizeof name, "said/%s", program->name);
    t->outcome = NOT_RUN;
    read_text(path_of(given.work, name, path), t->text, sizeof t->text);
    if (t->text[0] == '\0')
        snprintf(t->text, sizeof t->text, "%s: not in the submission", program->file);
}

/* Every case of the program. */
static void try_output(struct report *r, size_t criterion, const struct graded_program *program)
{
    struct test_case cases[MOST_CASES];
    const size_t n = cases_of(r->assignment, program, cases);
    bool hopeless = false;
    if (!was_built(program->name, "plain")) {
        not_built(r, criterion, program);
        return;
    }
    for (size_t k = 0; k < n; k++) {
        struct trial *t = trial_new(r, criterion, program->name, cases[k].name, cases[k].reread);
        char options[1200], verdict[300], folder[PATH_ROOM], out[PATH_ROOM];
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

static void try_sanitized(struct report *r, size_t criterion, const struct graded_program *program)
{
    struct test_case cases[MOST_CASES];
    const size_t n = cases_of(r->assignment, program, cases);
    if (!was_built(program->name, "sanitized")) {
        not_built(r, criterion, program);
        return;
    }
    for (size_t k = 0; k < n && k < 2; k++) {
        struct trial *t = trial_new(r, criterion, program->name, cases[k].name,
                                    "common/classroom/grading.md: what a sanitizer's report says");
        char options[1200], verdict[300];
        struct case_input in = case_input_new(program, &cases[k], given.seed + 100 + k);
        run_case(program, &cases[k], &in, "sanitized", options, sizeof options, verdict);
        if (ended_badly(t, verdict))
            sanitizer_text(t);
        else if (!has_output(program->kind)) {
            t->outcome = NO_OUTPUT;
            snprintf(t->text, sizeof t->text, "it ended by itself and has written no output");
        } else {
            sanitizer_text(t);
            if (t->outcome == PASSED)
                snprintf(t->text, sizeof t->text, "no report");
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

/* Says whether the output of a counted run is right, for a part that has no points for it. */
static bool has_right_output(struct trial *t, const struct graded_program *program,
                             const struct test_case *c, const struct case_input *in)
{
    char out[PATH_ROOM];
    if (!has_output(program->kind))
        return true;  // it has no counts either
    t->finding = judge(program, c, in, path_of(given.work, "root/out", out), NULL);
    if (!t->finding.right) {
        t->outcome = WRONG;
        describe(t, &t->finding);
    }
    return t->finding.right;
}

static bool has_points_for_output(const struct report *r, const char *part)
{
    for (size_t k = 0; k < r->assignment->criterion_count; k++)
        if (r->assignment->criteria[k].kind == OUTPUT &&
            strcmp(r->assignment->criteria[k].part, part) == 0)
            return true;
    return false;
}

static void try_counts(struct report *r, size_t criterion, const struct graded_program *program)
{
    struct test_case cases[MOST_CASES];
    cases_of(r->assignment, program, cases);
    const struct test_case *c = &cases[1];
    char model[60], options[1200], verdict[300];
    double right[2] = { 0, 0 }, counted[2] = { 0, 0 };
    if (!was_built(program->name, "counted")) {
        not_built(r, criterion, program);
        return;
    }
    struct trial *t = trial_new(r, criterion, program->name, c->name, "the chapter's Count it");
    struct case_input in = case_input_new(program, c, given.seed + 200);
    struct graded_program of_course = *program;
    snprintf(model, sizeof model, "%.30s-course", program->name);
    snprintf(of_course.name, sizeof of_course.name, "%.39s", model);
    run_case(&of_course, c, &in, "counted", options, sizeof options, verdict);
    if (!counts_of(right))
        options_fail(model, "expected counts from the course's own program, found: %s", verdict);
    run_case(program, c, &in, "counted", options, sizeof options, verdict);
    const bool ended = !ended_badly(t, verdict);
    if (ended &&
        (has_points_for_output(r, program->part) || has_right_output(t, program, c, &in))) {
        const bool there = counts_of(counted);
        const bool enough =
            program->kind == OF_TENSOR ? counted[0] <= right[0] : counted[0] == right[0];
        t->outcome = !there ? NO_OUTPUT : enough && counted[1] == right[1] ? PASSED : WRONG;
        if (there)
            snprintf(t->text, sizeof t->text, count_formats[program->kind == OF_TENSOR], counted[0],
                     counted[1], right[0], right[1]);
        else
            snprintf(t->text, sizeof t->text, "it ended without counts");
    }
    case_input_free(&in);
}

/* The numbers of answers.txt, which grade.sh has held against the right ones: WORK/answers. */
static void try_numbers(struct report *r, size_t criterion)
{
    char path[PATH_ROOM], line[300], verdict[10], name[80], got[60];
    FILE *file = fopen(path_of(given.work, "answers", path), "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%9s %79s %59s", verdict, name, got) != 3 ||
            strchr("rwm", verdict[0]) == NULL)
            continue;
        struct trial *t = trial_new(r, criterion, "answers.txt", name, "");
        t->outcome = verdict[0] == 'r' ? PASSED : verdict[0] == 'w' ? WRONG : NO_OUTPUT;
        // what is right stays here: it could be handed in the next time
        if (verdict[0] == 'w')
            snprintf(t->text, sizeof t->text, "got %s", got);
        else
            snprintf(t->text, sizeof t->text, "%s",
                     verdict[0] == 'r' ? "right" : "there is no such line");
    }
    if (file)
        fclose(file);
}

// ---- all of it -----------------------------------------------------------------------------------

/* How many of a part's output trials were right, and of how many. */
static void output_of_part(const struct report *r, const char *part, size_t *passed, size_t *tried)
{
    *passed = *tried = 0;
    for (size_t k = 0; k < r->trial_count; k++) {
        const struct criterion *c = &r->assignment->criteria[r->trials[k].criterion];
        if (c->kind != OUTPUT || strcmp(c->part, part) != 0)
            continue;
        ++*tried;
        *passed += r->trials[k].outcome == PASSED;
    }
}

/*
 * An output criterion earns its share, in whole points, rounded down. Counts and sanitizers earn all or nothing,
 * and nothing where most outputs are wrong: a function that does nothing does nothing wrong.
 */
static void give_points(struct report *r, struct assignment *a)
{
    for (size_t k = 0; k < r->trial_count; k++) {
        struct criterion *c = &a->criteria[r->trials[k].criterion];
        c->cases++;
        c->passed += r->trials[k].outcome == PASSED;
    }
    for (size_t k = 0; k < a->criterion_count; k++) {
        struct criterion *c = &a->criteria[k];
        size_t passed, tried;
        output_of_part(r, c->part, &passed, &tried);
        if ((c->kind == OUTPUT || c->kind == NUMBERS) && c->cases > 0)
            c->earned = (int)((size_t)c->points * c->passed / c->cases);
        else if (c->kind != ELSEWHERE && c->cases > 0 && c->passed == c->cases &&
                 (2 * passed > tried || (tried == 0 && !has_points_for_output(r, c->part))))
            c->earned = c->points;
    }
}

static void write_report(const struct report *r, const char *name,
                         void (*write)(const struct report *, FILE *))
{
    char path[PATH_ROOM];
    FILE *file = fopen(path_of(given.reports, name, path), "w");
    if (!file)
        options_fail(path, "expected a file that can be written, found: %s", strerror(errno));
    write(r, file);
    if (fclose(file) != 0)
        options_fail(path, "expected a file that can be written, found: %s", strerror(errno));
}

static void write_row(const struct report *r, FILE *file)
{
    grade_row(r, true, file);
    grade_row(r, false, file);
}

int main(int argc, char **argv)
{
    static const struct program program = { .name = "grade" };
    static struct report report;
    options_program(&program, argv[0]);
    if (argc != 9 && argc != 10)
        options_fail("usage", "grade COURSE BUILD CHAPTER WORK REPORTS SEED USER NAME [REFUSED]");
    char *end;
    given.course = argv[1];
    given.build = argv[2];
    given.work = argv[4];
    given.reports = argv[5];
    given.seed = strtoull(argv[6], &end, 10);
    given.user = argv[7];
    if (*end || end == argv[6])
        options_fail("SEED", "expected a whole number, found '%s'", argv[6]);
    struct assignment a = assignment_load(given.course, argv[3], getenv("PART"));
    report.assignment = &a;
    report.seed = given.seed;
    snprintf(report.name, sizeof report.name, "%s", argv[8]);
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
    write_report(&report, "report.txt", grade_text);
    write_report(&report, "report.json", grade_neutral);
    write_report(&report, "gradescope.json", grade_gradescope);
    write_report(&report, "classroom50.json", grade_classroom50);
    write_report(&report, "row.csv", write_row);
    return 0;
}
