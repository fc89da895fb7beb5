/*
 * gpu.sh, which puts a machine with a GPU to use, bench_cuda.sh, which keeps what was measured, and for which GPUs
 * the Makefile has kernels made: here with programs that only pretend.
 */
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TITLE                                                       \
    "chapter,kernel,dtype,batch,heads,n,d,causal,direction,device," \
    "milliseconds,gflops,peak_fraction,ratio_previous,max_abs_error\\n"

/*
 * A chapter 06 of three kernels: fa2 is wrong, and mma is for other GPUs. Whatever is asked of it is added to @/asked. In
 * bfloat16 its ladder fails when it has measured one problem.
 */
static void chapter(void)
{
    cr_assert(command_run("mkdir -p @/b/tests").status == 0, "no folder");
    command_script("b/06_flash_tiled_cuda",
                   "#!/bin/sh\n"
                   "echo \"$*\" >>\"${0%/*}/../asked\"\n"
                   "case \"$*\" in\n"
                   "*list*f32*) printf 'naive\\nfa2\\ncomplete\\n' ;;\n"
                   "*list*) printf 'mma\\ncomplete\\n' ;;\n"
                   "*bench*) all=$*; while [ $# -gt 1 ]; do shift; done; type=f32\n"
                   "    case $all in *bf16*) type=bf16 ;; esac\n"
                   "    printf '" TITLE
                   "06,complete,%s,4,16,4096,64,0,forward,gpu,2.0,1,1,,1\\n' $type >$1\n"
                   "    [ $type = f32 ] || { echo 'memory.cu:9: lost' >&2; exit 2; } ;;\n"
                   "*'--kernel fa2'*) exit 1 ;;\n"
                   "*'--kernel mma'*) exit 77 ;;\n"
                   "esac\n");
    command_script("b/tests/06_flash_tiled_cuda",
                   "#!/bin/sh\ncase \"$2\" in dropout*) echo '0 passed, 1 failed'; exit 1 ;; esac\n"
                   "echo '1 passed, 0 failed, 0 skipped'\n");
    command_script(
        "nvidia-smi",  // without a query it says what time it is, too
        "#!/bin/sh\ncase $* in *query*) echo 'NVIDIA T4, 550.1' ;; *) date +%N ;; esac\n");
    command_script("python", "#!/bin/sh\nexit 1\n");
}

#define GPU                                                                     \
    "PATH=@:$PATH PYTHON=@/python ONLY=06_flash_tiled_cuda RESULTS=@/r.csv sh " \
    "common/tools/gpu.sh @/b "

TEST(gpu, tries_each_kernel_and_goes_on_after_one_that_is_wrong)
{
    chapter();
    script_prints(GPU "kernels", 1,
                  (const char *const[]){ "06_flash_tiled_cuda naive f32", "right", "fa2 f32",
                                         "WRONG", "complete f32", "right", "complete bf16", "right",
                                         "complete f16", "right", "kernels of 06", "FAILED",
                                         NULL });
    script_prints("cat @/asked", 0,
                  (const char *const[]){ "--kernel fa2 --dtype f32",
                                         "--kernel complete --dtype f32 --n-q 300 --n-k 330 --d 64 "
                                         "--heads 2 --causal --exclude fa2\n",
                                         NULL });
}

TEST(gpu, tries_the_instructions_once_for_all_chapters)
{
    chapter();
    command_script("b/tests/instructions", "#!/bin/sh\necho FAILED gpu::one\nexit 1\n");
    script_prints(
        GPU "instructions", 1,
        (const char *const[]){ "    FAILED gpu::one", "instructions of all", "FAILED: ", NULL });
}

TEST(gpu, goes_on_after_a_suite_that_fails)
{
    chapter();
    script_prints(
        GPU "tests", 1,
        (const char *const[]){ "1 passed", "0 passed, 1 failed", "tests of 06", "FAILED", NULL });
    script_prints("cat @/b/log/*.tests", 0,
                  (const char *const[]){ "dropout:\n0 passed", "mma:\n1 passed", NULL });
}

/* No TEST: one that is skipped leaves with status 0. */
Test(gpu, says_which_step_had_no_time_left, .timeout = TEST_SECONDS)
{
    if (command_run("command -v timeout").status != 0)
        cr_skip_test("no timeout here, as on macOS, which has no GPU that the script is for");
    chapter();
    command_script("b/tests/06_flash_tiled_cuda", "#!/bin/sh\nsleep 9\n");
    script_prints("STAGE_SECONDS=1 " GPU "tests", 1,
                  (const char *const[]){ "tests of 06", "its time was over", NULL });
}

