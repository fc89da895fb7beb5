/*
 * Allocation that exits on failure, and a NaN that marks unwritten elements.
 */
#ifndef COMMON_MEMORY_H
#define COMMON_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Allocates `count` elements of `size` bytes; release with free(). On failure it prints one line,
 * with `what`, to standard error and exits with 2.
 */
void *allocate(size_t count, size_t size, const char *what);

/* Bytes of physical memory; 0 or less if unknown. */
double memory_of_machine(void);

/* In messages; "course" until options_parse. */
extern const char *program_name;

/* Reports that `count` elements of `size` bytes for `what` do not fit, and exits with 2. */
void out_of_memory(const char *what, size_t count, size_t size) __attribute__((noreturn));

/*
 * Fills x with a NaN that no operation on other numbers makes, so that unwritten elements stand
 * out. Call it before each checked run.
 */
void poison_fill(float *x, size_t n);

bool is_poison(float x);

#ifdef __cplusplus
}
#endif

#endif
