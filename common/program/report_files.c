/* The files that a program writes, at the very end. */
#include "common/cpu/memory.h"
#include "common/files/npy.h"
#include "common/program/options.h"
#include "common/program/report.h"
#include "common/program/report_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 8 };  // one per option

static struct {
    const char *path[MOST_FILES];
    struct bytes copy[MOST_FILES];
    size_t count;
} files;

void report_append(char text[REPORT_CSV], const char *line)
{
    const size_t used = strlen(text);
    snprintf(text + used, REPORT_CSV - used, "%s", line);
}

/* Its index, or their number if it is none of them. */
static size_t kept_at(const char *path)
{
    size_t n = 0;
    while (n < files.count && strcmp(files.path[n], path) != 0)
        n++;
    return n;
}

static void keep(const char *path, const struct bytes *pieces, size_t count)
{
    size_t size = 0;
    for (size_t k = 0; k < count; k++)
        size += pieces[k].size;
    char *const copy = allocate(size, 1, path), *to = copy;
    for (size_t k = 0; k < count; k++, to += pieces[k - 1].size)
        memcpy(to, pieces[k].data, pieces[k].size);
    const size_t n = kept_at(path);
    if (n < files.count)
        free((void *)files.copy[n].data);
    else
        files.count++;
    files.path[n] = path;
    files.copy[n] = (struct bytes){ copy, size };
}

void report_csv(const char *path, const char *text)
{
    keep(path, &(struct bytes){ text, strlen(text) }, 1);
}

void report_array(const char *path, int dims, const size_t *shape, const float *x)
{
    struct npy_file file;
    if (!path)
        return;
    npy_file_of(&file, NPY_F4, dims, shape, x);
    keep(path, file.pieces, 2);
}

/* Every requested output must be kept by now: no other option makes it. */
void report_check_files(void)
{
    for (const char *const *path = options_outputs; *path; path++)
        if (kept_at(*path) == files.count)
            options_fail(*path, "expected a run that makes this file; no file is written");
}

void report_close(void)
{
    struct file_error error;
    options_flush();
    for (size_t k = 0; k < files.count; k++)
        if (!file_write(files.path[k], &files.copy[k], 1, &error))
            options_fail(files.path[k], "%s", error.text);
}

void report_summary(const char *path, const struct summary *s)
{
    char text[600], counts[60] = ",", previous[32] = "";
    if (s->counted)
        snprintf(counts, sizeof counts, "%zu,%zu", s->counted, s->extra_bytes);
    if (s->previous)
        snprintf(previous, sizeof previous, "%.3e", s->previous_error);
    snprintf(text, sizeof text,
             "chapter,accesses,counted,extra_bytes,milliseconds,error,previous,"
             "previous_error,verified\n%s,%s,%s,%.6f,%.3e,%s,%s,%s\n",
             report.chapter, s->accesses, counts, s->milliseconds, s->error,
             s->previous ? s->previous : "", previous, report.wrong ? "no" : "yes");
    report_csv(path, text);
}
