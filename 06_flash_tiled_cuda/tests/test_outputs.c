/*
 * The program's files: O and lse, and tables.
 */
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdio.h>

#define NAME "06_flash_tiled_cuda"
#define PROGRAM "${BUILD:-build}/" NAME " "

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
    struct command c =
        program_run("06_flash_tiled_cuda", "--n-q 40 --d 16 --quiet --csv @/s.csv && cat @/s.csv");
    const char *const summary[] = { "ok\n",
                                    "chapter,accesses,counted,extra_bytes,milliseconds,error,",
                                    "06,", ",yes\n", NULL };
    cr_assert(c.status == 0 && !missing_part(c.out, summary), "status %d: %s%s", c.status, c.out,
              c.err);
    c = program_run("06_flash_tiled_cuda",
                    "--n-q 40 --d 16 --quiet --step all --csv @/s.csv && cat @/s.csv");
    const char *const all[] = { "chapter,kernel,device,blocks,threads,br,bc,accesses,pairs,",
                                "\n06,naive,cpu,",
                                "\n06,fa1,cpu,",
                                "\n06,fa2,cpu,1,128,128,64,",
                                "\n06,complete,cpu,",
                                NULL };
    cr_assert(c.status == 0 && !missing_part(c.out, all), "status %d: %s%s", c.status, c.out,
              c.err);
}
