/*
 * What came of a grading: for a reader, and as JSON for tools, in a form of our own and in those of Gradescope
 * and Classroom 50. common/classroom/pages/grading.md describes them.
 */
#include "common/classroom/grader/grade.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const outcomes[] = { "right",    "wrong",     "crashed",
                                        "too slow", "no output", "not run" };

int grade_points(const struct report *r, bool earned)
{
    int sum = 0;
    for (size_t k = 0; k < r->assignment->criterion_count; k++) {
        const struct criterion *c = &r->assignment->criteria[k];
        if (c->kind != ELSEWHERE)
            sum += earned ? c->earned : c->points;
    }
    return sum;
}

static bool is_full(const struct criterion *c)
{
    return c->cases > 0 && c->passed == c->cases && c->earned == c->points;
}

/* What is said of a criterion that somebody or something else looks at. */
static const char *elsewhere(const struct criterion *c)
{
    return strcmp(c->word, "mutants") == 0 ? "make grade-tests says"
           : strcmp(c->word, "hand") == 0  ? "a person marks it"
                                           : "not by this program";
}

/* Bytes of the character at `c` if it is UTF-8, else 0. */
static size_t utf8_length(const unsigned char *c)
{
    const size_t n = *c < 0x80 ? 1 : *c >> 5 == 6 ? 2 : *c >> 4 == 14 ? 3 : *c >> 3 == 30 ? 4 : 0;
    for (size_t k = 1; k < n; k++)
        if (c[k] >> 6 != 2)
            return 0;
    // forms that are longer than need be, surrogates, and what is beyond the last character
    if (*c == 0xc0 || *c == 0xc1 || (*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] >= 0xa0) ||
        (*c == 0xf0 && c[1] < 0x90) || (*c == 0xf4 && c[1] >= 0x90) || *c > 0xf4)
        return 0;
    return n;
}

/* A character as it is, or '?' for a byte that is none; returns where the next one begins. */
static const char *put_character(FILE *file, const char *c)
{
    const size_t n = utf8_length((const unsigned char *)c);
    fprintf(file, "%.*s", n ? (int)n : 1, n ? c : "?");
    return c + (n ? n : 1);
}

/* Why a criterion has fewer points than its trials alone would say; "" if it has not. */
static const char *reason(const struct report *r, const struct criterion *c, char text[500])
{
    text[0] = '\0';
    if (r->refused[0])
        snprintf(text, 500, "nothing was graded: %s", r->refused);
    else if (c->cases > 0 && c->passed == c->cases && c->earned < c->points)
        snprintf(text, 500, "no points for it while most outputs of %s are wrong", c->part);
    else if (c->core_passed < c->core_cases)
        snprintf(text, 500,
                 "it earns the share of the cases that %s is about: %zu of %zu are right", c->part,
                 c->core_passed, c->core_cases);
    return text;
}

// ---- for a reader --------------------------------------------------------------------------------

