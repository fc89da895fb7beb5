#ifdef __linux__
#define _GNU_SOURCE  // for files without a name
#else
#define _XOPEN_SOURCE 700
#endif
#include "common/files/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

static bool fail(struct file_error *error, const char *expected)
{
    snprintf(error->text, sizeof error->text, "expected %s, found: %s", expected, strerror(errno));
    return false;
}

/* The folder of `path`, ending in a slash, or "./". False if it does not fit. */
static bool folder_of(const char *path, char *folder, size_t size)
{
    const char *slash = strrchr(path, '/');
    const int length = slash ? (int)(slash - path) + 1 : 2;
    return snprintf(folder, size, "%.*s", length, slash ? path : "./") < (int)size;
}

bool same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    if (stat(a, &of_a) == 0 && stat(b, &of_b) == 0)
        return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;

    // One is not there yet: then they are the same if their folders and their names are.
    char folder_a[PATH_MAX], folder_b[PATH_MAX];
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    return folder_of(a, folder_a, sizeof folder_a) && folder_of(b, folder_b, sizeof folder_b) &&
           strcmp(slash_a ? slash_a + 1 : a, slash_b ? slash_b + 1 : b) == 0 &&
           stat(folder_a, &of_a) == 0 && stat(folder_b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

bool whole_file_writable(const char *path, struct file_error *error)
{
    struct stat there;
    char folder[PATH_MAX];
    if (stat(path, &there) == 0 && S_ISDIR(there.st_mode)) {
        errno = EISDIR;
        return fail(error, "a file to write");
    }
    if (stat(path, &there) == 0 && access(path, W_OK) != 0)
        return fail(error, "a file that may be written");
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode))
        return true;
    if (stat(path, &there) != 0 && lstat(path, &there) == 0)
        return fail(error, "a link that leads somewhere");
    if (!folder_of(path, folder, sizeof folder)) {
        errno = ENAMETOOLONG;
        return fail(error, "a file to write");
    }
    return access(folder, W_OK | X_OK) == 0 || fail(error, "a folder that can be written");
}

static bool write_all(int file, struct bytes piece)
{
    const char *from = piece.data;
    while (piece.size > 0) {
        const size_t most = (size_t)1 << 30;  // some systems refuse more at a time
        const ssize_t written = write(file, from, piece.size < most ? piece.size : most);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        from += written;
        piece.size -= (size_t)written;
    }
    return true;
}

static bool write_pieces(int file, const struct bytes *pieces, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (!write_all(file, pieces[k]))
            return false;
    return true;
}

// ---- several files ------------------------------------------------------------------------------

/* A file that is written but has not its name yet. */
struct draft {
    const struct whole_file *to;
    bool direct;               // not a regular file: written at once
    char target[PATH_MAX];     // the name that it will have
    char name[PATH_MAX + 40];  // the one that it has until then; "": none
    int file;                  // -1: not open
};

