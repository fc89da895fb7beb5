/*
 * The other end of common/classroom/student/served.c: holds the arrays of a program whose accesses are counted.
 */
#define _XOPEN_SOURCE 700
#include "common/classroom/grader/run.h"
#include "common/classroom/student/served.h"
#include "common/cpu/memory.h"
#include "common/files/npy.h"
#include "common/measure/traffic.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_ELEMENTS = 1 << 20 };

struct array {
    char file[20];  // its name in lower case, with .npy
    float *x;
    size_t count;
};

/* The array that a program tells of: with the numbers of its file in `in`, or poison if there is none. */
static bool begin_array(struct array *a, const struct request *of, const char *in)
{
    char path[PATH_ROOM];
    struct npy file;
    struct file_error error;
    size_t n = 0;
    free(a->x);
    *a = (struct array){ .x = NULL };
    for (; n < sizeof of->name && isalpha((unsigned char)of->name[n]); n++)
        a->file[n] = (char)tolower((unsigned char)of->name[n]);
    snprintf(a->file + n, sizeof a->file - n, ".npy");
    if (n == 0 || of->element == 0 || of->element > MOST_ELEMENTS)
        return false;
    a->count = of->element;
    if (npy_read(path_of(in, a->file, path), &file, &error)) {
        a->x = npy_floats(&file);
        const bool fits = file.count == a->count;
        npy_free(&file);
        return fits;
    }
    a->x = allocate(a->count, sizeof *a->x, "an array");
    poison_fill(a->x, a->count);
    return true;
}

static bool read_request(int link, struct request *of)
{
    size_t got = 0;
    while (got < sizeof *of) {
        const ssize_t n = read(link, (char *)of + got, sizeof *of - got);
        if (n <= 0)
            return false;
        got += (size_t)n;
    }
    return true;
}

/* Writes an array that the program has stored: O as Q is, and so on. Others are no outputs. */
static void write_output(const struct array *a, const char *in, const char *out)
{
    static const struct {
        const char *output, *like;
        int dims;  // fewer
    } shapes[] = { { "y.npy", "x.npy", 0 },  { "o.npy", "q.npy", 0 },  { "lse.npy", "q.npy", 1 },
                   { "dq.npy", "q.npy", 0 }, { "dk.npy", "k.npy", 0 }, { "dv.npy", "v.npy", 0 } };
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        char path[PATH_ROOM];
        struct npy like;
        struct file_error error;
        if (strcmp(a->file, shapes[k].output) != 0 ||
            !npy_read(path_of(in, shapes[k].like, path), &like, &error))
            continue;
        const size_t count = shapes[k].dims ? like.count / like.shape[like.dims - 1] : like.count;
        if (count == a->count && !npy_write(path_of(out, a->file, path), NPY_F4,
                                            like.dims - shapes[k].dims, like.shape, a->x, &error))
            options_fail(path, "%s", error.text);
        npy_free(&like);
    }
}

void serve(int link, const char *in, const char *out, double counts[2])
{
    struct array arrays[TRAFFIC_MAX_ARRAYS] = { { .x = NULL } };
    struct request of;
    counts[0] = counts[1] = 0.0;
    signal(SIGPIPE, SIG_IGN);
    while (read_request(link, &of) && of.array < TRAFFIC_MAX_ARRAYS) {
        struct array *const a = &arrays[of.array];
        if (of.kind == SERVED_ARRAY) {
            if (!begin_array(a, &of, in))
                break;
            continue;
        }
        if (of.element >= a->count)
            break;
        if (of.kind == SERVED_STORE)
            a->x[of.element] = of.value;
        else if (write(link, &a->x[of.element], sizeof of.value) < 0)
            break;
        counts[of.kind == SERVED_STORE]++;
    }
    shutdown(link, SHUT_RDWR);
    for (size_t k = 0; k < TRAFFIC_MAX_ARRAYS; k++) {
        if (arrays[k].x)
            write_output(&arrays[k], in, out);
        free(arrays[k].x);
    }
}
