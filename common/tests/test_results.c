/*
 * results.sh, which keeps what was measured, a file for each machine; peers.sh and memory.sh, which fill
 * it, here from programs that only pretend; and table.sh, which makes tables of it. gpu_speed.sh, gpu_best.sh and
 * plots_gpu.sh, which make them of a GPU's figures.
 */
#include "command.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define TITLE                                                                            \
    "chapter,kernel,dtype,batch,heads,n,d,causal,direction,threads,milliseconds,gflops," \
    "peak_fraction,ratio_previous,max_abs_error,runs\n"
#define HEAD(command) \
    "# machine: A Machine, 2 cores, Linux\n# command: " command ", 2026-01-02, at commit abc\n"
#define LADDER_05 "05,fa2,f32,1,1,128,64,0,forward,1,2.0,3.5,0.25,,1e-7,\n"
#define PEERS_05                                                               \
    "05,complete,f32,1,8,128,64,0,forward,1,1.0,8.0,0.50,1.000,1e-7,it\n"      \
    "peer,PyTorch 9 (X),f32,1,8,128,64,0,forward,1,2.0,4.0,0.25,2.000,1e-7,\n" \
    "05,complete,f32,1,8,512,64,1,forward,1,1.0,8.0,0.75,1.000,1e-7,it\n"      \
    "peer,PyTorch 9 (X),f32,1,8,512,64,1,forward,1,0.5,4.0,0.50,0.500,1e-7,\n"
#define ROWS_07 "07,fa2,f32,1,1,128,64,0,backward,1,2.0,3.5,0.25,,1e-7,\n"
#define RESULTS "sh common/peers/results.sh "

static void write_text(const char *name, const char *text)
{
    command_file(name, text, (unsigned)strlen(text));
}

/* A file of results with the parts 07 and 05, put in this order, as @/r.csv. */
static void set_up(void)
{
    write_text("05", HEAD("make peers-05") LADDER_05 PEERS_05);
    write_text("07", HEAD("make peers-07") ROWS_07);
    const struct command c =
        command_run(RESULTS "put 07 @/r.csv <@/07 && " RESULTS "put 05 @/r.csv <@/05");
    cr_assert(c.status == 0, "status %d: %s%s", c.status, c.out, c.err);
}

static void prints(const char *words, const char *const parts[])
{
    const struct command c = command_run(words);
    const char *const missing = missing_part(c.out, parts);
    cr_assert(c.status == 0 && !missing, "status %d, expected %s in its place in: %s%s", c.status,
              missing ? missing : "all", c.out, c.err);
}

static void refuses(const char *words, const char *part)
{
    const struct command c = command_run(words);
    cr_assert(c.status == 2 && is_one_line_with(c.err, part),
              "%s: status %d, expected 2 and \"%s\": %s", words, c.status, part, c.err);
}

TEST(results, have_one_line_of_names_and_parts_in_order)
{
    set_up();
    const struct command c = command_run("cat @/r.csv");
    cr_assert(strcmp(c.out, TITLE "# part: 05\n" HEAD("make peers-05") LADDER_05 PEERS_05
                     "# part: 07\n" HEAD("make peers-07") ROWS_07) == 0,
              "%s", c.out);
}

TEST(results, give_a_part_back_as_it_was_put)
{
    set_up();
    const struct command c = command_run(RESULTS "get 05 @/r.csv | diff - @/05 && " RESULTS
                                                 "get 07 @/r.csv | diff - @/07");
    cr_assert(c.status == 0, "status %d: %s%s", c.status, c.out, c.err);
}

TEST(results, a_new_part_takes_the_place_of_the_old_one_and_of_no_other)
{
    set_up();
    write_text("new", HEAD("make results") "05,new,f32,1,1,128,64,0,forward,1,2,3,0,,1e-7,\n");
    const struct command c = command_run(RESULTS "put 05 @/r.csv <@/new && " RESULTS
                                                 "get 05 @/r.csv | diff - @/new && " RESULTS
                                                 "get 07 @/r.csv | diff - @/07");
    cr_assert(c.status == 0, "status %d: %s%s", c.status, c.out, c.err);
}

