/*
 * The program as a reader runs it: its story, every kernel and option, and what it refuses: with status
 * 2 and one line that names the option or file, and nothing written.
 */
#include "command.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME "06_flash_tiled_cuda"
#define PROGRAM "${BUILD:-build}/" NAME " "
#define SHAPE "--batch 2 --heads 4 --kv-heads 2 --n-q 103 --n-k 61 --d 40 "

static struct command run(const char *arguments)
{
    char words[1000];
    snprintf(words, sizeof words, PROGRAM "%s", arguments);
    return command_run(words);
}

static void verifies_and_tells(const char *arguments, const char *const parts[])
{
    command_verified(NAME, arguments, parts);
}

static void refuses(const char *arguments, const char *part)
{
    command_refused(NAME, arguments, part);
}

// ---- the story ----------------------------------------------------------------------------------

TEST(program, tells_its_story_and_verifies_it)
{
    const char *const parts[] = { "06  Flash attention, tiled",
                                  "By hand",
                                  "with lane k xor 4          9   9   9   9   9   9   9   9",
                                  "Kernels",
                                  " 1 naive",
                                  " 2 fa1",
                                  " 3 fa2",
                                  "   complete",
                                  "Input",
                                  "common/data/",
                                  "Grid",
                                  "complete: 16 blocks of 128 threads",
                                  "Counted",
                                  "all ",
                                  "Compared with",
                                  "double reference",
                                  "its lse",
                                  "05 complete",
                                  "complete ran on",
                                  "Next",
                                  "07_backward",
                                  NULL };
    verifies_and_tells("--device cpu", parts);
}

TEST(program, leaves_the_story_out_where_something_else_is_asked_for)
{
    const char *const others[] = { "--traffic", "--kernel all --n-q 9", "--seed 3", "--n-k 9" };
    for (unsigned k = 0; k < sizeof others / sizeof others[0]; k++) {
        const struct command c = command_verified(NAME, others[k], NULL);
        cr_assert(!strstr(c.out, "By hand") && !strstr(c.out, "Next") && strstr(c.out, "Input"),
                  "%s: it printed: %s", others[k], c.out);
    }
    const struct command c = command_verified(NAME, "--quiet", NULL);
    cr_assert(is_one_line_with(c.out, "ok") && strstr(c.out, "off by: reference"),
              "--quiet: it printed: %s", c.out);
    cr_assert(strlen(c.out) <= 101, "--quiet: wider than 100: %s", c.out);
}

// ---- kernels ------------------------------------------------------------------------------------

TEST(program, runs_every_kernel_by_its_name_and_number)
{
    const char *const names[] = { "naive", "fa1", "fa2", "complete" };
    const char *const before[] = { "05 complete", "naive", "fa1", "fa2" };
    for (int k = 0; k < 4; k++)
        for (int number = 0; number < (k < 3 ? 2 : 1); number++) {
            char arguments[100], grid[40], words[40];
            snprintf(words, sizeof words, number ? "%d" : "%.0d%s", number ? k + 1 : 0, names[k]);
            snprintf(arguments, sizeof arguments, "--n-q 33 --n-k 40 --d 16 --causal --kernel %s",
                     words);
            snprintf(grid, sizeof grid, "%s: ", names[k]);
            verifies_and_tells(arguments,
                               (const char *const[]){ "Grid", grid, "Counted", "Compared with",
                                                      before[k], "ran on the CPU", NULL });
        }
    verifies_and_tells("--n-q 33 --n-k 40 --d 16 --kernel all",
                       (const char *const[]){ "Kernels", "naive ", " 05\n", "fa1 ", "naive\n",
                                              "fa2 ", "fa1\n", "complete ", "fa2\n", NULL });
}

TEST(program, says_of_every_kernel_what_it_lacks)
{
    const char *const options[] = { "--window 2,2", "--block-mask band:3", "--key-mask @/m.npy",
                                    "--dropout 0.5" };
    command_zeros("m.npy", NPY_B1, 2, (size_t[]){ 1, 9 });
    for (unsigned k = 0; k < sizeof options / sizeof options[0]; k++) {
        char arguments[100], part[100];
        snprintf(arguments, sizeof arguments, "--n-q 9 --d 16 --kernel all %s", options[k]);
        snprintf(part, sizeof part, "cannot do this: it does not know %.*s\n",
                 (int)strcspn(options[k], " "), options[k]);
        verifies_and_tells(arguments,
                           (const char *const[]){ part, part, part, "complete  ", NULL });
    }
    verifies_and_tells("--n-q 9 --d 40 --kernel all",
                       (const char *const[]){ "does not know d = 40 (d is 16, 32, 64, 96 or 128)",
                                              "complete  ", NULL });
}

