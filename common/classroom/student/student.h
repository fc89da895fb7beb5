/*
 * For the programs that a student's file is linked with.
 *
 * Such a program reads arrays from in/, calls the student's function, and writes the results to
 * existing files in out/. It has neither the reference nor other algorithms, and does not judge:
 * code that overwrites it only loses its output, but can forge counts.
 */
#ifndef CLASSROOM_STUDENT_H
#define CLASSROOM_STUDENT_H

#include "common/files/npy.h"
#include "common/measure/traffic.h"

#include <stddef.h>

/* Reads in/NAME, or exits. */
struct npy student_read(const char *name);

/* `n` floats of poison. */
float *student_output(size_t n);

/* Writes x to out/NAME, which exists. */
void student_write(const char *name, int dims, const size_t *shape, const float *x);

/* In a counting build: all arrays' loads and stores, to out/counts.npy. */
static inline void student_write_counts(void)
{
#ifdef COUNTED
    const struct traffic all = traffic_total();
    const float counts[2] = { (float)all.loads, (float)all.stores };
    student_write("counts.npy", 1, (const size_t[]){ 2 }, counts);
#endif
}

#endif
