#ifndef COMMON_PROGRESS_H
#define COMMON_PROGRESS_H

#include <stddef.h>

/*
 * `done` of `total` `what`s. Shown now and then if stderr is a terminal, cleared at the end. One
 * thread only.
 */
void progress(const char *what, size_t done, size_t total);

#endif
