/*
 * The program with a CUDA kernel or a device.
 */
#include "common/files/npy.h"
#include "common/tests/command.h"
#include "common/tests/problems.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHAPE "--heads 2 --n-q 70 --n-k 200 --d 24 "
#define OPTIONS \
    "--batch 2 --heads 4 --kv-heads 2 --n-q 70 --n-k 83 --d 24 --window 50,0 --dropout 0.1 "

static void tells(const char *arguments, const char *const parts[])
{
    command_verified("07_backward", arguments, parts);
}

static void refuses(const char *arguments, const char *part)
{
    command_refused("07_backward", arguments, part);
}

/* P is rounded to float16 before dropout's factor, here 20, enlarges it, and its rounding error. */
TEST(cuda_program, verifies_right_gradients_in_float16_with_much_dropout)
{
    const struct command c = command_run("${BUILD:-build}/07_backward --dtype f16 --device cpu "
                                         "--n-q 64 --dropout 0.95 --scale 2 --quiet");
    cr_assert(c.status == 0, "status %d: %s%s", c.status, c.out, c.err);
}

TEST(cuda_program, runs_every_kernel_by_its_name)
{
    static const char *const names[] = { "cuda_standard", "cuda_recompute", "cuda_deterministic",
                                         "cuda_complete" };
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        char arguments[100], before[40];
        snprintf(arguments, sizeof arguments, SHAPE "--device cpu --step %s", names[k]);
        snprintf(before, sizeof before, "dV, %s", k ? names[k - 1] : "complete");
        tells(arguments,
              (const char *const[]){ "Counted", "dK stores", "Compared with", "dQ, reference",
                                     before, names[k], "ran on the CPU, standing in for a GPU",
                                     "Again", k == 1 ? "dQ: different bits" : "dQ: the same bits",
                                     "dK: the same bits", NULL });
    }
}

/* A tile of 64 by 128 pairs: five products of 64 elements each, 5 242 880 FLOP. */
TEST(cuda_program, puts_the_works_of_a_block_on_a_clock)
{
    tells("--n-q 64 --n-k 128 --d 64 --step cuda_mma --dtype f16 --timeline @/t.csv",
          (const char *const[]){ "cuda_mma ran on ", "Timeline", "the first block of cuda_mma",
                                 "tensor cores", "5 242 880  FLOP", "exponentials",
                                 "8 192  exponentials", NULL });
    cr_assert(command_made("t.csv"), "no file");
}

/* The steps on tensor cores, and the one before each. */
TEST(cuda_program, runs_kernels_in_16_bits)
{
    static const char *const split[] = { "Q, K and V are rounded to bf16",
                                         "dV, complete",
                                         "cuda_mma_split ran on ",
                                         "dQ: the same bits",
                                         "dK: the same bits",
                                         NULL };
    static const char *const one[] = {
        "dO and the forward pass's O are", "dQ loads",          "dV, cuda_mma_split",
        "cuda_mma ran on the CPU",         "dV: the same bits", NULL
    };
    tells("--heads 2 --n-q 70 --n-k 200 --step cuda_mma_split --dtype bf16", split);
    tells("--heads 2 --n-q 70 --n-k 200 --step cuda_mma --dtype f16 --device cpu", one);
    tells(
        "--n-q 70 --n-k 140 --step cuda_store --dtype f16 --device cpu",
        (const char *const[]){ "sums loads", "cuda_store ran on ", "its gradients are f16", NULL });
    tells("--n-q 70 --d 64 --dtype bf16 --step all",
          (const char *const[]){ "cuda_mma_split ", "cuda_mma  ", "cuda_wgmma ", "cuda_mma\n",
                                 "cuda_bulk ", "cuda_wgmma\n", "cuda_roles ", "cuda_bulk\n",
                                 "cuda_store ", "cuda_roles\n", "cuda_ordered ", "cuda_store\n",
                                 "cuda_complete ", "cuda_ordered\n",
                                 "for float32 or --dtype f16: cuda_standard, ",
                                 "and those of cuda_store bf16", NULL });
    tells("--heads 2 --kv-heads 1 --n-q 70 --n-k 150 --step cuda_ordered --dtype bf16 --causal",
          (const char *const[]){ "dQ stores", "dV, cuda_store", "cuda_ordered ran on ",
                                 "dQ: the same bits", NULL });
}

TEST(cuda_program, takes_complete_where_only_a_device_is_named)
{
    const char *const parts[] = { "Counted", "dQ, complete", "cuda_complete ran on the CPU", NULL };
    tells(OPTIONS "--device cpu", parts);
    tells("--device cpu --threads 1 --n-q 9",
          (const char *const[]){ "cuda_complete ran on the CPU", NULL });
    tells("--device auto --n-q 9", NULL);
}

