/*
 * What the programs have in common that a student's file is linked with to be graded.
 *
 * Such a program reads arrays from in/, calls the student's function, and writes what came out to files that
 * stand ready in out/. It holds neither the reference nor any other chapter's algorithm, and it judges nothing:
 * whoever overwrites it, or ends it, has only lost the output. But a program that overwrites it can forge what it counts.
 */
#ifndef CLASSROOM_STUDENT_H
#define CLASSROOM_STUDENT_H

#include "common/files/npy.h"
#include "common/measure/traffic.h"

#include <stddef.h>

/* Reads in/NAME; ends the program if it cannot. */
struct npy student_read(const char *name);

/* `n` floats that hold the poison. */
float *student_output(size_t n);

/* Writes x to out/NAME, which is there. */
void student_write(const char *name, int dims, const size_t *shape, const float *x);

/* In a build that counts, the loads and stores of all instrumented arrays, to out/counts.npy; in others nothing. */
static inline void student_write_counts(void)
{
#ifdef COUNTED
    const struct traffic all = traffic_total();
    const float counts[2] = { (float)all.loads, (float)all.stores };
    student_write("counts.npy", 1, (const size_t[]){ 2 }, counts);
#endif
}

#endif