static bool draft_direct(struct draft *draft)
{
    struct stat there;
    draft->direct = stat(draft->to->path, &there) == 0 && !S_ISREG(there.st_mode);
    if (!draft->direct)
        return true;
    const int file = open(draft->to->path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const bool written = write_pieces(file, draft->to->pieces, draft->to->count);
    const int why = errno;
    const bool closed = close(file) == 0;
    if (!written)
        errno = why;
    return written && closed;
}

/* Opens a file in the target's folder: without a name, so that nothing is left of it if the program is killed, or with one. */
static bool draft_open(struct draft *draft)
{
    char folder[PATH_MAX];
    folder_of(draft->target, folder, sizeof folder);
#ifdef O_TMPFILE
    if (access("/proc/self/fd", X_OK) == 0)
        draft->file = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (draft->file >= 0)
        return true;
#endif
    snprintf(draft->name, sizeof draft->name, "%s.course.XXXXXX", folder);
    draft->file = mkstemp(draft->name);
    if (draft->file < 0)
        *draft->name = '\0';
    return draft->file >= 0;
}

/* The mode of the file that is replaced, or the usual one. */
static mode_t mode_of(const char *path)
{
    struct stat there;
    if (stat(path, &there) == 0)
        return there.st_mode & 0777;
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* Gives it the owner and the group of the file that is replaced, as far as we may. */
static void keep_owner(const struct draft *draft)
{
    struct stat there;
    if (stat(draft->target, &there) == 0 && fchown(draft->file, there.st_uid, there.st_gid) != 0)
        (void)!fchown(draft->file, (uid_t)-1, there.st_gid);  // to another user only root may
}

static bool draft_write(struct draft *draft)
{
    const char *const path = draft->to->path;
    if (draft->direct)
        return true;
    if (access(path, F_OK) == 0 ? !realpath(path, draft->target)
                                : snprintf(draft->target, PATH_MAX, "%s", path) >= PATH_MAX)
        return false;
    if (!draft_open(draft))
        return false;
    keep_owner(draft);
    return fchmod(draft->file, mode_of(path)) == 0 &&
           write_pieces(draft->file, draft->to->pieces, draft->to->count) &&
           fsync(draft->file) == 0;
}

/* Closes it. A file without a name gets one before, that it can be renamed from. */
static bool draft_close(struct draft *draft)
{
    if (draft->direct)
        return true;
    const int file = draft->file;
#ifdef O_TMPFILE
    char folder[PATH_MAX], open_file[40], name[sizeof draft->name];
    folder_of(draft->target, folder, sizeof folder);
    snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", file);
    for (unsigned k = 0; !*draft->name; k++) {
        snprintf(name, sizeof name, "%s.course.%ld.%u", folder, (long)getpid(), k);
        if (linkat(AT_FDCWD, open_file, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0)
            memcpy(draft->name, name, sizeof name);
        else if (errno != EEXIST)
            return false;
    }
#endif
    draft->file = -1;
    return close(file) == 0;
}

static bool draft_rename(struct draft *draft)
{
    if (draft->direct)
        return true;
    if (rename(draft->name, draft->target) != 0)
        return false;
    *draft->name = '\0';
    return true;
}

/* Removes what has not its name now. */
static void draft_end(struct draft *draft)
{
    if (draft->file >= 0)
        close(draft->file);
    if (*draft->name)
        unlink(draft->name);
}

/* Takes a step with one draft after the other; *at is the one that failed. */
static bool each(struct draft *drafts, size_t n, size_t *at, bool (*step)(struct draft *draft))
{
    for (*at = 0; *at < n; ++*at)
        if (!step(&drafts[*at]))
            return false;
    return true;
}

// ---- signals ------------------------------------------------------------------------------------

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU };
enum { ENDING = sizeof ending / sizeof ending[0] };

static volatile sig_atomic_t held;

static void hold(int number)
{
    held = number;
}

/*
 * Has the signals that end a program wait. That is done by a handler, and not by a mask: this thread's mask would leave them
 * to the others.
 */
static void hold_signals(struct sigaction before[ENDING])
{
    held = 0;
    for (size_t k = 0; k < ENDING; k++) {
        sigaction(ending[k], &(struct sigaction){ .sa_handler = hold, .sa_flags = SA_RESTART },
                  &before[k]);
        if (before[k].sa_handler == SIG_IGN)
            sigaction(ending[k], &before[k], NULL);
    }
}

static void let_signals_come(const struct sigaction before[ENDING])
{
    for (size_t k = 0; k < ENDING; k++)
        sigaction(ending[k], &before[k], NULL);
    if (held)
        raise(held);
}

// ---- all together -------------------------------------------------------------------------------

/* Everything but what comes directly. */
static bool write_drafts(struct draft *drafts, size_t n, size_t *at, bool *renaming)
{
    struct sigaction before[ENDING];
    hold_signals(before);
    const bool closed = each(drafts, n, at, draft_write) && each(drafts, n, at, draft_close);
    const bool good = closed && each(drafts, n, at, draft_rename);
    const int why = errno;
    *renaming = closed;
    for (size_t k = 0; k < n; k++)
        draft_end(&drafts[k]);
    let_signals_come(before);
    errno = why;
    return good;
}

/* Says that a file could not be written, and which are new all the same. */
static void fail_at(struct file_error *error, const struct whole_file *files, size_t new)
{
    fail(error, "to write all of it");
    const size_t used = strlen(error->text);
    if (new > 0)
        snprintf(error->text + used, sizeof error->text - used,
                 " (%zu other file%s, from %.60s on, %s new already)", new, new == 1 ? "" : "s",
                 files[0].path, new == 1 ? "is" : "are");
}

bool whole_files_write(const struct whole_file *files, size_t n, size_t *failed,
                       struct file_error *error)
{
    for (*failed = 0; *failed < n; ++*failed)
        if (!whole_file_writable(files[*failed].path, error))
            return false;
    *failed = 0;
    struct draft *const drafts = calloc(n + 1, sizeof *drafts);
    for (size_t k = 0; k < n && drafts; k++)
        drafts[k].to = &files[k], drafts[k].file = -1;

    // A file over the size limit or a reader that has gone is an error here, not a signal.
    void (*pipe_before)(int) = signal(SIGPIPE, SIG_IGN);
    void (*size_before)(int) = signal(SIGXFSZ, SIG_IGN);
    bool renaming = false;
    const bool good = drafts && each(drafts, n, failed, draft_direct) &&
                      write_drafts(drafts, n, failed, &renaming);
    if (!good)
        fail_at(error, files, renaming ? *failed : 0);
    signal(SIGPIPE, pipe_before);
    signal(SIGXFSZ, size_before);
    free(drafts);
    return good;
}

bool whole_file_write(const char *path, const struct bytes *pieces, size_t count,
                      struct file_error *error)
{
    size_t failed;
    return whole_files_write(&(struct whole_file){ path, pieces, count }, 1, &failed, error);
}
