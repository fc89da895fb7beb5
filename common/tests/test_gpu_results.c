/*
 * What pages tell of a GPU's figures: gpu_speed.sh and gpu_best.sh make tables of them, and plots_gpu.sh a picture.
 */
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <string.h>

#define BEST "sh common/tools/gpu_best.sh "
#define GPU_TITLE                                                                       \
    "chapter,kernel,dtype,batch,heads,n,d,causal,direction,device,milliseconds,gflops," \
    "peak_fraction,ratio_previous,max_abs_error\n"

/*
 * Two GPUs that were measured: on one the middle kernel is the fastest without a mask and the last with one, PyTorch's
 * second backend is always ahead, and PyTorch alone has N = 256; the other is faster in everything.
 */
static void measure_two_gpus(void)
{
    command_text("one.csv", "# machine: A GPU, 1.2: name, driver\n# toolkit: nvcc 9, PyTorch 8\n"
                            "# command: make bench-06, 2026-01-02, at commit abc\n"
                            "# PyTorch: an hour before\n# ratio_previous: of what\n" GPU_TITLE
                            "06,mma,bf16,4,32,128,64,0,forward,gpu,9,50000,0.1,,1e-4\n"
                            "06,quick,bf16,4,32,128,64,0,forward,gpu,1,400000,0.1,8,1e-4\n"
                            "06,complete,bf16,4,32,128,64,0,forward,gpu,2,200000,0.1,0.5,1e-4\n"
                            "06,mma,bf16,4,32,128,64,1,forward,gpu,9,50000,0.1,,1e-4\n"
                            "06,complete,bf16,4,32,128,64,1,forward,gpu,2,99940,0.1,0.5,1e-4\n"
                            "06,pytorch math,bf16,4,32,128,64,0,forward,gpu,90,5000,,,\n"
                            "06,pytorch cudnn,bf16,4,32,128,64,0,forward,gpu,2,320000,,0.2,\n"
                            "06,pytorch math,bf16,4,32,128,64,1,forward,gpu,90,5000,,,\n"
                            "06,pytorch cudnn,bf16,4,32,128,64,1,forward,gpu,2,199880,,0.2,\n"
                            "06,pytorch flash,bf16,4,32,128,64,1,forward,gpu,2,99950,,0.2,\n"
                            "06,pytorch cudnn,bf16,4,32,256,64,1,forward,gpu,2,300000,,,\n");
    command_text("two.csv", "# machine: Another GPU, 1.2: name, driver\n" GPU_TITLE
                            "07,cuda_mma,f32,4,32,128,64,0,backward,gpu,9,600000,0.1,,1e-4\n"
                            "07,pytorch math,f32,4,32,128,64,0,backward,gpu,9,500000,,,\n"
                            "07,cuda_mma,bf16,4,32,128,64,0,backward,gpu,9,700000,0.1,,1e-4\n"
                            "06,mma,bf16,4,32,128,64,0,forward,gpu,9,600000,0.1,,1e-4\n"
                            "06,pytorch math,bf16,4,32,128,64,0,forward,gpu,9,500000,,,\n");
    command_text("device.csv", "# machine: A CPU\ndevice,what,value\ncpu,multiprocessors,2\n");
}

TEST(gpu_best, is_the_fastest_kernel_against_the_fastest_backend_of_each_gpu_and_problem)
{
    measure_two_gpus();
    const struct command c = command_run(BEST "rows @/one.csv @/device.csv @/two.csv");
    cr_assert(c.status == 0, "status %d: %s", c.status, c.err);
    const char *const expected = "A GPU,06,bf16,64,128,0,quick,400000,cudnn,320000,1.25\n"
                                 "A GPU,06,bf16,64,128,1,complete,99940,cudnn,199880,0.5\n"
                                 "Another GPU,07,f32,64,128,0,cuda_mma,600000,math,500000,1.2\n"
                                 "Another GPU,07,bf16,64,128,0,cuda_mma,700000,,,\n"
                                 "Another GPU,06,bf16,64,128,0,mma,600000,math,500000,1.2\n";
    cr_assert(strcmp(c.out, expected) == 0, "%s", c.out);
}