TEST(results, that_say_nothing_of_the_machine_or_have_no_row_are_refused)
{
    set_up();
    write_text("no_head", LADDER_05);
    write_text("no_row", HEAD("make peers-05"));
    refuses(RESULTS "put 05 @/r.csv <@/no_head", "expected # machine:");
    refuses(RESULTS "put 05 @/r.csv <@/no_row", "expected # machine:");
    refuses(RESULTS "put 06 @/r.csv <@/05", "found '06'");
    refuses(RESULTS "get 05 README.md", "README.md: expected results as make results writes them");
    refuses(RESULTS "get 05 @/nothing", "nothing: expected results");
    refuses(RESULTS "machines", "expected machines, and files");
    const struct command c = command_run(RESULTS "get 05 @/r.csv | diff - @/05");
    cr_assert(c.status == 0, "a refusal changed the file: %s", c.out);
}

TEST(results, the_table_of_machines_has_the_least_and_the_most)
{
    set_up();
    const char *const parts[] = { "| A Machine, 2 cores | forward | 50 to 75 % | 0.50 to 2.00 |",
                                  " not measured yet |",
                                  " not measured yet |",
                                  " `make peers-05`, 2026-01-02, at commit abc |",
                                  "| backward |",
                                  " not measured yet |",
                                  NULL };
    prints(RESULTS "machines @/r.csv", parts);
}

TEST(results, a_table_is_of_the_part_that_it_is_asked_for)
{
    set_up();
    const char *const ladder[] = { "one head, N = 128", "3.5  25.0 %", "command: make peers-07",
                                   NULL };
    const char *const peers[] = {
        "8 heads",       "128     50.0 %     2.00", "512     75.0 %     0.50",
        "PyTorch 9 (X)", "command: make peers-05",  NULL
    };
    prints("sh common/peers/table.sh ladder 07 @/r.csv", ladder);
    prints("sh common/peers/table.sh peers 05 @/r.csv", peers);
    refuses("sh common/peers/table.sh peers 07 @/r.csv", "found no rows for this table");
    refuses("sh common/peers/table.sh peers 05", "expected ladder or peers");
}

TEST(results, memory_that_was_not_measured_is_said_to_be_so)
{
    set_up();
    const char *const parts[] = { "not measured yet", NULL };
    prints(RESULTS "memory @/r.csv", parts);
}

/* @/build has what memory.sh runs: a measuring program that says N thousand bytes, and makes a note of its command. */
static void pretend_to_measure(void)
{
    set_up();
    write_text(
        "resident",
        "#!/bin/sh\necho \"$*\" >>\"${0%/*}/asked\"\ncase $* in *' --n-q 512 '*) echo 512000 ;; "
        "*) echo 128000 ;; esac\n");
    const struct command c = command_run(
        "chmod +x @/resident && mkdir -p @/build/peers && mv @/resident @/build/peers/ && "
        "for n in 05_flash_tiled_cpu 07_backward; do cp /bin/true @/build/$n; done");
    cr_assert(c.status == 0, "%s", c.err);
}

TEST(results, memory_is_measured_for_each_step_and_size)
{
    pretend_to_measure();
    const char *const parts[] = { "05/standard",
                                  "07/complete",
                                  "128",
                                  "0.1 MB",
                                  "512",
                                  "0.5 MB",
                                  "machine: A Machine, 2 cores, Linux",
                                  "command: SIZES=\"128 512\" sh common/peers/memory.sh ",
                                  NULL };
    prints("SIZES='128 512' sh common/peers/memory.sh @/build @/r.csv", parts);
    const struct command c =
        command_run("grep -c '^memory,' @/r.csv; grep -c . @/build/peers/asked; "
                    "grep -c '^[^ ]*/07_backward .*--kernel fa2 ' @/build/peers/asked; " RESULTS
                    "get 07 @/r.csv | diff - @/07");
    cr_assert(c.status == 0 && strcmp(c.out, "12\n12\n2\n") == 0, "%s", c.out);
    const char *const from_make[] = { "command: SIZES=\"128\" make results, ", NULL };
    prints("TARGET=results SIZES=128 sh common/peers/memory.sh @/build @/r.csv", from_make);
}

