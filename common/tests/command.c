#define _XOPEN_SOURCE 700
#define _DARWIN_C_SOURCE  // for mkdtemp on macOS
#include "common/tests/command.h"

#include "common/tests/test.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

bool command_is_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__)
    return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    return true;
#else
    return false;
#endif
#else
    return false;
#endif
}

static char folder[200];
static pid_t owner;

static void fail(const char *what)
{
    perror(what);
    exit(3);
}

static void remove_folder(void)
{
    char words[500];
    snprintf(words, sizeof words, "chmod -R u+rwx '%s'; rm -rf '%s'", folder, folder);
    if (getpid() == owner && system(words) != 0)
        fprintf(stderr, "could not remove %s\n", folder);
}

const char *command_folder(void)
{
    if (!*folder) {
        const char *tmp = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/course.XXXXXX", tmp ? tmp : "/tmp");
        if (!mkdtemp(folder))
            fail(folder);
        owner = getpid();
        atexit(remove_folder);
    }
    return folder;
}

static void path_of(const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", command_folder(), name);
}

static void slurp(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail(path);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

struct command command_run(const char *words)
{
    static unsigned runs;
    struct command result;
    char line[4000] = "", out[300], err[300];
    for (const char *w = words; *w; w++) {
        const size_t used = strlen(line);
        if (*w == '@')
            snprintf(line + used, sizeof line - used, "%s", command_folder());
        else
            snprintf(line + used, sizeof line - used, "%c", *w);
    }
    snprintf(out, sizeof out, "%s.out%u", command_folder(), runs);  // next to the folder, not in it
    snprintf(err, sizeof err, "%s.err%u", command_folder(), runs++);
    const size_t used = strlen(line);
    char whole[5000];
    snprintf(whole, sizeof whole, "{ %.*s; } </dev/null >%s 2>%s", (int)used, line, out, err);
    const int status = system(whole);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    slurp(out, result.out, sizeof result.out);
    slurp(err, result.err, sizeof result.err);
    remove(out);
    remove(err);
    return result;
}

struct command program_run(const char *program, const char *arguments)
{
    char words[1000];
    snprintf(words, sizeof words, "${BUILD:-build}/%s %s", program, arguments);
    return command_run(words);
}

struct command command_child(void (*work)(void *with), void *with)
{
    struct command c = { 0 };
    int ends[2], status = 0;
    fflush(NULL);
    cr_assert(pipe(ends) == 0, "no pipe");
    const pid_t child = fork();
    cr_assert(child >= 0, "no child");
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        work(with);
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; (got = read(ends[0], c.err + used, sizeof c.err - 1 - used)) > 0;)
        used += (size_t)got;
    close(ends[0]);
    cr_assert(waitpid(child, &status, 0) == child, "the child is lost");
    c.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return c;
}

void child_aborts(void (*work)(void *with), void *with, const char *part)
{
    const struct command c = command_child(work, with);
    cr_assert(c.status == 128 + SIGABRT && is_one_line_with(c.err, part),
              "expected an abort and one line with \"%s\", found status %d: %s", part, c.status,
              c.err);
}

bool is_one_line_with(const char *text, const char *part)
{
    const size_t length = strlen(text);
    if (length < 2 || text[length - 1] != '\n' || !strstr(text, part))
        return false;
    for (size_t k = 0; k + 1 < length; k++)
        if ((unsigned char)text[k] < ' ' || text[k] == 127)
            return false;
    return true;
}

const char *missing_part(const char *text, const char *const parts[])
{
    for (; *parts; parts++) {
        text = strstr(text, *parts);
        if (!text)
            return *parts;
        text += strlen(*parts);
    }
    return NULL;
}

void command_file(const char *name, const void *content, unsigned bytes)
{
    char path[300];
    path_of(name, path, sizeof path);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(content, 1, bytes, file) != bytes || fclose(file) != 0)
        fail(path);
}

void command_text(const char *name, const char *text)
{
    command_file(name, text, (unsigned)strlen(text));
}

void command_script(const char *name, const char *text)
{
    char path[300];
    path_of(name, path, sizeof path);
    command_text(name, text);
    if (chmod(path, 0755) != 0)
        fail(path);
}

void command_array(const char *name, enum npy_type type, int dims, const size_t *shape,
                   const void *data)
{
    char path[300];
    struct file_error error;
    path_of(name, path, sizeof path);
    if (!npy_write(path, type, dims, shape, data, &error)) {
        fprintf(stderr, "%s: %s\n", path, error.text);
        exit(3);
    }
}

