/*
 * Output files: written under a temporary name, renamed when complete.
 */
#ifndef COMMON_FILE_H
#define COMMON_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* What is wrong with a file, in one line without its name: "expected …, found …". */
struct file_error {
    char text[240];
};

/* Formats the message; always returns false. */
bool file_refuse(struct file_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct bytes {
    const void *data;
    size_t size;
};

/*
 * Writes the pieces in order. A device, pipe or link is written in place. On failure false and
 * `error`; an existing file stays as it was.
 */
bool file_write(const char *path, const struct bytes *pieces, size_t count,
                struct file_error *error);

/* Can this file be written? If not, false and `error`. */
bool file_writable(const char *path, struct file_error *error);

#endif