TEST(program, lists_its_kernels)
{
    verifies_and_tells("--kernel list",
                       (const char *const[]){ " 1  naive ", "\n 2  fa1 ", "\n 3  fa2 ",
                                              "\n 4  mma ", "\n10  rescale ", "\n11  budget ",
                                              "\n12  wgmma ", "\n13  roles ", "\n14  overlap ",
                                              "\n15  pingpong ", "\n16  persistent ",
                                              "\n17  polynomial ", "\n    complete ", NULL });
    const struct command names = command_verified(NAME, "--kernel list --quiet", NULL);
    cr_assert(strcmp(names.out, "naive\nfa1\nfa2\ncomplete\n") == 0, "it printed: %s", names.out);
    const struct command narrow = command_verified(NAME, "--kernel list --quiet --dtype f16", NULL);
    cr_assert(strcmp(narrow.out,
                     "mma\nswizzle\nasync\nasync3\nexp2\nskip\nrescale\nbudget\nwgmma\n"
                     "roles\noverlap\npingpong\npersistent\npolynomial\ncomplete\n") == 0,
              "it printed: %s", narrow.out);
}

TEST(program, runs_the_kernels_for_16_bits)
{
    verifies_and_tells("--n-q 70 --n-k 40 --d 64 --dtype bf16 --kernel all",
                       (const char *const[]){ "Q, K and V are rounded to bf16",
                                              "Kernels",
                                              " 4 mma ",
                                              " 05\n",
                                              " 5 swizzle ",
                                              "mma\n",
                                              "10 rescale ",
                                              "skip\n",
                                              "11 budget ",
                                              "12 wgmma ",
                                              "budget\n",
                                              "13 roles ",
                                              "wgmma\n",
                                              "14 overlap ",
                                              "roles\n",
                                              "15 pingpong ",
                                              "overlap\n",
                                              "16 persistent ",
                                              "pingpong\n",
                                              "17 polynomial ",
                                              "persistent\n",
                                              "complete ",
                                              "polynomial\n",
                                              "for float32: naive, fa1, fa2\n",
                                              NULL });
    verifies_and_tells("--n-q 20 --d 128 --dtype f16 --kernel async3",
                       (const char *const[]){ "async3: 1 blocks of 128 threads",
                                              "tiles of 128 queries by 32 keys", "Nq d / 2",
                                              "async  ", NULL });
    verifies_and_tells("--n-q 130 --d 64 --dtype f16 --kernel roles --causal",
                       (const char *const[]){ "roles: 2 blocks of 384 threads",
                                              "tiles of 128 queries by 128 keys", "wgmma  ",
                                              NULL });
    verifies_and_tells("--n-q 9 --d 64 --kernel all",
                       (const char *const[]){
                           "complete ", "for --dtype bf16 and f16: mma, swizzle, async", NULL });
    verifies_and_tells("--n-q 20 --d 256 --dtype bf16 --causal --window 5,-1 --dropout 0.2",
                       (const char *const[]){ "complete: 1 blocks of 128 threads", "ok\n", NULL });
}

/* float16 ends at 65504: what is beyond becomes infinite, and the reader is told how much that is. */
TEST(program, says_how_many_numbers_are_too_large_for_16_bits)
{
    const float large[] = { 65504.0f, 1e5f, -1e6f, 65519.0f },
                small[] = { 1.0f, 2.0f, INFINITY, 0.0f };
    float rows[3 * 32] = { 0.0f }, others[3 * 32] = { 0.0f };
    const size_t shape[] = { 3, 32 };
    memcpy(rows, large, sizeof large);
    memcpy(others, small, sizeof small);
    command_array("large.npy", NPY_F4, 2, shape, rows);
    command_array("small.npy", NPY_F4, 2, shape, others);
    const struct command narrow =
        run("--q @/large.npy --k @/small.npy --v @/large.npy --dtype f16");
    cr_assert(
        narrow.status == 0 && strstr(narrow.out, "rounded to f16\n") &&
            strstr(narrow.out, " 4 of their numbers are too large for f16, and become infinite\n"),
        "status %d: %s%s", narrow.status, narrow.out, narrow.err);
    const struct command wide = run("--q @/large.npy --k @/small.npy --v @/large.npy --dtype bf16");
    cr_assert(wide.status == 0 && !strstr(wide.out, "too large"), "status %d: %s%s", wide.status,
              wide.out, wide.err);
}

