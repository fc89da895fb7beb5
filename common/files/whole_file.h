/*
 * Output files that appear whole or not at all, and those of one run together.
 */
#ifndef COMMON_WHOLE_FILE_H
#define COMMON_WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* What is wrong with a file, as one line without its name: "expected …, found …". */
struct file_error {
    char text[240];
};

/* So many bytes, somewhere in memory. */
struct bytes {
    const void *data;
    size_t size;
};

/* What is to be in the file at `path`: the pieces, one after the other. */
struct whole_file {
    const char *path;
    const struct bytes *pieces;
    size_t count;
};

/*
 * Writes n files. All of them are written and flushed to the disk in their folders, without a name
 * where the system can do that, and then take their names one after the other. So after a failure
 * what was there is still there and nothing else is, unless the system refuses a name after it has given another:
 * `error` says so then. A file that is replaced keeps its mode, and its owner and group where we may give it to them; a
 * link is followed; other hard links keep the old file. What is not a regular file (/dev/full, a pipe) is written directly, first.
 * SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU wait until this is done. False, `error`, and in *failed the number of
 * the file, on failure: a folder that cannot be written, a full disk, no memory, too many open files.
 */
bool whole_files_write(const struct whole_file *files, size_t n, size_t *failed,
                       struct file_error *error);

/* The same for one file. */
bool whole_file_write(const char *path, const struct bytes *pieces, size_t count,
                      struct file_error *error);

/* Could whole_files_write start here: is the folder there, and writable? False and `error` if not. */
bool whole_file_writable(const char *path, struct file_error *error);

/* Do both paths name one file, through links too? It need not exist yet. */
bool same_file(const char *a, const char *b);

#endif
