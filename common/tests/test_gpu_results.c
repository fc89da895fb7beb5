/*
 * What plots_gpu.sh takes of a GPU's figures for a picture.
 */
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <string.h>

#define GPU_TITLE                                                                       \
    "chapter,kernel,dtype,batch,heads,n,d,causal,direction,device,milliseconds,gflops," \
    "peak_fraction,ratio_previous,max_abs_error\n"

TEST(gpu_ladder, of_a_picture_has_the_longest_problems_in_16_bits_and_nothing_that_was_not_measured)
{
    command_text("gpu.csv", "# machine: A GPU, 1.2: name, driver\n" GPU_TITLE
                            "07,cuda_recompute,f32,4,16,4096,64,0,backward,gpu,9,1000,0.1,,1e-4\n"
                            "07,cuda_mma,bf16,4,32,4096,64,0,backward,gpu,9,2000,0.1,,1e-4\n"
                            "07,cuda_wgmma,bf16,4,32,4096,64,0,backward,gpu,9,3000,0.1,,1e-4\n"
                            "07,cuda_bulk,bf16,4,32,4096,64,0,backward,gpu,9,4000,0.1,,1e-4\n"
                            "07,cuda_complete,bf16,4,32,4096,64,0,backward,gpu,9,5000,0.1,,1e-4\n"
                            "07,cuda_gone,bf16,4,32,4096,64,0,backward,gpu,9,6000,0.1,,1e-4\n"
                            "07,cuda_mma,bf16,4,32,4096,64,1,backward,gpu,9,9000,0.1,,1e-4\n"
                            "07,cuda_mma,bf16,4,32,4096,128,0,backward,gpu,9,9000,0.1,,1e-4\n"
                            "07,cuda_bulk,bf16,4,32,8192,128,0,backward,gpu,9,7000,0.1,,1e-4\n"
                            "07,cuda_bulk,bf16,4,32,16384,128,0,backward,gpu,9,9000,0.1,,1e-4\n"
                            "07,pytorch flash,bf16,4,32,4096,128,0,backward,gpu,9,9000,,,\n"
                            "07,pytorch math,bf16,4,32,4096,64,0,backward,gpu,9,9000,,,\n"
                            "07,pytorch cudnn,bf16,4,32,4096,64,0,backward,gpu,9,8000,,,\n");
    const struct command c = command_run("sh common/tools/plots_gpu.sh @/gpu.csv cuda_mma "
                                         "cuda_wgmma cuda_bulk cuda_complete");
    cr_assert(c.status == 0, "status %d: %s", c.status, c.err);
    cr_assert(strcmp(c.out, "# A GPU\n#N 128 8192\n#N 64 4096\n# 64 cudnn 8\n1 cuda_mma NaN 2 1\n2 "
                            "cuda_wgmma NaN 3 2\n"
                            "3 cuda_bulk 7 4 2\n4 cuda_complete NaN 5 3\n") == 0,
              "%s", c.out);
    const struct command none = command_run("sh common/tools/plots_gpu.sh @/nowhere.csv cuda_mma");
    cr_assert(none.status == 0 && none.out[0] == '\0', "status %d: %s", none.status, none.out);
    script_refuses("sh common/tools/plots_gpu.sh @/gpu.csv",
                   "expected a file of results, and names");
}
