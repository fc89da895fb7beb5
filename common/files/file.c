#define _POSIX_C_SOURCE 200809L
#include "common/files/file.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_NAME = 4096 };

bool file_refuse(struct file_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return false;
}

/* We rename over regular files only: a device would turn into one. */
static bool is_replaced(const char *path)
{
    struct stat there;
    return lstat(path, &there) != 0 || S_ISREG(there.st_mode);
}

bool file_write(const char *path, const struct bytes *pieces, size_t count,
                struct file_error *error)
{
    char name[LONGEST_NAME];
    const bool renamed = is_replaced(path);
    if (renamed)
        snprintf(name, sizeof name, "%s.%ld.part", path, (long)getpid());
    else
        snprintf(name, sizeof name, "%s", path);
    errno = 0;
    FILE *const file = fopen(name, "wb");
    bool good = file;
    for (size_t k = 0; k < count && good; k++)
        good = fwrite(pieces[k].data, 1, pieces[k].size, file) == pieces[k].size;
    int why = errno;
    if (file && fclose(file) != 0 && good)
        good = false, why = errno;
    if (good && renamed && rename(name, path) != 0)
        good = false, why = errno;
    if (!good && renamed)
        remove(name);
    return good || file_refuse(error, "expected to write all of it, found: %s", strerror(why));
}

bool file_writable(const char *path, struct file_error *error)
{
    struct stat there;
    const bool exists = stat(path, &there) == 0;
    if (exists && S_ISDIR(there.st_mode))
        return file_refuse(error, "expected a file to write, found: %s", strerror(EISDIR));
    if (exists && access(path, W_OK) != 0)
        return file_refuse(error, "expected a file that may be written, found: %s",
                           strerror(errno));
    const char *const slash = strrchr(path, '/');
    char folder[LONGEST_NAME];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    return !is_replaced(path) || access(folder, W_OK | X_OK) == 0 ||
           file_refuse(error, "expected a folder that can be written, found: %s", strerror(errno));
}
