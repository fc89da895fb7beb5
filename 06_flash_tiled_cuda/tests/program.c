#include "06_flash_tiled_cuda/tests/program.h"

#include <stdio.h>

struct command program_run(const char *arguments)
{
    char words[1000];
    snprintf(words, sizeof words, "${BUILD:-build}/06_flash_tiled_cuda %s", arguments);
    return command_run(words);
}