TEST(results, memory_of_a_step_that_fails_is_not_written)
{
    pretend_to_measure();
    const struct command c =
        command_run("printf '#!/bin/sh\\nexit 1\\n' >@/build/peers/resident; cp @/r.csv @/before; "
                    "sh common/peers/memory.sh @/build @/r.csv");
    cr_assert(c.status == 1 && strstr(c.err, "05/standard with N = 128 did not end well"),
              "status %d: %s", c.status, c.err);
    cr_assert(command_run("cmp @/r.csv @/before").status == 0);
    refuses("SIZES='128 x' sh common/peers/memory.sh @/build @/r.csv", "found '128 x'");
}

TEST(results, resident_says_what_a_program_had_and_whether_it_ended_well)
{
    struct command c = command_run(
        "${BUILD:-build}/peers/resident dd if=/dev/zero of=/dev/null bs=67108864 count=1 2>@/err");
    const long long bytes = strtoll(c.out, NULL, 10);
    cr_assert(c.status == 0 && bytes > 60000000 && bytes < 500000000, "status %d: %s", c.status,
              c.out);
    c = command_run("${BUILD:-build}/peers/resident false");
    cr_assert(c.status == 1 && !*c.out, "status %d: %s", c.status, c.out);
}

#define PEERS_07                                                                                \
    "unset PYTHON; PATH=@:$PATH SIZES=64 TARGET=results INTO=@/r.csv sh common/peers/peers.sh " \
    "@/build 07_backward"

/* Programs that say what the chapter, its ladder and the referee would, and no python3 to fetch libraries with. */
static void pretend_to_have_peers(const char *referee)
{
    set_up();
    write_text(
        "chapter",
        "#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\n"
        "printf 'chapter,...\\n07,fa2,f32,1,1,64,64,0,backward,1,1,1,0.5,,1e-7\\n' >\"$1\"\n"
        "echo '   A Machine, 2 cores, Linux; one core: 9.0 GFLOP/s of FMA, 8.0 GB/s copied'\n");
    write_text("referee", referee);
    write_text("python3", "#!/bin/sh\nexit 1\n");
    const struct command c = command_run(
        "chmod +x @/chapter @/referee @/python3 && mkdir -p @/build/peers && cp @/chapter "
        "@/build/07_backward && cp @/referee @/build/peers/ && cp @/chapter "
        "@/build/peers/07_backward");
    cr_assert(c.status == 0, "%s", c.err);
}

TEST(results, peers_writes_its_part_with_where_and_how_it_was_measured)
{
    pretend_to_have_peers(
        "#!/bin/sh\necho '07,complete,f32,1,8,64,64,0,backward,1,1,1,0.5,1.0,1e-7,it'\n");
    const char *const parts[] = { "skipped: oneDNN",
                                  "skipped: OpenBLAS",
                                  "skipped: PyTorch",
                                  "wrote part 07 of ",
                                  "command: SIZES=\"64\" make results, ",
                                  NULL };
    const struct command c = command_run(PEERS_07);
    cr_assert(c.status == 0 && !missing_part(c.out, parts) && !strstr(c.out, "measure again"),
              "status %d: %s%s", c.status, c.out, c.err);
    const char *const kept[] = { "# part: 05\n",
                                 LADDER_05,
                                 "# part: 07\n# machine: A Machine, 2 cores, Linux\n",
                                 "# one core: 9.0 GFLOP/s of FMA, 8.0 GB/s copied\n",
                                 "\n07,fa2,f32,1,1,64,",
                                 ",1e-7,\n07,complete,f32,1,8,64,",
                                 NULL };
    prints("cat @/r.csv && cmp @/r.csv \"$(cat @/build/peers/written)\"", kept);
}

TEST(results, peers_says_that_a_speed_above_the_peak_was_disturbed)
{
    pretend_to_have_peers(
        "#!/bin/sh\necho '07,complete,f32,1,8,64,64,0,backward,1,1,1,1.2,1.0,1e-7,it'\n");
    const char *const parts[] = { "wrote part 07 of ", "above 100 % of the peak", "measure again",
                                  NULL };
    prints(PEERS_07, parts);
}

