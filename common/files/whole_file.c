#define _XOPEN_SOURCE 700
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

/* Writes the pieces to a new file called `beside` and renames it to `target`. */
static bool write_beside(char *beside, const char *target, const struct bytes *pieces, size_t count)
{
    const int file = mkstemp(beside);
    if (file < 0)
        return false;
    const mode_t mask = umask(0);
    umask(mask);
    bool good =
        fchmod(file, 0666 & ~mask) == 0 && write_pieces(file, pieces, count) && fsync(file) == 0;
    int why = errno;
    if (close(file) != 0 && good) {
        good = false;
        why = errno;
    }
    if (good && rename(beside, target) != 0) {
        good = false;
        why = errno;
    }
    if (!good)
        unlink(beside);
    errno = why;
    return good;
}

/* The same with signals that end a program held back, for it must not leave the other name there. */
static bool replace(const char *target, const struct bytes *pieces, size_t count)
{
    char folder[PATH_MAX], beside[PATH_MAX + 16];
    folder_of(target, folder, sizeof folder);
    snprintf(beside, sizeof beside, "%s.course.XXXXXX", folder);
    sigset_t ending, before;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGHUP);
    sigprocmask(SIG_BLOCK, &ending, &before);
    const bool good = write_beside(beside, target, pieces, count);
    const int why = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return good;
}

static bool write_directly(const char *path, const struct bytes *pieces, size_t count)
{
    const int file = open(path, O_WRONLY);
    if (file < 0)
        return false;
    const bool written = write_pieces(file, pieces, count);
    const int why = errno;
    const bool closed = close(file) == 0;
    if (!written)
        errno = why;
    return written && closed;
}

bool whole_file_write(const char *path, const struct bytes *pieces, size_t count,
                      struct file_error *error)
{
    if (!whole_file_writable(path, error))
        return false;
    struct stat there;
    char target[PATH_MAX];
    const bool exists = stat(path, &there) == 0;
    const bool regular = !exists || S_ISREG(there.st_mode);
    if (!exists || !realpath(path, target))
        snprintf(target, sizeof target, "%s", path);

    // A file over the size limit or a reader that has gone is an error here, not a signal.
    void (*pipe_before)(int) = signal(SIGPIPE, SIG_IGN);
    void (*size_before)(int) = signal(SIGXFSZ, SIG_IGN);
    const bool good =
        regular ? replace(target, pieces, count) : write_directly(path, pieces, count);
    const int why = errno;
    signal(SIGPIPE, pipe_before);
    signal(SIGXFSZ, size_before);
    errno = why;
    return good || fail(error, "to write all of it");
}