TEST(program, takes_the_tile_that_is_asked_for)
{
    verifies_and_tells("--n-q 130 --n-k 40 --d 64 --dtype bf16 --kernel budget --br 64 --bc 128",
                       (const char *const[]){ "budget: 3 blocks of 128 threads",
                                              "tiles of 64 queries by 128 keys", NULL });
    verifies_and_tells("--n-q 130 --n-k 40 --d 128 --dtype f16 --kernel budget --bc 128",
                       (const char *const[]){ "budget: 2 blocks of 256 threads",
                                              "tiles of 128 queries by 128 keys", NULL });
    verifies_and_tells("--n-q 130 --n-k 40 --d 128 --dtype f16 --br 64 --causal --window 9,-1",
                       (const char *const[]){ "tiles of 64 queries by 64 keys", NULL });
}

TEST(program, tells_of_its_device)
{
    verifies_and_tells("--kernel device --device cpu",
                       (const char *const[]){ "Device", "multiprocessors, warps of 32 threads",
                                              "shared memory a block", "GFLOP/s",
                                              "a GPU's speed it is not", NULL });
    const struct command c = run("--kernel device --device cpu --csv @/d.csv && cat @/d.csv");
    const char *const lines[] = { "device,what,value\n",
                                  "cpu,bytes of shared memory a block,49152\n",
                                  "cpu,GB/s of a kernel that copies,", "core,bytes of L1 cache,",
                                  NULL };
    cr_assert(c.status == 0 && !missing_part(c.out, lines), "status %d: %s%s", c.status, c.out,
              c.err);
}

TEST(program, does_every_option_together)
{
    unsigned char keys[2 * 61], blocks[4 * 3];
    for (size_t k = 0; k < sizeof keys; k++)
        keys[k] = k % 7 != 0 && k < 90;
    for (size_t k = 0; k < sizeof blocks; k++)
        blocks[k] = k % 3 != 0;
    command_array("m.npy", NPY_B1, 2, (size_t[]){ 2, 61 }, keys);
    command_array("b.npy", NPY_U1, 2, (size_t[]){ 4, 3 }, blocks);
    const char *const sets[] = {
        "--causal --key-mask @/m.npy --block-mask @/b.npy --mask-block 32,25 --dropout 0.3",
        ("--causal=top-left --window 20,3 --scale -0.5 --block-mask band:30 --dropout 0.5 "
         "--dropout-seed 9 --threads 3"),
        "--window 60,-1 --key-mask @/m.npy --block-mask random:0.4:5 --mask-block 10,20 --scale 0",
        "--block-mask random:0:1 --verify=all --seed 4",
        "--causal=bottom-right --block-mask band:0 --mask-block 1,1 --dropout 0.999 --threads 1",
    };
    for (unsigned k = 0; k < sizeof sets / sizeof sets[0]; k++) {
        char arguments[400];
        snprintf(arguments, sizeof arguments, SHAPE "%s --kernel all", sets[k]);
        command_verified(NAME, arguments, NULL);
        snprintf(arguments, sizeof arguments, SHAPE "%s --quiet", sets[k]);
        cr_assert(is_one_line_with(command_verified(NAME, arguments, NULL).out, "ok"),
                  "%s: not one line", arguments);
    }
}

TEST(program, profiles_a_kernel_line_by_line)
{
    const struct command c = run("--n-q 40 --d 16 --kernel fa1 --profile");
    const char *const parts[] = { "Profile",     "fa1, by the lines of its source",
                                  "fa1.cu",      "fast.Q[r][k] * fast.K[c][k]",
                                  "shared load", "51 200",
                                  NULL };
    cr_assert(c.status == 0 && !missing_part(c.out, parts), "status %d: %s%s", c.status, c.out,
              c.err);
}

/* Works of each unit: a box of Q, K and V each, two products for 16 384 pairs, and what softmax makes. */
TEST(program, puts_the_works_of_a_block_on_a_clock)
{
    const char *const shape =
        "--n-q 200 --n-k 128 --d 64 --dtype bf16 --kernel roles --timeline @/t.csv && cat @/t.csv";
    const char *const parts[] = { "Timeline",
                                  "the first block of roles",
                                  "copies                 49 152  bytes",
                                  "tensor cores        4 194 304  FLOP",
                                  "exponentials           16 896  exponentials",
                                  "launch,unit,warp,run,what,begin,end,work,place\n",
                                  "1,copies,8,1,Q,0.0,327.7,16384,06_flash_tiled_cuda/kernels/",
                                  "1,tensor cores,0,",
                                  "product,983.0,",
                                  ",1048576,06_flash_tiled_cuda/kernels/warpgroup.cuh:",
                                  "1,exponentials,0,",
                                  NULL };
    const struct command c = run(shape);
    const char *const missing = missing_part(c.out, parts);
    cr_assert(c.status == 0 && !missing, "status %d, without \"%s\": %s%s", c.status,
              missing ? missing : "", c.out, c.err);
}