TEST(chapters, the_front_pages_table_takes_speeds_from_the_results)
{
    set_up();
    write_text("pretender",
               "#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\n"
               "printf 'chapter,...\\n0,f,1234567,12345,1,6.4e-07,,,yes\\n' >\"$1\"\n");
    const char *const parts[] = { "| chapter |",
                                  "[01 standard softmax]",
                                  "3 N a row: 1 234 567 | 12 kB | 6e-07 | – |",
                                  "[05 ",
                                  "O(N): 12 kB | 6e-07 | 0.50 to 2.00 times as fast |",
                                  "[06 ",
                                  "O(N): 12 kB | 6e-07 | ",
                                  " times as fast |",
                                  "[07 ",
                                  "O(N): 12 kB | 6e-07 | not measured yet |",
                                  NULL };
    prints(
        "chmod +x @/pretender && mkdir -p @/build @/results && cp @/r.csv @/results && for n in "
        "01_standard_softmax 02_safe_softmax 03_online_softmax 04_flash_no_tiling "
        "05_flash_tiled_cpu 06_flash_tiled_cuda 07_backward; do cp @/pretender @/build/$n; done; "
        "sh common/tools/chapters.sh @/build @/results",
        parts);
    const struct command c =
        command_run("printf '#!/bin/sh\\nexit 1\\n' >@/build/04_flash_no_tiling; "
                    "sh common/tools/chapters.sh @/build");
    cr_assert(c.status == 2 && is_one_line_with(c.err, "04_flash_no_tiling did not end well"),
              "status %d: %s", c.status, c.err);
}

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
    write_text("one.csv", "# machine: A GPU, 1.2: name, driver\n# toolkit: nvcc 9, PyTorch 8\n"
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
    write_text("two.csv", "# machine: Another GPU, 1.2: name, driver\n" GPU_TITLE
                          "07,cuda_mma,f32,4,32,128,64,0,backward,gpu,9,600000,0.1,,1e-4\n"
                          "07,pytorch math,f32,4,32,128,64,0,backward,gpu,9,500000,,,\n"
                          "07,cuda_mma,bf16,4,32,128,64,0,backward,gpu,9,700000,0.1,,1e-4\n"
                          "06,mma,bf16,4,32,128,64,0,forward,gpu,9,600000,0.1,,1e-4\n"
                          "06,pytorch math,bf16,4,32,128,64,0,forward,gpu,9,500000,,,\n");
    write_text("device.csv", "# machine: A CPU\ndevice,what,value\ncpu,multiprocessors,2\n");
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
    prints(BEST "page @/one.csv @/device.csv @/two.csv", parts);
}

TEST(gpu_best, sums_up_a_pass_by_the_least_and_the_most_of_its_problems)
{
    measure_two_gpus();
    const char *const parts[] = {
        "| A GPU | forward | bf16 | 99.9 to 400 | 0.50 to 1.25 |\n",
        "| Another GPU | backward | float32 | 600 to 600 | 1.20 to 1.20 |\n",
        "| Another GPU | backward | bf16 | 700 to 700 | not measured yet |\n", NULL
    };
    prints(BEST "summary @/one.csv @/device.csv @/two.csv", parts);
}

TEST(gpu_best, says_what_it_expects)
{
    refuses(BEST "row 06_flash_tiled_cuda/results/device.csv", "expected rows, page or summary");
    refuses(BEST "rows", "expected files of results");
    refuses(BEST "rows nowhere/gpu.csv", "nowhere/gpu.csv: expected a file of results");
}

/* Runs gpu_speed.sh where chapter 06 has the results of two GPUs and chapter 07 none. */
#define SPEED                                                                              \
    "mkdir -p @/06_flash/results && cp @/one.csv @/two.csv @/06_flash/results/ && ln -sfn " \
    "\"$PWD/common\" @/common && cd @ && GPU=one sh common/tools/gpu_speed.sh "

