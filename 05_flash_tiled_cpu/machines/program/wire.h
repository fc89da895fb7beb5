/*
 * What goes over the wire: messages counted, and, where it is asked for, delayed. MPI lets a program put its own functions in
 * the place of MPI_Isend, MPI_Irecv and MPI_Waitall (its profiling interface), so the algorithms need no word of this.
 */
#ifndef MACHINES_WIRE_H
#define MACHINES_WIRE_H

#include <stddef.h>

/* What this rank has sent since wire_begin, and the seconds that it waited for messages. */
struct wire {
    size_t messages, bytes;
    double waited;
};

/*
 * From now on a message arrives no sooner than latency + length / bandwidth after MPI_Isend, in seconds and bytes per second;
 * 0: there is no delay. A delayed message is not in its buffer before MPI_Waitall has returned, and a buffer that changes
 * while it is being sent ends the program.
 */
void wire_begin(double latency, double bandwidth);
struct wire wire_end(void);

#endif
