/*
 * Counts messages, and delays them on request, by replacing MPI_Isend, MPI_Irecv and MPI_Waitall
 * (MPI's profiling interface).
 */
#ifndef MACHINES_WIRE_H
#define MACHINES_WIRE_H

#include <stddef.h>

/* By this rank, since wire_begin. */
struct wire {
    size_t messages, bytes;
    double waited;  // seconds
};

/*
 * Messages arrive latency (s) + length / bandwidth (B/s) after MPI_Isend, or later; 0: no delay. A
 * delayed one is in its buffer only after MPI_Waitall; changing a buffer meanwhile ends the
 * program.
 */
void wire_begin(double latency, double bandwidth);
struct wire wire_end(void);

#endif
