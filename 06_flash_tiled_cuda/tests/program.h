/*
 * The chapter's program, as a reader runs it.
 */
#ifndef FLASH_TILED_CUDA_TESTS_PROGRAM_H
#define FLASH_TILED_CUDA_TESTS_PROGRAM_H

#include "common/tests/command.h"

/* What it says, and its status, with these arguments. */
struct command program_run(const char *arguments);

#endif