/* The wrong one has no place in it, and of the ladder that broke off there is what it had. */
TEST(gpu, measures_what_is_right_and_keeps_what_there_is)
{
    chapter();
    script_prints(GPU "kernels bench", 1,
                  (const char *const[]){ "skipped: PyTorch", "the ladder in bf16: status 2",
                                         "written to ", "bench of 06", "FAILED", NULL });
    script_prints("cat @/r.csv", 0,
                  (const char *const[]){ "# machine: NVIDIA T4, 550.1", "# left out: fa2\n",
                                         "\nchapter,kernel,", "\n06,complete,f32,",
                                         "\n06,complete,bf16,", NULL });
    script_prints(
        "cat @/asked", 0,
        (const char *const[]){ "--bench --device gpu --dtype f32 --exclude fa2 --csv ", NULL });
}

TEST(gpu, is_not_there_where_the_program_says_so)
{
    chapter();
    command_script("b/06_flash_tiled_cuda",
                   "#!/bin/sh\necho 'SKIPPED: no GPU (none)' >&2\nexit 77\n");
    script_prints(GPU, 77, (const char *const[]){ "SKIPPED: no GPU (none)", NULL });
    const struct command c = command_run("sh common/tools/gpu.sh @/b naps");
    cr_assert(c.status == 2 &&
                  is_one_line_with(c.err, "STEPS: expected some of instructions, kernels, bench"),
              "status %d: %s", c.status, c.err);
}

/* Bench has measured one type when it fails; it is not done again either, until something is different. */
TEST(gpu, does_no_stage_twice_but_on_another_gpu)
{
    chapter();
    command_script("b/tests/06_flash_tiled_cuda", "#!/bin/sh\necho '1 passed'\n");
    script_prints(GPU "tests bench", 1,
                  (const char *const[]){ "2 stages to do: about ", "tests of 06_flash_tiled_cuda",
                                         "begins: about ", " ok ", "bench of 06_flash_tiled_cuda",
                                         "FAILED", NULL });
    command_run("mv @/asked @/first");
    script_prints(GPU "tests bench", 1,
                  (const char *const[]){ "0 stages to do: about 0 s", "tests of 06", "ok in ",
                                         "in an earlier call", "bench of 06", "FAILED",
                                         "in an earlier call", NULL });
    script_prints("cat @/asked", 0,
                  (const char *const[]){ "--device gpu --n-q 9 --d 64 --quiet\n", NULL });
    script_prints("test $(wc -l <@/asked) -eq 1", 0, (const char *const[]){ NULL });
    command_script("nvidia-smi", "#!/bin/sh\necho 'NVIDIA A4'\n");
    script_prints(GPU "tests", 0, (const char *const[]){ "1 stages", "begins: about ", NULL });
}

/* What a stage should take is in the figures that are kept: without them there would be next to nothing to expect. */
TEST(gpu, leaves_what_its_minutes_do_not_suffice_for_to_the_next_call)
{
    chapter();
    command_script("b/tests/06_flash_tiled_cuda", "#!/bin/sh\necho '1 passed'\n");
    script_prints("MINUTES=2 " GPU "tests bench", 3,
                  (const char *const[]){
                      "tests of 06_flash_tiled_cuda", " ok ",
                      "left for the next call: bench of 06_flash_tiled_cuda, about", NULL });
    const struct command c = command_run("MINUTES=2 " GPU "tests bench | sed -n "
                                         "'s/.*bench of 06[^ ]*, about \\([0-9]*\\) s.*/\\1/p'");
    const long seconds = strtol(c.out, NULL, 10);
    cr_assert(seconds > 120 && seconds <= 480, "expected minutes, found %s", c.out);
}