static void indented(FILE *file, const char *text)
{
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        fprintf(file, "        %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void text_of_trial(const struct trial *t, FILE *file)
{
    if (t->outcome == PASSED) {
        fprintf(file, "    ok     %s, %s\n", t->program, t->name);
        return;
    }
    fprintf(file, "    WRONG  %s, %s: %s\n", t->program, t->name, outcomes[t->outcome]);
    indented(file, t->text);
    if (t->reread[0] && t->outcome == WRONG)
        fprintf(file, "        read again: %s\n", t->reread);
}

void grade_text(const struct report *r, FILE *file)
{
    fprintf(file, "%s: %s\n", r->assignment->chapter, r->name);
    fprintf(file, "%d of %d points, seed %llu\n", grade_points(r, true), grade_points(r, false),
            (unsigned long long)r->seed);
    if (r->variant[0] && strcmp(r->variant, "0") != 0)
        fprintf(file, "questions as SEED=%s has them\n", r->variant);
    if (r->refused[0])
        fprintf(file, "\nNothing was graded: %s\n", r->refused);
    for (size_t k = 0; k < r->assignment->criterion_count; k++) {
        const struct criterion *c = &r->assignment->criteria[k];
        char why[500];
        if (c->kind == ELSEWHERE) {
            fprintf(file, "\n%s, %s: %d points, %s\n", c->part, c->word, c->points, elsewhere(c));
            continue;
        }
        fprintf(file, "\n%s, %s: %d of %d points, %zu of %zu right\n", c->part, c->word, c->earned,
                c->points, c->passed, c->cases);
        for (size_t n = 0; n < r->trial_count; n++)
            if (r->trials[n].criterion == k)
                text_of_trial(&r->trials[n], file);
        if (!r->refused[0] && reason(r, c, why)[0])
            fprintf(file, "        %s\n", why);
    }
}

// ---- JSON ----------------------------------------------------------------------------------------

static void quoted(FILE *file, const char *text)
{
    putc('"', file);
    while (*text) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            putc('\\', file);
        if (c >= ' ' && c != 0x7f) {
            text = put_character(file, text);
            continue;
        }
        text++;
        if (c == '\n')
            fputs("\\n", file);
        else
            fprintf(file, "\\u%04x", c);
    }
    putc('"', file);
}

static void member(FILE *file, const char *name, const char *text, const char *end)
{
    fprintf(file, "\"%s\": ", name);
    quoted(file, text);
    fputs(end, file);
}

/* JSON has neither NaN nor infinities: they are text. */
static void number(FILE *file, const char *name, double x, const char *end)
{
    fprintf(file, "\"%s\": ", name);
    if (isfinite(x))
        fprintf(file, "%.9g", x);
    else
        quoted(file, isnan(x) ? "NaN" : x > 0.0 ? "inf" : "-inf");
    fputs(end, file);
}

static void neutral_trial(const struct trial *t, FILE *file)
{
    const struct finding *f = &t->finding;
    fputs("        { ", file);
    member(file, "program", t->program, ", ");
    member(file, "case", t->name, ", ");
    member(file, "outcome", outcomes[t->outcome], ",\n          ");
    if (f->array) {
        member(file, "array", f->array, ", ");
        member(file, "place", f->place, ", ");
        number(file, "got", f->got, ", ");
        number(file, "expected", f->expected, ", ");
        number(file, "largest_error", f->error, ",\n          ");
    }
    if (f->has_before)
        number(file, "stage_before", f->before, ", ");
    if (t->outcome == WRONG)
        member(file, "reread", t->reread, ", ");
    member(file, "text", t->text, " }");
}

void grade_neutral(const struct report *r, FILE *file)
{
    const struct assignment *a = r->assignment;
    fputs("{\n  \"schema\": \"course/report/v1\",\n  ", file);
    member(file, "chapter", a->chapter, ",\n  ");
    member(file, "submission", r->name, ",\n  ");
    fprintf(file, "\"seed\": %llu,\n  \"earned\": %d,\n  \"points\": %d,\n  ",
            (unsigned long long)r->seed, grade_points(r, true), grade_points(r, false));
    member(file, "variant", r->variant, ",\n  ");
    member(file, "refused", r->refused, ",\n  \"criteria\": [\n");
    for (size_t k = 0; k < a->criterion_count; k++) {
        const struct criterion *c = &a->criteria[k];
        bool first = true;
        char why[500];
        fputs("    { ", file);
        member(file, "part", c->part, ", ");
        member(file, "criterion", c->word, ", ");
        fprintf(file, "\"points\": %d, ", c->points);
        if (c->kind != ELSEWHERE)
            fprintf(file, "\"earned\": %d, ", c->earned);
        if (c->kind != ELSEWHERE)
            member(file, "reason", reason(r, c, why), ", ");
        fputs("\"trials\": [", file);
        for (size_t n = 0; n < r->trial_count; n++) {
            if (r->trials[n].criterion != k)
                continue;
            fputs(first ? "\n" : ",\n", file);
            first = false;
            neutral_trial(&r->trials[n], file);
        }
        fprintf(file, "] }%s\n", k + 1 < a->criterion_count ? "," : "");
    }
    fputs("  ]\n}\n", file);
}

/* The lines of a criterion's trials and the reason for its points, as one string. */
static void quoted_trials(const struct report *r, size_t criterion, FILE *file)
{
    static char text[MOST_TRIALS * 900 + 500];
    char why[500];
    size_t n = 0;
    text[0] = '\0';
    for (size_t k = 0; k < r->trial_count; k++) {
        const struct trial *t = &r->trials[k];
        if (t->criterion != criterion)
            continue;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s, %s: %s%s%s%s%s\n", t->program,
                              t->name, outcomes[t->outcome], t->outcome == PASSED ? "" : ": ",
                              t->outcome == PASSED ? "" : t->text,
                              t->outcome == WRONG && t->reread[0] ? "; read again: " : "",
                              t->outcome == WRONG ? t->reread : "");
    }
    snprintf(text + n, sizeof text - n, "%s", reason(r, &r->assignment->criteria[criterion], why));
    quoted(file, text);
}

/* The beginning of what a service learns of a criterion: its name under this key. False: it learns nothing of it. */
static bool test_begins(const struct criterion *c, const char *key, bool *first, FILE *file)
{
    char text[100];
    if (c->kind == ELSEWHERE)
        return false;
    snprintf(text, sizeof text, "%s: %s", c->part, c->word);
    fputs(*first ? "    { " : ",\n    { ", file);
    *first = false;
    member(file, key, text, ", ");
    return true;
}

void grade_gradescope(const struct report *r, FILE *file)
{
    const struct assignment *a = r->assignment;
    bool first = true;
    fprintf(file,
            "{\n  \"score\": %d,\n  \"visibility\": \"visible\",\n"
            "  \"stdout_visibility\": \"hidden\",\n  ",
            grade_points(r, true));
    member(file, "output", r->refused, ",\n  \"tests\": [\n");
    for (size_t k = 0; k < a->criterion_count; k++) {
        const struct criterion *c = &a->criteria[k];
        if (!test_begins(c, "name", &first, file))
            continue;
        fprintf(file, "\"score\": %d, \"max_score\": %d, \"status\": \"%s\",\n      \"output\": ",
                c->earned, c->points, is_full(c) ? "passed" : "failed");
        quoted_trials(r, k, file);
        fputs(" }", file);
    }
    fputs("\n  ]\n}\n", file);
}

