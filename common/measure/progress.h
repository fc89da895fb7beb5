/*
 * How far a long run is, for somebody who waits at a terminal.
 */
#ifndef COMMON_PROGRESS_H
#define COMMON_PROGRESS_H

#include <stddef.h>

/*
 * So many of `total` `what`s are done. Shown on standard error if that is a terminal, now and then, and wiped
 * out when all are done. From one thread at a time.
 */
void progress(const char *what, size_t done, size_t total);

#endif