/* No GPU is asked for, problems are small, and the results that are kept stay as they are. */
TEST(gpu, is_tried_on_the_emulator)
{
    chapter();
    command_script("b/tests/06_flash_tiled_cuda", "#!/bin/sh\necho '1 passed'\n");
    command_script("b/tests/cuda", "#!/bin/sh\necho '1 passed'\n");
    script_prints(
        "cp common/results/README.md @/r.csv; DRY=1 " GPU "instructions bench curve tests", 0,
        (const char *const[]){ "instructions of all", " ok ", "bench of 06", "written to ",
                               "dry/06_flash_tiled_cuda.csv", "bench of 06", " ok ", "curve of 06",
                               " ok ", "tests of 06", " ok ", NULL });
    script_prints("cmp common/results/README.md @/r.csv && ! grep -e 'gpu' -e '--n-q [0-9]\\{3\\}' "
                  "@/asked && "
                  "cat @/b/dry/06_flash_tiled_cuda.csv",
                  0, (const char *const[]){ "# command: make bench-06", "\n06,wgmma,bf16,", NULL });
}

/* Where the course is a copy without git's records, somebody may know the commit. */
TEST(gpu, says_unknown_of_a_commit_that_nobody_names)
{
    chapter();
#define BENCH                                                                     \
    "PATH=@:$PATH PYTHON=@/python RESULTS=@/r.csv sh common/tools/bench_cuda.sh " \
    "@/b/06_flash_tiled_cuda 06_flash_tiled_cuda >@/said 2>&1; cat @/r.csv"
    script_prints("GIT_DIR=/nowhere " BENCH, 0,
                  (const char *const[]){ ", at commit unknown\n", NULL });
    script_prints("GIT_DIR=/nowhere COMMIT=abc123 " BENCH, 0,
                  (const char *const[]){ ", at commit abc123\n", NULL });
}

/* What nvcc would be told of a kernel's object. */
static void assert_made_for(const char *archs, const char *kernel, const char *const parts[],
                            const char *not_part)
{
    char words[500];
    snprintf(
        words, sizeof words,
        "env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS PATH=@:$PATH make -n VERBOSE=1 GPU=yes NVCC=nvcc "
        "%s BUILD=@/b @/b/obj/gpu/%s.o",
        archs, kernel);
    const struct command c = command_run(words);
    cr_assert(c.status == 0 && !missing_part(c.out, parts) && !strstr(c.out, not_part),
              "%s: status %d: %s%s", words, c.status, c.out, c.err);
}

TEST(gpu, gets_kernels_for_itself_and_hoppers_are_for_hopper_whatever_is_asked_for)
{
    assert_made_for("GPU_ARCH=90", "06_flash_tiled_cuda/kernels/1_float32/fa2",
                    (const char *const[]){ "arch=compute_90,code=sm_90 ", NULL }, "compute_80");
    assert_made_for("GPU_ARCH='80 90'", "06_flash_tiled_cuda/kernels/3_hopper/roles",
                    (const char *const[]){ "arch=compute_90a,code=sm_90a ", NULL }, "compute_80");
    assert_made_for("GPU_ARCH=90", "07_backward/kernels/3_hopper/bulk",
                    (const char *const[]){ "arch=compute_90a,code=sm_90a ", NULL }, "compute_90,");
    assert_made_for("GPU_ARCH=75", "06_flash_tiled_cuda/kernels/2_tensor_cores/mma",
                    (const char *const[]){ "arch=compute_80,code=sm_80 ", NULL }, "compute_75");
    command_script("nvidia-smi", "#!/bin/sh\necho 8.9\n");
    assert_made_for("GPU_ARCH=native", "06_flash_tiled_cuda/kernels/2_tensor_cores/mma",
                    (const char *const[]){ "arch=compute_89,code=sm_89 ", NULL }, "compute_80");
}

/* What several kinds of GPU have the same PTX for is made for the oldest of them. */
TEST(gpu, gets_kernels_from_the_ptx_of_an_older_one_where_that_is_the_same)
{
    assert_made_for("GPU_ARCH='120 90 80'", "06_flash_tiled_cuda/kernels/1_float32/fa2",
                    (const char *const[]){ "arch=compute_120,code=sm_120 ",
                                           "arch=compute_80,code=sm_90 ",
                                           "arch=compute_80,code=sm_80 ", NULL },
                    "compute_90");
    assert_made_for(
        "GPU_ARCH='75 80 90'", "06_flash_tiled_cuda/kernels/2_tensor_cores/mma",
        (const char *const[]){ "arch=compute_80,code=sm_80 ", "arch=compute_80,code=sm_90 ", NULL },
        "compute_75");
    assert_made_for(
        "GPU_ARCH='75 86 90'", "07_backward/kernels/2_tensor_cores/mma",
        (const char *const[]){ "arch=compute_86,code=sm_86 ", "arch=compute_90,code=sm_90 ", NULL },
        "compute_75");
}
