#ifndef FLASH_NO_TILING_PROGRAM_H
#define FLASH_NO_TILING_PROGRAM_H

#include "common/problem/attention_input.h"
#include "common/program/options.h"

/* Before the input; and the part that --story names, with its exit status. */
void tell_screen(void);
int tell_part(const struct options *options);

/* For --trace. Exits if the problem is not small. */
void trace_rows(const struct attention_input *input);

/* One pass against three, N = 256 to 8192; csv may be NULL. */
void bench_against_standard(const char *csv);

#endif
