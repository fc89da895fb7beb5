/*
 * Memory that is there, or the program says why not; and memory in which one sees what was never written.
 */
#ifndef COMMON_MEMORY_H
#define COMMON_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Room for `count` elements of `size` bytes each, to be released with free(). `what` names it in
 * the message. Where there is not that much memory: one line on standard error, and exit 2.
 */
void *allocate(size_t count, size_t size, const char *what);

/* Bytes of memory that the machine has, used or not; 0 where that is not known. */
double memory_of_machine(void);

/* The name to say it under, "course" until it is set. */
void memory_program(const char *name);
const char *memory_program_name(void);

/* Says that there is no room for `count` elements of `size` bytes for `what`, and exits with 2. */
void out_of_memory(const char *what, size_t count, size_t size) __attribute__((noreturn));

/*
 * Fills x with a NaN that no computation makes, so that an element which is never written shows.
 * Do it before every run that is checked.
 */
void poison_fill(float *x, size_t n);

/* Is x that NaN? */
bool poison_is(float x);

#ifdef __cplusplus
}
#endif

#endif