TEST(program, never_passes_for_a_gpu_that_is_not_there)
{
    const char *const wanted[] = { "--device gpu --output @/o.npy",
                                   "--kernel device --device gpu" };
    struct command c;
    for (unsigned k = 0; k < sizeof wanted / sizeof wanted[0]; k++) {
        c = run(wanted[k]);
        if (c.status == 0)
            return;  // there is one
        cr_assert(c.status == 77 && strstr(c.err, "SKIPPED: no GPU") && !*c.out &&
                      command_files() == 0,
                  "%s: status %d: %s%s", wanted[k], c.status, c.out, c.err);
    }
    c = run("--n-q 20 --d 16 --device auto");
    cr_assert(c.status == 0 && strstr(c.out, "complete ran on the CPU, standing in for a GPU"),
              "status %d: %s%s", c.status, c.out, c.err);
}

// ---- outputs ------------------------------------------------------------------------------------

TEST(program, writes_what_chapter_05_writes)
{
    const struct command c = command_run(
        PROGRAM
        "--n-q 70 --d 24 --causal --dropout 0.2 --quiet --output @/o6.npy --lse @/l6.npy && "
        "${BUILD:-build}/05_flash_tiled_cpu --n-q 70 --d 24 --causal --dropout 0.2 --quiet "
        "--output @/o5.npy --lse @/l5.npy");
    cr_assert(c.status == 0, "status %d: %s%s", c.status, c.out, c.err);
    const char *const names[2][2] = { { "o6.npy", "o5.npy" }, { "l6.npy", "l5.npy" } };
    for (int k = 0; k < 2; k++) {
        struct npy a[2];
        struct file_error error;
        for (int n = 0; n < 2; n++) {
            char path[300];
            snprintf(path, sizeof path, "%s/%s", command_folder(), names[k][n]);
            cr_assert(npy_read(path, &a[n], &error), "%s: %s", path, error.text);
        }
        cr_assert(a[0].count == a[1].count && a[0].dims == 4 - k, "%s: %zu", names[k][0],
                  a[0].count);
        for (size_t n = 0; n < a[0].count; n++) {
            const float x = ((float *)a[0].data)[n], y = ((float *)a[1].data)[n];
            cr_assert(x - y <= 1e-5f && y - x <= 1e-5f, "%s: %zu: %g and %g", names[k][0], n,
                      (double)x, (double)y);
        }
        npy_free(&a[0]);
        npy_free(&a[1]);
    }
}

TEST(program, writes_tables_for_other_programs)
{
    struct command c = run("--n-q 40 --d 16 --quiet --csv @/s.csv && cat @/s.csv");
    const char *const summary[] = {
        "ok\n",   "chapter,accesses,counted,extra_bytes,milliseconds,error,",
        "06,",    ",fa2,",
        ",yes\n", NULL
    };
    cr_assert(c.status == 0 && !missing_part(c.out, summary), "status %d: %s%s", c.status, c.out,
              c.err);
    c = run("--n-q 40 --d 16 --quiet --kernel all --csv @/s.csv && cat @/s.csv");
    const char *const all[] = { "chapter,kernel,device,blocks,threads,br,bc,accesses,pairs,",
                                "\n06,naive,cpu,",
                                "\n06,fa1,cpu,",
                                "\n06,fa2,cpu,1,128,128,64,",
                                "\n06,complete,cpu,",
                                NULL };
    cr_assert(c.status == 0 && !missing_part(c.out, all), "status %d: %s%s", c.status, c.out,
              c.err);
}

TEST(program, measures_without_passing_for_a_gpu)
{
    const struct command c =
        run("--n-q 40 --d 16 --device cpu --kernel fa2 --bench --csv @/b.csv && "
            "cat @/b.csv");
    const char *const parts[] = { "Compared with",
                                  "Speed",
                                  "2 fa1",
                                  "3 fa2",
                                  "it says nothing about a GPU's speed",
                                  "chapter,kernel,dtype,batch,heads,n,d,causal,direction,device,",
                                  "\n06,fa2,f32,1,1,40,16,0,forward,cpu,",
                                  NULL };
    cr_assert(c.status == 0 && !strstr(c.out, "GFLOP/s") && !missing_part(c.out, parts),
              "status %d: %s%s", c.status, c.out, c.err);
}

