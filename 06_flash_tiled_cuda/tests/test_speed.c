/*
 * What is measured, and what is kept of it: on a CPU nothing passes for a GPU's speed.
 */
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <string.h>

#define NAME "06_flash_tiled_cuda"
TEST(program, measures_without_passing_for_a_gpu)
{
    const struct command c = program_run(
        "06_flash_tiled_cuda", "--n-q 40 --d 16 --device cpu --kernel fa2 --bench --csv @/b.csv && "
                               "cat @/b.csv");
    const char *const parts[] = { "Compared with",
                                  "Speed",
                                  " fa1",
                                  " fa2",
                                  "it says nothing about a GPU's speed",
                                  "chapter,kernel,dtype,batch,heads,n,d,causal,direction,device,",
                                  "\n06,fa2,f32,1,1,40,16,0,forward,cpu,",
                                  NULL };
    cr_assert(c.status == 0 && !strstr(c.out, "GFLOP/s") && !missing_part(c.out, parts),
              "status %d: %s%s", c.status, c.out, c.err);
}

#define CSV_TITLE                                                   \
    "chapter,kernel,dtype,batch,heads,n,d,causal,direction,device," \
    "milliseconds,gflops,peak_fraction,ratio_previous,max_abs_error\\n"

/* Here with a program, nvidia-smi and an interpreter that say what they would if there was a GPU. */
TEST(program, keeps_what_was_measured_on_a_gpu_with_its_circumstances)
{
    command_script(
        "program",
        "#!/bin/sh\nall=$*\nwhile [ $# -gt 1 ]; do shift; done\n"
        "[ \"$1\" = --quiet ] || printf '" CSV_TITLE
        "06,fa2,f32,4,16,4096,64,0,forward,gpu,3.0,1.0,0.5,,1e-6\\n"
        "06,complete,f32,4,16,4096,64,0,forward,gpu,2.0,1.0,0.5,1.5,1e-6\\n' >\"$1\"\n"
        "case $all in *bf16*) printf '" CSV_TITLE
        "06,complete,bf16,4,32,8192,128,1,forward,gpu,4.0,1.0,0.5,1.5,1e-6\\n' >\"$1\" ;; esac\n");
    command_script("nvidia-smi", "#!/bin/sh\necho 'NVIDIA T4, 550.1'\n");
    command_script("nvcc", "#!/bin/sh\necho 'Cuda compilation tools, release 12.8, V12'\n");
    command_script(
        "python",
        "#!/bin/sh\ncase $2 in\n*print*) echo PyTorch 2.9 ;;\n*) [ \"$1\" = -c ] || "
        "{ echo '06,pytorch math,f32,4,16,4096,64,0,forward,gpu,8.0,1.0,,,'\n"
        "echo '06,pytorch flash,bf16,4,32,8192,128,1,forward,gpu,6.0,1.0,,,'; } | "
        "if [ -e ${0%/*}/again ]; then sed 's/,8.0,/,9.0,/; s/,6.0,/,5.0,/'; else cat; fi |\n"
        "if [ \"$3\" = errors ]; then sed 's/$/5e-7/'; else cat; fi\n"
        "[ \"$1\" = -c ] || touch ${0%/*}/again ;;\nesac\n");
    const struct command c =
        command_run("PATH=@:$PATH NVCC=@/nvcc PYTHON=@/python RESULTS=@/r.csv "
                    "sh common/tools/bench_cuda.sh @/program " NAME " && cat @/r.csv");
    const char *const parts[] = {
        "complete is 4.000 times as fast",
        "# machine: NVIDIA T4, 550.1",
        "# toolkit: nvcc 12.8, PyTorch 2.9",
        "# command: make bench-06, ",
        "\n06,fa2,f32,",
        "\n06,complete,bf16,4,32,8192,128,1,forward,",
        "\n06,pytorch math,f32,4,16,4096,64,0,forward,gpu,8.0,1.0,,4.000,5e-7",
        "\n06,pytorch flash,bf16,4,32,8192,128,1,forward,gpu,5.0,1.0,,1.250,5e-7",  // of 6 and 5 ms
        NULL
    };
    cr_assert(c.status == 0 && !missing_part(c.out, parts), "status %d: %s%s", c.status, c.out,
              c.err);
}
