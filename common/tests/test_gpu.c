/*
 * gpu.sh and the Makefile's choice of GPU architectures, with fake programs.
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
 * Fake programs of both chapters, with these sources' key. In chapter 06 persistent is wrong,
 * overlap hangs, and naive cannot be measured. They log their arguments to @/asked.
 */
static void programs(void)
{
    cr_assert(command_run("mkdir -p @/b && sh common/tools/gpu.sh @/b key >@/b/sources").status ==
                  0,
              "no folder");
    command_script("b/06_flash_tiled_cuda",
                   "#!/bin/sh\n"
                   "echo \"$LADDER $*\" >>\"${0%/*}/../asked\"\n"
                   "case \"$*\" in\n"
                   "*list*f32*) printf 'naive\\nfa2\\n' ;;\n"
                   "*list*) printf 'mma\\noverlap\\npersistent\\nstore\\n' ;;\n"
                   "*'--step all'*) exit 2 ;;\n"
                   "*bench*) while [ $# -gt 1 ]; do shift; done\n"
                   "    printf '" TITLE
                   "06,store,bf16,4,32,4096,128,0,forward,gpu,2.0,1,1,,1\\n' >$1 ;;\n"
                   "*'--step persistent'*) exit 1 ;;\n"
                   "*'--step overlap'*) exec sleep 60 ;;\n"
                   "esac\n");
    command_script("b/07_backward", "#!/bin/sh\ncase \"$*\" in *list*) echo cuda_store ;; esac\n");
    command_script("nvidia-smi", "#!/bin/sh\necho 'NVIDIA T4, 550.1'\n");
    command_script("python", "#!/bin/sh\nexit 1\n");
    command_script("ncu", "#!/bin/sh\necho stalls\n");
    command_script("compute-sanitizer", "#!/bin/sh\necho no errors\n");
}

#define GPU "PATH=@:$PATH PYTHON=@/python KERNEL_SECONDS=1 OUT= sh common/tools/gpu.sh @/b "

/* Not TEST: a skipped test exits with 0. */
#define PLAN_TEST(name)                                                              \
    static void name(void);                                                          \
    Test(gpu, name, .timeout = TEST_SECONDS)                                         \
    {                                                                                \
        if (command_run("command -v timeout").status != 0)                           \
            cr_skip_test("no timeout here, as on macOS, which has no GPU for this"); \
        programs();                                                                  \
        name();                                                                      \
    }                                                                                \
    static void name(void)

TEST(gpu, has_a_plan_of_a_quarter_of_an_hour_less_the_start)
{
    script_prints(
        "sed -n 's/^#     \\([a-z0-9]*\\)  *\\([0-9]*\\)   .*/\\2/p' common/tools/gpu.sh | "
        "awk '{ sum += $1 } END { print sum }'",
        0, (const char *const[]){ "780\n", NULL });
}

/* The newest kernel runs first; the wrong and the hanging one run once and are not measured. */
PLAN_TEST(goes_on_after_kernels_that_hang_or_are_wrong_and_a_stage_that_fails)
{
    script_prints(GPU, 1,
                  (const char *const[]){ "right ", "FAILED", "headline ", "ok", "curve ", "FAILED",
                                         "profile ", "ok", "older ", "ok", "memcheck ", "ok",
                                         NULL });
    script_prints("cat @/b/results/right", 0,
                  (const char *const[]){ "# right: FAILED", "# machine: NVIDIA T4, 550.1",
                                         "06 store bf16: right", "07 cuda_store bf16: right",
                                         "06 persistent bf16: WRONG: --n-q 300",
                                         "06 overlap bf16: NEVER ENDED: --n-q 300", NULL });
    script_prints("cat @/b/results/headline", 0,
                  (const char *const[]){ "# headline: ok", "# machine: NVIDIA T4", "# no PyTorch",
                                         "\n06,store,bf16,", NULL });
    script_prints(
        "grep '^4096,64,0 ' @/asked", 0,
        (const char *const[]){ "--dtype bf16 --exclude mma,overlap,persistent --csv ", NULL });
    script_prints("ls @/b/results | wc -l", 0, (const char *const[]){ "7\n", NULL });
}

/* Results for these sources and this GPU are reused. */
PLAN_TEST(goes_on_where_a_call_was_killed_and_leaves_what_does_not_fit)
{
    script_prints("LIMIT=100 " GPU, 3,
                  (const char *const[]){ "right ", "headline ", "left for the next call", NULL });
    command_script(
        "b/07_backward",
        "#!/bin/sh\ncase \"$*\" in *list*) echo cuda_store ;; *bench*) sleep 60 ;; esac\n");
    script_prints("setsid sh -c '" GPU
                  "' >@/said & sleep 3; kill -9 -$!; rm @/asked; ls @/b/results; tail -n 1 @/said",
                  0, (const char *const[]){ "right\n", "headline   begins", NULL });
    command_script("b/07_backward", "#!/bin/sh\ncase \"$*\" in *list*) echo cuda_store ;; esac\n");
    script_prints(GPU, 1,
                  (const char *const[]){ "right ", "in an earlier call", "headline ", "begins",
                                         "memcheck ", "ok", NULL });
    script_prints("grep -c 'step store.*-n-q 1000' @/asked", 0,
                  (const char *const[]){ "1\n", NULL });  // in float16
    command_script("nvidia-smi", "#!/bin/sh\necho 'NVIDIA A4'\n");
    script_prints("LIMIT=100 " GPU, 3, (const char *const[]){ "right ", "begins", NULL });
}

PLAN_TEST(refuses_what_it_does_not_know_and_is_not_there_without_a_gpu)
{
    const struct command c = command_run("sh common/tools/gpu.sh @/b naps");
    cr_assert(c.status == 2 &&
                  is_one_line_with(c.err, "gpu.sh: expected a folder of programs, and"),
              "status %d: %s", c.status, c.err);
    command_script("nvidia-smi", "#!/bin/sh\nexit 9\n");
    script_prints(GPU, 77, (const char *const[]){ "SKIPPED: nvidia-smi names no GPU", NULL });
}

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

/* GPUs with the same PTX get it from the oldest of them. */
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
