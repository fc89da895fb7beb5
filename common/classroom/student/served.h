/*
 * How a program that is graded asks for an element of slow memory, where accesses are counted: not its own memory has
 * it, but the grader at the other end of standard input, which counts what it is asked for.
 */
#ifndef CLASSROOM_SERVED_H
#define CLASSROOM_SERVED_H

#include <stdint.h>

/* An array is told once, with its name and in `element` the number of its elements. A load is answered by a float. */
enum request_kind { SERVED_ARRAY, SERVED_LOAD, SERVED_STORE };
struct request {
    uint32_t kind, array, element;
    float value;
    char name[8];
};

#endif