/* Also if only a type is named. */
TEST(cuda_program, takes_complete_where_only_a_type_is_named)
{
    static const char *const parts[] = {
        "Q, K and V are rounded to bf16", "(Tc + 1) Nq d / 2", "Tc Nq d + Tr Nk d", "dV, complete",
        "cuda_complete ran on ",          "dQ: the same bits", "dV: the same bits", NULL
    };
    tells("--dtype bf16 --batch 2 --heads 4 --kv-heads 2 --n-q 70 --n-k 83 --d 32 "
          "--window 50,0 --dropout 0.1 --block-mask band:30 --mask-block 10,20",
          parts);
    tells("--dtype f16 --n-q 40 --d 96 --scale -0.1 --csv @/t.csv", NULL);
    cr_assert(command_run("grep -q 'Tc Nq d + Tr Nk d' @/t.csv").status == 0, "no csv");
}

TEST(cuda_program, tells_all_kernels_and_why_some_cannot)
{
    tells("--step all --n-q 70",
          (const char *const[]){ "Steps", "complete", "Kernels", "cuda_standard", "complete\n",
                                 "cuda_recompute", "cuda_standard\n", "cuda_deterministic",
                                 "cuda_recompute\n", "cuda_complete", "cuda_deterministic\n",
                                 NULL });
    tells(OPTIONS "--step all",
          (const char *const[]){ "cuda_standard      does not support --dropout", "cuda_complete  ",
                                 NULL });
    tells("--step all --n-q 5 --d 129",
          (const char *const[]){ "cuda_complete      does not support d = 129", NULL });
}

TEST(cuda_program, leaves_kernels_out_that_are_named)
{
    tells("--step all --n-q 20 --d 16 --exclude cuda_recompute",
          (const char *const[]){ "cuda_recompute     is excluded", "cuda_deterministic",
                                 "cuda_standard\n", NULL });
    refuses("--step all --n-q 5 --exclude fa2", "--exclude: expected names of kernels");
    refuses("--n-q 5 --exclude nosuch", "--exclude: expected names of kernels");
}

/* Files get the same gradients as from the C step. */
TEST(cuda_program, does_every_option_together)
{
    unsigned char keys[2 * 83];
    for (size_t k = 0; k < sizeof keys; k++)
        keys[k] = k % 7 != 0 && k < 150;
    command_array("m.npy", NPY_B1, 2, (size_t[]){ 2, 83 }, keys);
    tells(OPTIONS
          "--key-mask @/m.npy --block-mask band:30 --mask-block 10,20 --step cuda_complete "
          "--output @/o.npy --lse @/l.npy --dq @/dq.npy --dk @/dk.npy --dv @/dv.npy --csv @/t.csv",
          NULL);
    cr_assert(command_run("cd @ && test -s o.npy && test -s l.npy && test -s dq.npy && "
                          "test -s dk.npy && test -s dv.npy")
                      .status == 0,
              "not every file was written");
    cr_assert(command_run("grep -q accesses @/t.csv").status == 0, "no csv");
    tells("--n-q 20 --step cuda_complete --scale 0", NULL);
}

TEST(cuda_program, refuses_what_kernels_cannot_do)
{
    refuses("--step cuda_nope", "--step: expected list, all or one of the steps");
    refuses("--step cuda_recompute",
            "supports --key-mask (the course's input has one, and --n-q draws another "
            "input), and cuda_rec");
    refuses("--step cuda_standard --n-q 5 --dropout 0.1 --dq @/x.npy",
            "that supports --dropout, and");
    refuses("--step cuda_deterministic --n-q 5 --heads 2 --kv-heads 1", "supports --kv-heads, and");
    refuses("--step cuda_recompute --n-q 5 --window 3,3", "supports --window, and");
    refuses("--step cuda_recompute --n-q 5 --block-mask band:3", "supports --block-mask, and");
    refuses("--step cuda_complete --n-q 5 --d 129", "supports d = 129 (d is at most 128), and");
    refuses("--step cuda_complete --n-q 1 --heads 65536 --d 1", "supports more than 65 535 heads");
    refuses("--step complete --timeline @/t.csv", "--timeline: expected a CUDA kernel with it");
    refuses("--step all --n-q 5 --timeline @/t.csv", "t.csv: expected one --step with it");
    refuses("--n-q 3000 --timeline @/t.csv",
            "--timeline: expected a smaller problem, of at most 10 million");
    refuses("--step cuda_mma --n-q 5", "supports --dtype f32, and cuda_mma does not");
    refuses("--step cuda_recompute --n-q 5 --dtype bf16",
            "supports --dtype bf16, and cuda_recompute does not; it takes f32");
    refuses("--step cuda_mma --n-q 5 --d 32 --dtype f16",
            "supports d = 32 (d is 64 or 128), and cuda_mma does not");
    refuses("--step cuda_mma_split --n-q 5 --heads 2 --kv-heads 1 --dtype f16",
            "supports --kv-heads, and");
    refuses("--step cuda_wgmma --n-q 5",
            "supports --dtype f32, and cuda_wgmma does not; it takes bf16 and f16");
    refuses("--step cuda_store --dtype bf16",
            "d = 32 (d is 64 or 128), and cuda_store does not; the course's input has this d, and "
            "--d draws another input");
    refuses("--step cuda_ordered --n-q 5 --d 96 --dtype f16",
            "supports d = 96 (d is 64 or 128), and cuda_ordered does not");
    refuses("--step cuda_bulk --n-q 5 --d 64 --dtype f16 --window 3,3", "supports --window, and");
    refuses("--step fa2 --dtype bf16", "--dtype: expected a CUDA kernel with it, found 'fa2'");
    refuses("--dtype bf16 --n-q 5 --d 160", "supports d = 160 (d is 32, 64, 96, 128 or 256 with "
                                            "--dtype bf16), and cuda_complete does not");
    refuses("--dtype f16 --n-q 5 --d 40", "supports d = 40 (d is 32, 64, 96, 128 or 256 with");
    refuses("--n-q 5 --d 256 --step cuda_complete", "supports d = 256 (d is at most 128), and");
    refuses("--dtype f16 --n-q 5 --d 256 --step cuda_mma", "supports d = 256 (d is 64 or 128)");
    refuses("--dtype f64", "--dtype: expected f32, bf16 or f16");
    refuses("--device cpu --br 8", "--br: expected a step in C with it: a CUDA");
    refuses("--step cuda_complete --bc 8", "--bc: expected a step in C");
    refuses("--step cuda_complete --sram 800", "--sram: expected a step in C");
    refuses("--device cpu --n-q 2 --d 2 --trace", "--trace: expected a step in C");
    refuses("--device cpu --step fa2", "--device: expected a CUDA kernel with it, found 'fa2'");
    refuses("--device cpu --bench", "--bench: expected a GPU with a CUDA kernel");
    refuses("--device tpu", "--device: expected cpu, gpu or auto, found 'tpu'");
}

