/*
 * Output files: written under another name, and renamed when they are complete.
 */
#ifndef COMMON_FILE_H
#define COMMON_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* What is wrong with a file, as one line without its name: "expected …, found …". */
struct file_error {
    char text[240];
};

/* Puts this text there; always false. */
bool file_refuse(struct file_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* So many bytes, somewhere in memory. */
struct bytes {
    const void *data;
    size_t size;
};

/*
 * Writes a file that has these pieces, one after the other. A device, a pipe or a link is written as it is. False and `error` on
 * failure, and then a file that was there still is.
 */
bool file_write(const char *path, const struct bytes *pieces, size_t count,
                struct file_error *error);

/* Can a file be written there? False and `error` if not. */
bool file_writable(const char *path, struct file_error *error);

/* Are both the same file, or one name? */
bool file_same(const char *a, const char *b);

#endif
