/*
 * The program with bfloat16 and float16: its kernels, rounding and tiles.
 */
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME "06_flash_tiled_cuda"
static void verifies_and_tells(const char *arguments, const char *const parts[])
{
    command_verified(NAME, arguments, parts);
}

TEST(program, runs_the_kernels_for_16_bits)
{
    verifies_and_tells("--n-q 70 --n-k 40 --d 64 --dtype bf16 --step all",
                       (const char *const[]){
                           "Q, K and V are rounded to bf16", "Kernels", " mma ", " 05\n",
                           " swizzle ", "mma\n", " budget ", " wgmma ", "budget\n", " roles ",
                           "wgmma\n", "complete ",
                           "for float32 or --dtype f16: naive, fa1, fa2, ahead, turing", NULL });
    verifies_and_tells("--n-q 70 --n-k 40 --d 64 --dtype f16 --step turing",
                       (const char *const[]){ "turing: 2 blocks of 128 threads",
                                              "tiles of 64 queries by 64 keys", NULL });
    verifies_and_tells("--n-q 20 --d 128 --dtype f16 --step async",
                       (const char *const[]){ "async: 1 blocks of 128 threads",
                                              "tiles of 128 queries by 32 keys", "Nq d / 2",
                                              "swizzle  ", NULL });
    verifies_and_tells("--n-q 130 --d 64 --dtype f16 --step roles --causal",
                       (const char *const[]){ "roles: 2 blocks of 384 threads",
                                              "tiles of 128 queries by 128 keys", "wgmma  ",
                                              NULL });
    verifies_and_tells("--n-q 9 --d 64 --step all",
                       (const char *const[]){
                           "complete ", "for --dtype bf16 and f16: turing, mma, swizzle,", NULL });
    verifies_and_tells("--n-q 20 --d 256 --dtype bf16 --causal --window 5,-1 --dropout 0.2",
                       (const char *const[]){ "complete: 1 blocks of 128 threads", "ok\n", NULL });
}

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
    const struct command narrow = program_run(
        "06_flash_tiled_cuda", "--q @/large.npy --k @/small.npy --v @/large.npy --dtype f16");
    cr_assert(
        narrow.status == 0 && strstr(narrow.out, "rounded to f16\n") &&
            strstr(narrow.out, " 4 of their numbers are too large for f16, and become infinite\n"),
        "status %d: %s%s", narrow.status, narrow.out, narrow.err);
    const struct command wide = program_run(
        "06_flash_tiled_cuda", "--q @/large.npy --k @/small.npy --v @/large.npy --dtype bf16");
    cr_assert(wide.status == 0 && !strstr(wide.out, "too large"), "status %d: %s%s", wide.status,
              wide.out, wide.err);
}

TEST(program, takes_the_tile_that_is_asked_for)
{
    verifies_and_tells("--n-q 130 --n-k 40 --d 64 --dtype bf16 --step budget --br 64 --bc 128",
                       (const char *const[]){ "budget: 3 blocks of 128 threads",
                                              "tiles of 64 queries by 128 keys", NULL });
    verifies_and_tells("--n-q 130 --n-k 40 --d 128 --dtype f16 --step budget --bc 128",
                       (const char *const[]){ "budget: 2 blocks of 256 threads",
                                              "tiles of 128 queries by 128 keys", NULL });
    verifies_and_tells("--n-q 130 --n-k 40 --d 128 --dtype f16 --br 64 --causal --window 9,-1",
                       (const char *const[]){ "tiles of 64 queries by 64 keys", NULL });
}
