#define _XOPEN_SOURCE 700  // realpath
#include "common/classroom/grader/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_SIZE = 16, MOST_WORDS = 60 };

struct grading given;

const char *path_of(const char *folder, const char *name, char path[PATH_ROOM])
{
    snprintf(path, PATH_ROOM, "%.2000s/%.2000s", folder, name);
    return path;
}

void read_text(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, size - 1, file) : 0;
    if (file)
        fclose(file);
    while (n > 0 && text[n - 1] == '\n')
        n--;
    text[n] = '\0';
    for (size_t k = 0; k < n; k++)
        if ((text[k] < ' ' && text[k] != '\n') || text[k] == 0x7f || (unsigned char)text[k] >= 0x80)
            text[k] = text[k] == '\t' ? ' ' : '?';
}

/*
 * Removes what a program of our own user has put in the place of a folder or a file: by a link we would read, or write,
 * what is not its own.
 */
static void remove_link(const char *path, bool of_folder)
{
    struct stat there;
    if (lstat(path, &there) == 0 &&
        (of_folder ? !S_ISDIR(there.st_mode) : !S_ISREG(there.st_mode) || there.st_nlink > 1) &&
        unlink(path) != 0)
        options_fail(path, "expected a link that can be removed, found: %s", strerror(errno));
}

/* Makes WORK/NAME an empty folder that only we may write to. */
static void fresh_folder(const char *name, const char *const *files, bool theirs)
{
    char folder[PATH_ROOM], path[PATH_ROOM];
    remove_link(path_of(given.work, name, folder), true);
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

/* Runs the words in a folder, or where we are, with their output thrown away; the exit status, or -1. */
static int run(const char *folder, char **words)
{
    const pid_t process = fork();
    int status = -1;
    if (process == 0) {
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "r", stdin) ||
            !freopen("/dev/null", "w", stderr) || (folder && chdir(folder) != 0))
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
    run(NULL, words);
    read_text(ended, verdict, 300);
    verdict[strcspn(verdict, "\n")] = '\0';
    if (verdict[0] == '\0')
        snprintf(verdict, 300, "not started: no verdict");
    if (strncmp(verdict, "not started", 11) ==
        0)  // that is this machine's fault, not the student's
        options_fail(program, "expected to run it here, found: %s", verdict);
}

bool was_built(const char *program, const char *variant)
{
    char name[200], path[PATH_ROOM];
    snprintf(name, sizeof name, "root/bin/%s-%s", program, variant);
    return access(path_of(given.work, name, path), X_OK) == 0;
}

const char *run_before(const struct graded_program *program, const char *options,
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
        snprintf(name, sizeof name, " --step=%s", colon + 1);
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
    const int status = run(NULL, words);
    return status == 0 || status == 1 ? folder : NULL;
}

/* The course's own program on what a submission gets, but not where that could find it. */
static void run_course(const struct graded_program *program, char *options, char verdict[300])
{
    char name[200], path[PATH_ROOM], build[PATH_ROOM], root[PATH_ROOM];
    char *words[MOST_WORDS];
    if (!realpath(given.build, build))
        options_fail(given.build, "expected a folder of what is built");
    snprintf(name, sizeof name, "grader/plain/%s-%s-counted-course", given.number, program->name);
    words[0] = (char *)path_of(build, name, path);
    add_words(words, 1, options);
    snprintf(verdict, 300, "exited %d", run(path_of(given.work, "root", root), words));
}

static const char *const inputs[] = { "x",  "states", "q",   "k", "v", "mask",
                                      "do", "o",      "lse", "m", "l", NULL };
static const char *const outputs[] = { "y", "o", "lse", "dq", "dk", "dv", "counts", NULL };

void run_case(const struct graded_program *program, const struct test_case *c,
              const struct case_input *in, const char *variant, char *options, size_t size,
              char verdict[300])
{
    char folder[PATH_ROOM];
    fresh_folder("root/in", inputs, false);
    fresh_folder("root/out", outputs, true);
    case_input_write(program, c, in, path_of(given.work, "root/in", folder));
    case_options(program, c, options, size);
    if (c->in_place)
        snprintf(options, size, "--in-place");
    if (strcmp(variant, "course") == 0) {
        run_course(program, options, verdict);
        return;
    }
    run_student(program->name, variant, options, verdict);
    remove_link(path_of(given.work, "root/out", folder), true);
    for (const char *const *name = outputs; *name; name++) {
        char file[60], path[PATH_ROOM];
        snprintf(file, sizeof file, "%.40s.npy", *name);
        remove_link(path_of(folder, file, path), false);
    }
}

bool has_output(enum kind kind)
{
    struct stat there;
    char name[60], path[PATH_ROOM];
    snprintf(name, sizeof name, "root/out/%s.npy", outputs_of(kind)[0]);
    return stat(path_of(given.work, name, path), &there) == 0 && there.st_size > 0;
}
