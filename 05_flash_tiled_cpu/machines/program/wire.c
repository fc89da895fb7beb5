#define _POSIX_C_SOURCE 200809L
#include "05_flash_tiled_cpu/machines/program/wire.h"

#include "common/cpu/memory.h"
#include "common/program/options.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 16, STAMP_TAG = 1000 };

struct message {
    MPI_Request request, stamp_request;
    bool is_sent;
    void *buffer, *copy;  // the program's; MPI's
    size_t bytes;
    double arrives;  // by this machine's clock
};

static struct {
    struct wire counted;
    double latency, bandwidth, sent_until;
    struct message messages[MOST];
} wire;

void wire_begin(double latency, double bandwidth)
{
    wire.counted = (struct wire){ 0 };
    wire.sent_until = 0.0;
    wire.latency = latency;
    wire.bandwidth = bandwidth;
}

struct wire wire_end(void)
{
    const struct wire counted = wire.counted;
    wire.counted = (struct wire){ 0 };
    wire.latency = wire.bandwidth = 0.0;
    return counted;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void sleep_until(double when)
{
    for (double left; (left = when - seconds()) > 0.0;) {
        struct timespec time = { .tv_sec = (time_t)left };
        time.tv_nsec = (long)(1e9 * (left - (double)time.tv_sec));
        nanosleep(&time, NULL);
    }
}

static bool is_delayed(void)
{
    return wire.latency > 0.0 || wire.bandwidth > 0.0;
}

/* Messages leave one after another. */
static double arrival_of(size_t bytes)
{
    const double now = seconds(), begun = now > wire.sent_until ? now : wire.sent_until;
    const double time = wire.bandwidth > 0.0 ? (double)bytes / wire.bandwidth : 0.0;
    wire.sent_until = begun + time;
    return wire.sent_until + wire.latency;
}

static struct message *message_new(void *buffer, size_t bytes, bool is_sent)
{
    struct message *m = wire.messages;
    while (m < wire.messages + MOST && m->copy)
        m++;
    if (m == wire.messages + MOST)
        options_fail("MPI_Waitall", "expected it for each message, found %d without", MOST);
    *m = (struct message){ .is_sent = is_sent, .buffer = buffer, .bytes = bytes };
    m->copy = allocate(bytes, 1, "a message");
    if (is_sent)
        memcpy(m->copy, buffer, bytes);
    return m;
}

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): MPIs name arguments differently

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    int size;
    PMPI_Type_size(type, &size);
    const size_t bytes = (size_t)count * (size_t)size;
    wire.counted.messages++;
    wire.counted.bytes += bytes;
    if (!is_delayed())
        return PMPI_Isend(buffer, count, type, to, tag, comm, request);
    struct message *const m = message_new((void *)buffer, bytes, true);
    m->arrives = arrival_of(bytes);
    PMPI_Isend(&m->arrives, 1, MPI_DOUBLE, to, STAMP_TAG + tag, comm, &m->stamp_request);
    const int status = PMPI_Isend(m->copy, count, type, to, tag, comm, request);
    m->request = *request;
    return status;
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    int size;
    PMPI_Type_size(type, &size);
    if (!is_delayed())
        return PMPI_Irecv(buffer, count, type, from, tag, comm, request);
    struct message *const m = message_new(buffer, (size_t)count * (size_t)size, false);
    PMPI_Irecv(&m->arrives, 1, MPI_DOUBLE, from, STAMP_TAG + tag, comm, &m->stamp_request);
    const int status = PMPI_Irecv(m->copy, count, type, from, tag, comm, request);
    m->request = *request;
    return status;
}

static void message_end(struct message *m)
{
    PMPI_Wait(&m->stamp_request, MPI_STATUS_IGNORE);
    if (m->is_sent && memcmp(m->copy, m->buffer, m->bytes) != 0)
        options_fail("MPI_Waitall", "expected a buffer that stays as it is while it is being sent");
    if (!m->is_sent) {
        sleep_until(m->arrives);
        memcpy(m->buffer, m->copy, m->bytes);
    }
    free(m->copy);
    m->copy = NULL;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    const double begun = seconds();
    struct message *ended[MOST];
    size_t n = 0;
    for (int k = 0; k < count; k++)
        for (struct message *m = wire.messages; m < wire.messages + MOST; m++)
            if (m->copy && m->request == requests[k])
                ended[n++] = m;
    const int status = PMPI_Waitall(count, requests, statuses);
    while (n > 0)
        message_end(ended[--n]);
    wire.counted.waited += seconds() - begun;
    return status;
}

// NOLINTEND(readability-inconsistent-declaration-parameter-name)