TEST(gpu_best, makes_a_table_of_a_page_and_says_where_its_figures_are_from)
{
    measure_two_gpus();
    const char *const parts[] = {
        "|---|\n",
        "| A GPU | forward | bf16 | 64 | 128 | none | `quick` | 400 | cudnn | 320 | 1.25 |\n",
        "| A GPU | forward | bf16 | 64 | 128 | causal | `complete` | 99.9 | cudnn | 200 | 0.50 |\n",
        "| Another GPU | backward | float32 | 64 | 128 | none | `cuda_mma` | 600 | math | 500 | ",
        "| none | `cuda_mma` | 700 | not measured yet | | |\n",
        "\nA GPU, driver 1.2, nvcc 9, PyTorch 8; `make bench-06`, 2026-01-02, at commit abc. All ",
        "figures: [`one.csv`](../../",
        "one.csv). PyTorch: an hour before.\n",
        NULL
    };
    script_prints(BEST "page @/one.csv @/device.csv @/two.csv", 0, parts);
}

TEST(gpu_best, sums_up_a_pass_by_the_least_and_the_most_of_its_problems)
{
    measure_two_gpus();
    const char *const parts[] = {
        "| A GPU | forward | bf16 | 99.9 to 400 | 0.50 to 1.25 |\n",
        "| Another GPU | backward | float32 | 600 to 600 | 1.20 to 1.20 |\n",
        "| Another GPU | backward | bf16 | 700 to 700 | not measured yet |\n", NULL
    };
    script_prints(BEST "summary @/one.csv @/device.csv @/two.csv", 0, parts);
}

TEST(gpu_best, says_what_it_expects)
{
    script_refuses(BEST "row 06_flash_tiled_cuda/results/device.csv",
                   "expected rows, page or summary");
    script_refuses(BEST "rows", "expected files of results");
    script_refuses(BEST "rows nowhere/gpu.csv", "nowhere/gpu.csv: expected a file of results");
}

/* Runs gpu_speed.sh where chapter 06 has the results of two GPUs and chapter 07 none. */
#define SPEED                                                                               \
    "mkdir -p @/06_flash/results && cp @/one.csv @/two.csv @/06_flash/results/ && ln -sfn " \
    "\"$PWD/common\" @/common && cd @ && GPU=one sh common/tools/gpu_speed.sh "

TEST(gpu_speed, is_a_table_of_kernels_and_backends_for_the_problems_that_a_page_asks_for)
{
    measure_two_gpus();
    const struct command c = command_run(SPEED "06 bf16 '64,128 64,128,causal 64,256,causal' mma "
                                               "complete 'pytorch cudnn' 'pytorch flash'");
    const char *const expected =
        "| kernel | d = 64, N = 128 | d = 64, N = 128, causal | d = 64, N = 256, causal |\n"
        "|---|---|---|---|\n"
        "| `mma` | 50.0 | 50.0 | not measured yet |\n"
        "| `complete` | 200 | 99.9 | not measured yet |\n"
        "| PyTorch, cudnn | 320 | 200 | 300 |\n"
        "| PyTorch, flash | not measured yet | 100 | not measured yet |\n";
    cr_assert(c.status == 0 && strcmp(c.out, expected) == 0, "status %d: %s%s", c.status, c.err,
              c.out);
    const char *const nothing[] = { "| `mma` | not measured yet |\n", NULL };
    script_prints(SPEED "06 f32 64,128 mma", 0, nothing);
    script_prints(SPEED "07 bf16 64,128 mma", 0, nothing);
}

TEST(gpu_speed, says_which_gpu_it_was)
{
    measure_two_gpus();
    const struct command c = command_run(SPEED "06 machine");
    cr_assert(c.status == 0 &&
                  strcmp(c.out, "A GPU, driver 1.2, nvcc 9, PyTorch 8; `make bench-06`, "
                                "2026-01-02, at commit abc. All figures: [`one.csv`]"
                                "(../results/one.csv). PyTorch: an hour before.\n") == 0,
              "status %d: %s%s", c.status, c.err, c.out);
    const char *const nothing[] = { "Not measured yet.\n", NULL };
    script_prints(SPEED "07 machine", 0, nothing);
}

TEST(gpu_speed, says_what_it_expects)
{
    script_refuses("sh common/tools/gpu_speed.sh 06",
                   "expected a chapter, a type, problems and kernels");
    script_refuses("sh common/tools/gpu_speed.sh 06 bf16 64,128", "expected a chapter, a type");
    script_refuses("sh common/tools/gpu_source.sh one.csv", "expected a file of results, a link");
}

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
