/*
 * load and store of a program that is graded: plain accesses, but for the run in which they are counted. There
 * standard input is a socket, the program's arrays hold other numbers, and the true ones are at the other end.
 */
#define _XOPEN_SOURCE 700
#ifndef TRAFFIC_SERVED
#define TRAFFIC_SERVED
#endif
#include "common/classroom/student/served.h"
#include "common/measure/traffic.h"
#include "common/program/options.h"

#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool is_served(void)
{
    static enum { UNKNOWN, HERE, SERVED } where;
    int type;
    socklen_t size = sizeof type;
    if (where == UNKNOWN)
        where = getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &type, &size) == 0 ? SERVED : HERE;
    return where == SERVED;
}

static void ask(struct request of)
{
    if (write(STDIN_FILENO, &of, sizeof of) != (ssize_t)sizeof of)
        options_fail("load and store", "expected the grader to answer");
}

/* Which element of which array it is; false if it is in none. */
static bool find(const float *element, struct request *of)
{
    static const void *told[TRAFFIC_MAX_ARRAYS];
    const struct traffic *arrays;
    const size_t count = traffic_arrays(&arrays);
    const uintptr_t at = (uintptr_t)element;
    for (size_t a = 0; a < count; a++) {
        const uintptr_t begin = (uintptr_t)arrays[a].begin, end = (uintptr_t)arrays[a].end;
        if (at < begin || at >= end)
            continue;
        of->array = (uint32_t)a;
        if (told[a] != arrays[a].begin) {
            struct request array = { SERVED_ARRAY, of->array, (uint32_t)((end - begin) / 4), 0,
                                     "" };
            strncpy(array.name, arrays[a].name, sizeof array.name - 1);
            ask(array);
        }
        told[a] = arrays[a].begin;
        of->element = (uint32_t)((at - begin) / sizeof *element);
        return true;
    }
    return false;
}

float load(const float *element)
{
    struct request of = { .kind = SERVED_LOAD };
    float value;
    if (!is_served() || !find(element, &of))
        return *element;
    ask(of);
    if (read(STDIN_FILENO, &value, sizeof value) != (ssize_t)sizeof value)
        options_fail("load", "expected the grader to answer");
    return value;
}

void store(float *element, float value)
{
    struct request of = { .kind = SERVED_STORE, .value = value };
    if (is_served() && find(element, &of))
        ask(of);
    else
        *element = value;
}