void command_zeros(const char *name, enum npy_type type, int dims, const size_t *shape)
{
    size_t n = 1;
    for (int k = 0; k < dims; k++)
        n *= shape[k];
    void *x = calloc(n, sizeof(double));
    cr_assert(x, "out of memory");
    command_array(name, type, dims, shape, x);
    free(x);
}

void script_prints(const char *words, int status, const char *const parts[])
{
    const struct command c = command_run(words);
    const char *const missing = missing_part(c.out, parts);
    cr_assert(c.status == status && !missing,
              "%s: status %d, expected %d and %s in its place in: %s%s", words, c.status, status,
              missing ? missing : "all", c.out, c.err);
}

void script_refuses(const char *words, const char *part)
{
    const struct command c = command_run(words);
    cr_assert(c.status == 2 && is_one_line_with(c.err, part),
              "%s: status %d, expected 2 and \"%s\": %s", words, c.status, part, c.err);
}

void command_refused(const char *program, const char *arguments, const char *part)
{
    const int before = command_files();
    const struct command c = program_run(program, arguments);
    cr_assert(c.status == 2, "%s: status %d, expected 2; it said: %s", arguments, c.status, c.err);
    cr_assert(strncmp(c.err, program, strlen(program)) == 0 && is_one_line_with(c.err, part),
              "%s: expected one line with \"%s\", it said: %s", arguments, part, c.err);
    cr_assert(command_files() == before, "%s: left a file behind", arguments);
}

void command_outputs(const char *program, const char *const modes[], const char *const outputs[])
{
    char words[1000];
    for (const char *const *mode = modes; *mode; mode++)
        for (const char *const *output = outputs; *output; output++) {
            snprintf(words, sizeof words, "rm -f @/x; ${BUILD:-build}/%s %s %s @/x", program, *mode,
                     *output);
            const struct command c = command_run(words);
            const bool refused = c.status == 2 && is_one_line_with(c.err, program);
            cr_assert(command_made("x") ? c.status == 0 : refused, "%s: status %d, %s file: %s",
                      words, c.status, command_made("x") ? "a" : "no", c.err);
        }
}

struct command command_verified(const char *program, const char *arguments,
                                const char *const parts[])
{
    const struct command c = program_run(program, arguments);
    cr_assert(c.status == 0 && !*c.err, "%s: status %d: %s%s", arguments, c.status, c.out, c.err);
    cr_assert(!strstr(c.out, "WRONG") && !strchr(c.out, '\033'), "%s: it printed: %s", arguments,
              c.out);
    int columns = 0;
    for (const char *at = c.out; *at && !strstr(arguments, "--quiet"); at++) {
        columns = *at == '\n' ? 0 : columns + (((unsigned char)*at & 0xC0) != 0x80);
        cr_assert(columns <= 100, "%s: wider than 100, before: %s", arguments, at);
    }
    const char *const missing = parts ? missing_part(c.out, parts) : NULL;
    cr_assert(!missing, "%s: expected \"%s\" in its place, it printed: %s", arguments, missing,
              c.out);
    return c;
}

void command_story(const char *program, const char *name, const char *const parts[])
{
    char arguments[60];
    snprintf(arguments, sizeof arguments, "--story %s", name);
    command_verified(program, arguments, parts);
    command_verified(program, "--story list", (const char *const[]){ name, NULL });
}

int lines_of(const char *text)
{
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

int lines_of_fields(const char *text, int fields)
{
    int lines = 0, commas = 0;
    for (; *text; text++) {
        commas += *text == ',';
        if (*text == '\n') {
            lines += commas == fields - 1;
            commas = 0;
        }
    }
    return lines;
}

struct npy command_written(const char *name, int dims, const size_t *shape)
{
    char path[300];
    struct npy array;
    struct file_error error;
    path_of(name, path, sizeof path);
    cr_assert(npy_read(path, &array, &error), "%s: %s", name, error.text);
    cr_assert(array.type == NPY_F4 && array.dims == dims, "%s is %d-d", name, array.dims);
    for (int k = 0; k < dims; k++)
        cr_assert(array.shape[k] == shape[k], "%s: axis %d has size %zu", name, k, array.shape[k]);
    return array;
}

bool command_made(const char *name)
{
    char path[300];
    path_of(name, path, sizeof path);
    return access(path, F_OK) == 0;
}

int command_files(void)
{
    int count = 0;
    DIR *open = opendir(command_folder());
    if (!open)
        fail(folder);
    for (const struct dirent *entry; (entry = readdir(open));)
        count += entry->d_name[0] != '.' || entry->d_name[1] > '.';
    closedir(open);
    return count;
}