/* A program, nvidia-smi and an interpreter that say what they would if there was a GPU. */
static void pretend(const char *name, const char *script)
{
    command_file(name, script, (unsigned)strlen(script));
}

#define CSV_TITLE                                                   \
    "chapter,kernel,dtype,batch,heads,n,d,causal,direction,device," \
    "milliseconds,gflops,peak_fraction,ratio_previous,max_abs_error\\n"

TEST(program, keeps_what_was_measured_on_a_gpu_with_its_circumstances)
{
    pretend(
        "program",
        "#!/bin/sh\nall=$*\nwhile [ $# -gt 1 ]; do shift; done\n"
        "[ \"$1\" = --quiet ] || printf '" CSV_TITLE
        "06,fa2,f32,4,16,4096,64,0,forward,gpu,3.0,1.0,0.5,,1e-6\\n"
        "06,complete,f32,4,16,4096,64,0,forward,gpu,2.0,1.0,0.5,1.5,1e-6\\n' >\"$1\"\n"
        "case $all in *bf16*) printf '" CSV_TITLE
        "06,complete,bf16,4,32,8192,128,1,forward,gpu,4.0,1.0,0.5,1.5,1e-6\\n' >\"$1\" ;; esac\n");
    pretend("nvidia-smi", "#!/bin/sh\necho 'NVIDIA T4, 550.1'\n");
    pretend("nvcc", "#!/bin/sh\necho 'Cuda compilation tools, release 12.8, V12'\n");
    pretend("python",
            "#!/bin/sh\ncase $2 in\n*print*) echo PyTorch 2.9 ;;\n*) [ \"$1\" = -c ] || "
            "{ echo '06,pytorch math,f32,4,16,4096,64,0,forward,gpu,8.0,1.0,,,'\n"
            "echo '06,pytorch flash,bf16,4,32,8192,128,1,forward,gpu,6.0,1.0,,,'; } | "
            "if [ -e ${0%/*}/again ]; then sed 's/,8.0,/,9.0,/; s/,6.0,/,5.0,/'; else cat; fi\n"
            "[ \"$1\" = -c ] || touch ${0%/*}/again ;;\nesac\n");
    const struct command c =
        command_run("chmod +x @/program @/nvidia-smi @/nvcc @/python && PATH=@:$PATH NVCC=@/nvcc "
                    "PYTHON=@/python RESULTS=@/r.csv sh common/tools/bench_cuda.sh @/program " NAME
                    " && cat @/r.csv");
    const char *const parts[] = {
        "complete is 4.000 times as fast",
        "# machine: NVIDIA T4, 550.1",
        "# toolkit: nvcc 12.8, PyTorch 2.9",
        "# command: make bench-06, ",
        "\n06,fa2,f32,",
        "\n06,complete,bf16,4,32,8192,128,1,forward,",
        "\n06,pytorch math,f32,4,16,4096,64,0,forward,gpu,8.0,1.0,,4.000,",
        "\n06,pytorch flash,bf16,4,32,8192,128,1,forward,gpu,5.0,1.0,,1.250,",  // of 6 and 5 ms
        NULL
    };
    cr_assert(c.status == 0 && !missing_part(c.out, parts), "status %d: %s%s", c.status, c.out,
              c.err);
}

// ---- refusals -----------------------------------------------------------------------------------

