#define _POSIX_C_SOURCE 200809L
#include "common/tests/problems.h"
#include "common/tests/test.h"

#include <stdlib.h>

static bool asked(const char *files, const char *kernel)
{
    setenv("ONLY_KERNELS", files, 1);
    return kernel_is_in_question(kernel);
}

TEST(kernels_in_question, are_all_if_no_file_is_named)
{
    unsetenv("ONLY_KERNELS");
    cr_assert(kernel_is_in_question("fa1") && asked("", "fa1"), "all kernels");
}

TEST(kernels_in_question, are_those_of_the_files_that_are_named)
{
    cr_assert(asked("fa1 mma ", "fa1") && asked("fa1 mma ", "mma") && asked("mma", "cuda_mma"));
    cr_assert(asked("complete16", "complete"), "two of one name");
    cr_assert(!asked("fa1", "fa2") && !asked("fa2 mma", "fa1"), "digits tell kernels apart");
    cr_assert(!asked("mma", "mma_split") && !asked("mma_split", "mma") &&
              !asked("exp2", "overlap"));
}