/* What the runner of Classroom 50 has put into the environment; where it has not, a stand-in that is no lie. */
static const char *from_runner(const char *name, const char *otherwise)
{
    const char *text = getenv(name);
    return text && *text ? text : otherwise;
}

void grade_classroom50(const struct report *r, FILE *file)
{
    const struct assignment *a = r->assignment;
    const char *commit = from_runner("COMMIT_URL", "none");
    char when[40] = "";
    const time_t now = time(NULL);
    const struct tm *utc = gmtime(&now);
    bool first = true;
    if (utc)
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", utc);
    fputs("{\n  \"schema\": \"classroom50/result/v1\",\n  ", file);
    member(file, "classroom", from_runner("CLASSROOM", "none"), ",\n  ");
    member(file, "assignment", from_runner("ASSIGNMENT", a->chapter), ",\n  ");
    member(file, "assignment_type", from_runner("ASSIGNMENT_TYPE", "individual"), ",\n  ");
    member(file, "owner", from_runner("OWNER", from_runner("USERNAME", r->name)), ",\n  ");
    member(file, "submission", from_runner("SUBMISSION_TAG", "submit/none"), ",\n  ");
    member(file, "commit", commit, ",\n  ");
    member(file, "release", from_runner("RELEASE_URL", "none"), ",\n  ");
    member(file, "review", from_runner("REVIEW_URL", commit), ",\n  ");
    member(file, "datetime", when, ",\n  ");
    fprintf(file, "\"score\": %d,\n  \"max-score\": %d,\n  \"tests\": [\n", grade_points(r, true),
            grade_points(r, false));
    for (size_t k = 0; k < a->criterion_count; k++) {
        const struct criterion *c = &a->criteria[k];
        if (!test_begins(c, "test-name", &first, file))
            continue;
        fprintf(file, "\"passed\": %s, \"score\": %d, \"max-score\": %d,\n      \"output\": ",
                is_full(c) ? "true" : "false", c->earned, c->points);
        quoted_trials(r, k, file);
        fputs(" }", file);
    }
    fputs("\n  ]\n}\n", file);
}

// ---- a line for a class --------------------------------------------------------------------------

static void comma_separated(FILE *file, const char *text)
{
    putc('"', file);
    // a name that begins like a formula must not become one in a spreadsheet
    if (strchr("=+-@", text[0]) && text[0])
        putc('\'', file);
    while (*text) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"')
            putc('"', file);
        if (c >= ' ' && c != 0x7f) {
            text = put_character(file, text);
        } else {
            putc(' ', file);
            text++;
        }
    }
    putc('"', file);
}

/* Of each criterion that earned nothing why, and each reason once. */
static void note_of(const struct report *r, char *note, size_t size)
{
    snprintf(note, size, "%s", r->refused);
    for (size_t k = 0; k < r->assignment->criterion_count && !r->refused[0]; k++) {
        const struct criterion *c = &r->assignment->criteria[k];
        const struct trial *t = r->trials, *const end = r->trials + r->trial_count;
        char why[500], text[1200];
        const size_t n = strlen(note);
        if (c->kind == ELSEWHERE || c->earned > 0 || c->points == 0)
            continue;
        while (t < end && (t->criterion != k || t->outcome == PASSED))
            t++;
        if (t == end)
            snprintf(text, sizeof text, "%s: %s", c->part, reason(r, c, why));
        else if (t->outcome == NOT_RUN)
            snprintf(text, sizeof text, "%s: %s", c->part, t->text);
        else
            snprintf(text, sizeof text, "%s: %s: %s, %s", c->part, t->name, outcomes[t->outcome],
                     t->text);
        if (!strstr(note, text))
            snprintf(note + n, size - n, "%s%s", n ? "; " : "", text);
    }
}

void grade_row(const struct report *r, bool heading, FILE *file)
{
    const struct assignment *a = r->assignment;
    char note[4000];
    if (heading)
        fputs("submission", file);
    else
        comma_separated(file, r->name);
    for (size_t k = 0; k < a->criterion_count; k++)
        if (a->criteria[k].kind != ELSEWHERE && heading)
            fprintf(file, ",%s %s", a->criteria[k].part, a->criteria[k].word);
        else if (a->criteria[k].kind != ELSEWHERE)
            fprintf(file, ",%d", a->criteria[k].earned);
    if (heading) {
        fputs(",earned,points,seed,variant,note\n", file);
        return;
    }
    fprintf(file, ",%d,%d,%llu,%s,", grade_points(r, true), grade_points(r, false),
            (unsigned long long)r->seed, r->variant);
    note_of(r, note, sizeof note);
    comma_separated(file, note);
    putc('\n', file);
}