TEST(refusals, of_kernels_that_cannot_do_what_is_asked)
{
    refuses("--kernel fa1 --n-q 5 --d 16 --window 1,1 --output @/o.npy",
            "--kernel: expected a kernel that knows --window, and fa1 does not");
    refuses("--kernel naive --n-q 5 --block-mask band:1", "a kernel that knows --block-mask");
    refuses("--kernel 3 --n-q 5 --dropout 0.5", "a kernel that knows --dropout, and fa2 does not");
    refuses("--kernel fa1",
            "--kernel: expected a kernel that knows --key-mask (the course's input has one)");
    refuses("--kernel fa2 --n-q 5 --d 40",
            "knows d = 40 (d is 16, 32, 64, 96 or 128), and fa2 does");
    refuses("--n-q 5 --d 129", "knows d = 129 (d is at most 128), and complete does not");
    refuses("--n-q 1 --batch 70000 --d 1", "knows more than 65 535 heads, and complete does not");
    refuses("--kernel all --n-q 5 --d 129", "some kernel can do; none knows d = 129");
    refuses("--kernel mma --n-q 5", "knows --dtype f32, and mma does not");
    refuses("--kernel fa2 --n-q 5 --dtype f16", "knows --dtype f16, and fa2 does not");
    refuses("--kernel swizzle --n-q 5 --d 96 --dtype f16", "knows d = 96 (d is 64 or 128)");
    refuses("--n-q 5 --d 40 --dtype bf16",
            "knows d = 40 (d is 32, 64, 96, 128 or 256 with --dtype bf16)");
    refuses("--dtype", "--dtype: expected a value after it");
    refuses("--dtype fp16", "--dtype: expected f32, bf16 or f16, found 'fp16'");
    refuses("--kernel nope", "--kernel: expected list, all, device or one of the kernels");
    refuses("--kernel 99", "found '99'");
    refuses("--kernel 0", "found '0'");
    refuses("--kernel ''", "--kernel: expected a name");
}

TEST(refusals, of_tiles_that_are_not_compiled)
{
    refuses("--kernel budget --n-q 5 --d 64 --dtype bf16 --br 100 --output @/o.npy",
            "--br: expected a tile that budget is compiled for with d = 64: "
            "128 x 64, 128 x 32, 64 x 64, 64 x 128");
    refuses("--kernel 11 --n-q 5 --d 128 --dtype f16 --bc 16",
            "--bc: expected a tile that budget is compiled for with d = 128: "
            "128 x 32, 64 x 64, 128 x 64, 128 x 128");
    refuses("--n-q 5 --d 96 --dtype f16 --br 128 --bc 64",
            "--br: expected a tile that complete is compiled for with d = 96: 128 x 32");
    refuses("--n-q 5 --d 64 --br 64", "--br: expected a kernel that has several tiles: budget, or "
                                      "complete with --dtype bf16 or f16; complete has one");
    refuses("--kernel skip --n-q 5 --d 64 --dtype f16 --bc 64",
            "--bc: expected a kernel that has several tiles");
    refuses("--kernel all --n-q 5 --d 64 --dtype f16 --br 64",
            "--br: expected one --kernel with it, not all");
    refuses("--n-q 5 --d 64 --dtype f16 --br 0", "--br: expected a whole number from 1 to");
}

TEST(refusals, of_what_does_not_belong_here)
{
    refuses("--kernel all --n-q 5 --output @/o.npy", "--output: expected one --kernel with it");
    refuses("--kernel all --n-q 5 --lse @/l.npy", "--lse: expected one --kernel with it");
    refuses("--kernel all --n-q 5 --profile", "--profile: expected one --kernel with it");
    refuses("--kernel all --n-q 5 --timeline @/t.csv", "--timeline: expected one --kernel with it");
    refuses("--kernel list --timeline @/t.csv", "--timeline: expected a kernel with it");
    refuses("--n-q 2000 --timeline @/t.csv",
            "--timeline: expected a smaller problem, of at most 10 million");
    refuses("--n-q 5 --timeline @/no/t.csv", "/no/t.csv");
    refuses("--n-q 5 --timeline @/t.csv --csv @/t.csv", "but --timeline writes there too");
    refuses("--kernel device --output @/o.npy", "--output: expected a kernel with it");
    refuses("--kernel list --csv @/l.csv", "--csv: expected a kernel with it");
    refuses("--n-q 2000 --profile", "--profile: expected a smaller problem, of at most 10 million");
    refuses("--device", "--device: expected a value after it");
    refuses("--device tpu", "--device: expected cpu, gpu or auto, found 'tpu'");
    refuses("--device ''", "--device: expected cpu, gpu or auto, found ''");
    const char *const unknown[] = { "--sram", "--trace" };
    for (unsigned k = 0; k < sizeof unknown / sizeof unknown[0]; k++)
        refuses(unknown[k], "expected an option of this chapter; --help lists them");
}

TEST(refusals, come_before_anything_is_printed)
{
    const char *const early[] = { "--kernel fa1 --d 5 --n-q 5", "--device x", "--kernel x" };
    for (unsigned k = 0; k < sizeof early / sizeof early[0]; k++) {
        const struct command c = run(early[k]);
        cr_assert(c.status == 2 && !*c.out, "%s: printed before it refused: %s", early[k], c.out);
    }
}
