/*
 * Output files that appear whole or not at all.
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

/*
 * Writes the `count` pieces one after the other to `path`. They are written beside it under another
 * name, flushed to the disk and renamed, so that after a failure what stood there still stands and
 * nothing else does. A link is followed. What is not a regular file (/dev/full, a pipe) is written
 * directly. False and `error` on failure.
 */
bool whole_file_write(const char *path, const struct bytes *pieces, size_t count,
                      struct file_error *error);

/* Could whole_file_write start here: is the folder there, and writable? False and `error` if not. */
bool whole_file_writable(const char *path, struct file_error *error);

/* Do both paths name one file, through links too? It need not exist yet. */
bool same_file(const char *a, const char *b);

#endif