TEST(cuda_program, skips_where_a_gpu_is_demanded_and_there_is_none)
{
    const struct command c =
        command_run("${BUILD:-build}/07_backward --device gpu --n-q 5 --dq @/x.npy");
    if (c.status == 0)
        return;
    cr_assert(c.status == 77 && strstr(c.err, "07_backward: SKIPPED: no GPU (") && !*c.out,
              "status %d: %s%s", c.status, c.out, c.err);
    cr_assert(command_run("test ! -e @/x.npy").status == 0, "it wrote a file");
}

TEST(cuda_program, has_no_ladder_where_there_is_no_gpu)
{
    const struct command c =
        command_run("${BUILD:-build}/07_backward --device gpu --bench --exclude fa --csv @/x.csv");
    cr_assert((c.status == 77 && strstr(c.err, "07_backward: SKIPPED: no GPU (") && !*c.out) ||
                  (c.status == 2 && strstr(c.err, "--exclude: expected names")),
              "status %d: %s%s", c.status, c.out, c.err);
    cr_assert(command_run("test ! -e @/x.csv").status == 0, "it wrote a file");
    if (c.status == 77)  // else it is a ladder, which takes minutes
        refuses("--bench --dtype bf16 --exclude cuda_mma,", "--bench: expected a GPU with a CUDA");
}

/*
 * Forward and backward on the device: the loss falls as with standard. SHORT=yes skips it and the
 * 16-bit test: the kernels have their own tests, and training on the CPU runs the rest.
 */
TEST(cuda_program, trains_with_the_passes_of_a_device)
{
    if (tests_are_short())
        return;
    tells("--train --device cpu",
          (const char *const[]){ "Descent", "cuda_complete", "cuda_complete is never more than",
                                 "with rate 1000", NULL });
}

TEST(cuda_program, trains_in_16_bits)
{
    if (tests_are_short())
        return;
    tells("--train --dtype bf16",
          (const char *const[]){ "Descent", "cuda_complete takes Q, K, V and dO rounded to bf16",
                                 "cuda_complete is never more than", NULL });
    tells("--train --dtype f16 --device cpu",
          (const char *const[]){ "rounded to f16", "cuda_complete is never more than", NULL });
}

/*
 * dP is 64 x 300 x 300 and its negative, each with weight 1/2. dQ = dS K = 0, but infinity times 0
 * is NaN.
 */
TEST(cuda_program, says_where_float16_cannot_hold_dS)
{
    const size_t one[] = { 1, 64 }, two[] = { 2, 64 };
    float large[2 * 64];
    for (size_t k = 0; k < 2 * 64; k++)
        large[k] = k < 64 ? 300.0f : -300.0f;
    command_zeros("q.npy", NPY_F4, 2, one);
    command_zeros("k.npy", NPY_F4, 2, two);
    command_array("v.npy", NPY_F4, 2, two, large);
    command_array("g.npy", NPY_F4, 2, one, large);
    const char *const kernels[] = { "cuda_store", "all" };
    for (size_t k = 0; k < 2; k++) {
        char line[200];
        snprintf(line, sizeof line,
                 "${BUILD:-build}/07_backward --q @/q.npy --k @/k.npy --v @/v.npy --do @/g.npy "
                 "--device cpu --dtype f16 --step %s",
                 kernels[k]);
        script_prints(
            line, 1,
            (const char *const[]){
                "WRONG", "dS reaches 2.88e+06, which f16 cannot hold: try --dtype bf16", NULL });
    }
    tells("--q @/q.npy --k @/k.npy --v @/v.npy --do @/g.npy --device cpu --dtype bf16 "
          "--step cuda_store",
          NULL);
}