TEST(gpu_speed, is_a_table_of_kernels_and_backends_for_the_problems_that_a_page_asks_for)
{
    measure_two_gpus();
    const struct command c = command_run(
        SPEED "06 bf16 '64,128 64,128,causal 64,256,causal' mma complete 'pytorch cudnn' 'pytorch flash'");
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
    prints(SPEED "06 f32 64,128 mma", nothing);
    prints(SPEED "07 bf16 64,128 mma", nothing);
}

TEST(gpu_speed, says_which_gpu_it_was)
{
    measure_two_gpus();
    const struct command c = command_run(SPEED "06 machine");
    cr_assert(c.status == 0 &&
                  strcmp(c.out, "A GPU, driver 1.2, nvcc 9, PyTorch 8; `make bench-06`, "
                                "2026-01-02, at commit abc. All figures: [`one.csv`]"
                                "(results/one.csv). PyTorch: an hour before.\n") == 0,
              "status %d: %s%s", c.status, c.err, c.out);
    const char *const nothing[] = { "Not measured yet.\n", NULL };
    prints(SPEED "07 machine", nothing);
}

TEST(gpu_speed, says_what_it_expects)
{
    refuses("sh common/tools/gpu_speed.sh 06", "expected a chapter, a type, problems and kernels");
    refuses("sh common/tools/gpu_speed.sh 06 bf16 64,128", "expected a chapter, a type");
    refuses("sh common/tools/gpu_source.sh one.csv", "expected a file of results, a link");
}

TEST(gpu_ladder, of_a_picture_has_the_longest_problems_in_16_bits_and_nothing_that_was_not_measured)
{
    write_text("gpu.csv", "# machine: A GPU, 1.2: name, driver\n" GPU_TITLE
                          "07,cuda_recompute,f32,4,16,4096,64,0,backward,gpu,9,1000,0.1,,1e-4\n"
                          "07,cuda_mma,bf16,4,32,4096,64,0,backward,gpu,9,2000,0.1,,1e-4\n"
                          "07,cuda_wgmma,bf16,4,32,4096,64,0,backward,gpu,9,3000,0.1,,1e-4\n"
                          "07,cuda_bulk,bf16,4,32,4096,64,0,backward,gpu,9,4000,0.1,,1e-4\n"
                          "07,cuda_complete,bf16,4,32,4096,64,0,backward,gpu,9,5000,0.1,,1e-4\n"
                          "07,cuda_mma,bf16,4,32,4096,64,1,backward,gpu,9,9000,0.1,,1e-4\n"
                          "07,cuda_mma,bf16,4,32,4096,128,0,backward,gpu,9,9000,0.1,,1e-4\n"
                          "07,cuda_bulk,bf16,4,32,8192,128,0,backward,gpu,9,7000,0.1,,1e-4\n"
                          "07,cuda_bulk,bf16,4,32,16384,128,0,backward,gpu,9,9000,0.1,,1e-4\n"
                          "07,pytorch flash,bf16,4,32,4096,128,0,backward,gpu,9,9000,,,\n"
                          "07,pytorch math,bf16,4,32,4096,64,0,backward,gpu,9,9000,,,\n"
                          "07,pytorch cudnn,bf16,4,32,4096,64,0,backward,gpu,9,8000,,,\n");
    const struct command c = command_run("sh common/tools/plots_gpu.sh @/gpu.csv");
    cr_assert(c.status == 0, "status %d: %s", c.status, c.err);
    cr_assert(strcmp(c.out, "# A GPU\n#N 128 8192\n#N 64 4096\n# 64 cudnn 8\n1 cuda_mma NaN 2 1\n2 "
                            "cuda_wgmma NaN 3 2\n"
                            "3 cuda_bulk 7 4 2\n4 cuda_complete NaN 5 3\n") == 0,
              "%s", c.out);
    const struct command none = command_run("sh common/tools/plots_gpu.sh @/nowhere.csv");
    cr_assert(none.status == 0 && none.out[0] == '\0', "status %d: %s", none.status, none.out);
    refuses("sh common/tools/plots_gpu.sh", "expected a file of results");
}
