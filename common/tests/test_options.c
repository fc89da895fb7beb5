#define _XOPEN_SOURCE 700
#include "common/tests/command.h"
#include "common/tests/command_line.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- what is good ------------------------------------------------------------------------------ */

TEST(options, of_chapters_05_to_07_have_their_defaults)
{
    for (int chapter = 5; chapter <= 7; chapter++) {
        const struct options o = command_line(chapter, "");
        cr_assert(!o.step && !o.block_mask && o.mask_rows == 64 && o.mask_cols == 64,
                  "the block mask is %zu by %zu", o.mask_rows, o.mask_cols);
        cr_assert(o.dropout == 0.0 && !o.dropout_given && o.dropout_seed == 0 &&
                      !o.dropout_seed_given,
                  "dropout %g", o.dropout);
        cr_assert(!o.br && !o.bc && !o.sram && !o.threads && !o.trace && !o.trace_csv, "tiles");
    }
}

TEST(options, of_tiles_and_kernels_are_read)
{
    for (int chapter = 5; chapter <= 7; chapter += 2) {  // 06 has no --sram
        struct options o = command_line(chapter, "--br 3 --bc 1000000000 --step fa1 --threads 7");
        cr_assert(o.br == 3 && o.bc == 1000000000 && o.sram == 0 && o.threads == 7,
                  "br %zu, bc %zu, sram %zu, threads %zu", o.br, o.bc, o.sram, o.threads);
        cr_assert(strcmp(o.step, "fa1") == 0, "step %s", o.step);
        o = command_line(chapter,
                         "--sram 1000000000 --kernel list --threads 1024");  // the old name
        cr_assert(o.sram == 1000000000 && !o.br && !o.bc && o.threads == 1024,
                  "br %zu, bc %zu, sram %zu, threads %zu", o.br, o.bc, o.sram, o.threads);
        cr_assert(strcmp(o.step, "list") == 0, "step %s", o.step);
    }
    const struct options o = command_line(6, "--br 64 --bc 128");
    cr_assert(o.br == 64 && o.bc == 128, "br %zu, bc %zu", o.br, o.bc);
}

TEST(options, of_devices_are_read)
{
    struct options o = command_line(6, "");
    cr_assert(!o.device && !o.profile, "asks for a device");
    o = command_line(6, "--timeline t.csv");
    cr_assert(strcmp(o.timeline, "t.csv") == 0, "timeline %s", o.timeline);
    o = command_line(6, "--device gpu --profile --step fa2 --threads 7");
    cr_assert(strcmp(o.device, "gpu") == 0 && o.profile && o.threads == 7, "device %s", o.device);
    command_line_refused(6, "--device GPU", false,
                         "--device: expected cpu, gpu or auto, found 'GPU'");
    o = command_line(7, "--device cpu");
    cr_assert(strcmp(o.device, "cpu") == 0, "device %s", o.device);
    command_line_refused(5, "--device cpu", false, ": expected an option of this chapter");
    command_line_refused(5, "--timeline t.csv", false, ": expected an option of this chapter");
    for (int chapter = 5; chapter <= 7; chapter += 2) {
        command_line_refused(chapter, "--profile", false, ": expected an option of this chapter");
    }
}

TEST(options, of_types_are_read)
{
    cr_assert(command_line(6, "").dtype == DTYPE_F32, "not float32 by default");
    cr_assert(command_line(6, "--dtype f32").dtype == DTYPE_F32, "not f32");
    cr_assert(command_line(6, "--dtype bf16").dtype == DTYPE_BF16, "not bf16");
    cr_assert(command_line(6, "--dtype f16").dtype == DTYPE_F16, "not f16");
    command_line_refused(6, "--dtype half", false,
                         "--dtype: expected f32, bf16 or f16, found 'half'");
    command_line_refused(5, "--dtype bf16", false, ": expected an option of this chapter");
}

TEST(options, of_dropout_are_read)
{
    struct options o = command_line(5, "--dropout-seed 18446744073709551615 --dropout 0.1");
    cr_assert(o.dropout == 0.1 && o.dropout_given, "dropout %.17g", o.dropout);
    cr_assert(o.dropout_seed == UINT64_MAX && o.dropout_seed_given && !o.seed_given && o.seed == 1,
              "seeds %llu and %llu", (unsigned long long)o.dropout_seed,
              (unsigned long long)o.seed);
    o = command_line(5, "--dropout 0 --seed 9");
    cr_assert(o.dropout == 0.0 && o.dropout_given && !o.dropout_seed_given && o.dropout_seed == 0,
              "dropout %g", o.dropout);
    cr_assert(o.seed == 9 && o.seed_given, "seed %llu", (unsigned long long)o.seed);
    o = command_line(5, "--softcap 30.5");
    cr_assert(o.softcap == 30.5f && !o.dropout_given, "softcap %g", (double)o.softcap);
    o = command_line(5, "--dropout 0.9999999999999999");
    cr_assert(o.dropout == 0.9999999999999999, "dropout %.17g", o.dropout);
}

TEST(options, of_block_masks_are_read)
{
    struct options o = command_line(5, "--block-mask some.npy --mask-block 1,1000000000");
    cr_assert(strcmp(o.block_mask, "some.npy") == 0, "mask %s", o.block_mask);
    cr_assert(o.mask_rows == 1 && o.mask_cols == 1000000000, "%zu by %zu", o.mask_rows,
              o.mask_cols);
    o = command_line(5, "--block-mask band:7");
    cr_assert(strcmp(o.block_mask, "band:7") == 0, "mask %s", o.block_mask);
    cr_assert(o.mask_rows == 64 && o.mask_cols == 64, "%zu by %zu", o.mask_rows, o.mask_cols);
}

TEST(options, trace_may_be_asked_for_as_csv)
{
    struct options o = command_line(5, "--trace");
    cr_assert(o.trace && !o.trace_csv, "plain: %d, %d", o.trace, o.trace_csv);
    o = command_line(7, "--trace=csv");
    cr_assert(o.trace && o.trace_csv, "csv: %d, %d", o.trace, o.trace_csv);
    o = command_line(4, "--trace");
    cr_assert(o.trace && !o.trace_csv, "chapter 04: %d, %d", o.trace, o.trace_csv);
}

TEST(options, a_mistyped_one_gets_the_nearest)
{
    command_line_refused(5, "--causl", false, "--causl: did you mean --causal?");
    command_line_refused(5, "--hedas=4", false, "--hedas=4: did you mean --heads?");
    command_line_refused(7, "--dropuot-seed", false, "did you mean --dropout-seed?");
    command_line_refused(4, "--dropout", false, "--dropout: expected an option of this chapter");
    command_line_refused(5, "--x", false, "--x: expected an option of this chapter");
}

/*
 * The first three are not for chapter 06, whose kernels fix their tiles and do not change scores.
 * The last four are not for chapter 05; the last is for 06 only.
 */
static const char *const new_options[] = {
    "--sram ELEMENTS",  "--trace[=csv]",  "--softcap C",      "--br R",          "--bc C",
    "--block-mask M",   "--dropout P",    "--dropout-seed S", "--step NAME",     "--threads T",
    "--mask-block R,C", "--device WHERE", "--dtype TYPE",     "--timeline FILE", "--profile",
};
enum { NEW_OPTIONS = sizeof new_options / sizeof new_options[0] };

TEST(options, stand_in_the_help_of_chapters_05_to_07_within_100_columns)
{
    for (int chapter = 4; chapter <= 7; chapter++) {
        const struct said said = command_line_said(chapter, "--help", STDOUT_FILENO, false);
        cr_assert(said.status == 0, "status %d", said.status);
        for (size_t k = 0; k < NEW_OPTIONS; k++) {
            char start[40];
            snprintf(start, sizeof start, "\n  %-16s ", new_options[k]);
            const size_t end = chapter == 7 ? NEW_OPTIONS - 1 : NEW_OPTIONS - 4;
            const bool takes = chapter == 4 ? false : chapter == 6 ? k >= 3 : k < end;
            cr_assert(!strstr(said.text, start) == !takes, "chapter %d: %s", chapter,
                      new_options[k]);
        }
        cr_assert(!strstr(said.text, "77 no GPU") == (chapter < 6), "chapter %d", chapter);
        size_t columns = 0;
        for (const char *c = said.text; *c; c++) {
            columns += ((unsigned char)*c & 0xC0) != 0x80;  // skips UTF-8 continuation bytes
            if (*c == '\n')
                columns = 0;
            cr_assert(columns <= 100, "chapter %d: wider than 100 before: %s", chapter, c);
        }
    }
}

/* ---- what is bad ------------------------------------------------------------------------------- */

TEST(options, refuse_bad_values_by_name)
{
    const struct {
        const char *line, *part;
    } bad[] = {
        { "--dropout 1", "--dropout: expected a number from 0 to less than 1, found '1'" },
        { "--dropout -0.1", "--dropout: expected a number" },
        { "--dropout 1.5", "--dropout: expected a number" },
        { "--dropout nan", "--dropout: expected a number" },
        { "--dropout inf", "--dropout: expected a number" },
        { "--dropout ''", "--dropout: expected a number" },
        { "--dropout 0.1x", "--dropout: expected a number" },
        { "--dropout ~0.1", "--dropout: expected a number" },
        { "--dropout 0.99999999999999999999", "--dropout: expected a number" },
        { "--dropout", "--dropout: expected a value after it" },
        { "--dropout 0.1 --dropout-seed -1", "--dropout-seed: expected a whole number from 0" },
        { "--dropout 0.1 --dropout-seed 18446744073709551616", "--dropout-seed: expected a whole" },
        { "--dropout-seed 3", "--dropout-seed: expected --dropout too" },
        { "--dropout-seed 0", "--dropout-seed: expected --dropout too" },
        { "--softcap 0", "--softcap: expected a number above 0, found '0'" },
        { "--softcap -0", "--softcap: expected a number above 0, found '-0'" },
        { "--softcap -30", "--softcap: expected a number above 0" },
        { "--softcap nan", "--softcap: expected a finite number" },
        { "--softcap inf", "--softcap: expected a finite number" },
        { "--softcap 1e39", "--softcap: expected a finite number" },
        { "--softcap 1e-46", "--softcap: expected a finite number" },
        { "--softcap ''", "--softcap: expected a finite number" },
        { "--softcap 30x", "--softcap: expected a finite number" },
        { "--block-mask ''",
          "--block-mask: expected a file's name, band:W or random:DENSITY:SEED" },
        { "--block-mask --quiet", "--block-mask: expected a file's name" },
        { "--block-mask band:", "--block-mask: expected a whole number from 0 to 1000000000" },
        { "--block-mask band:-1", "--block-mask: expected a whole number" },
        { "--block-mask band:1.5", "--block-mask: expected a whole number" },
        { "--block-mask band:1000000001", "--block-mask: expected a whole number" },
        { "--block-mask random:", "--block-mask: expected DENSITY:SEED after random:, found ''" },
        { "--block-mask random:0.5", "--block-mask: expected DENSITY:SEED after" },
        { "--block-mask random:0.5:", "--block-mask: expected a whole number from 0" },
        { "--block-mask random:0.5:-3", "--block-mask: expected a whole number from 0" },
        { "--block-mask random:0.5:3:4", "--block-mask: expected a whole number from 0" },
        { "--block-mask random::3", "--block-mask: expected a density from 0 to 1" },
        { "--block-mask random:1.01:3", "--block-mask: expected a density from 0 to 1" },
        { "--block-mask random:-0.01:3", "--block-mask: expected a density from 0 to 1" },
        { "--block-mask random:nan:3", "--block-mask: expected a density from 0 to 1" },
        { "--block-mask random:0.0000000000000000000001:3", "expected DENSITY:SEED after" },
        { "--block-mask random:0.5:000000000000000000000003", "expected DENSITY:SEED after" },
        { "--mask-block 64,64", "--mask-block: expected --block-mask too" },
        { "--block-mask band:3 --mask-block 64", "--mask-block: expected R,C" },
        { "--block-mask band:3 --mask-block 64,", "--mask-block: expected a whole number from 1" },
        { "--block-mask band:3 --mask-block 0,64", "--mask-block: expected a whole number from 1" },
        { "--block-mask band:3 --mask-block 64,0", "--mask-block: expected a whole number from 1" },
        { "--block-mask band:3 --mask-block 1000000001,1", "to 1000000000, found '1000000001'" },
        { "--block-mask band:3 --mask-block 1,1000000001", "to 1000000000, found '1000000001'" },
        { "--block-mask band:3 --mask-block 1,2,3", "--mask-block: expected a whole number" },
        { "--br 0", "--br: expected a whole number from 1 to 1000000000" },
        { "--bc 1000000001", "--bc: expected a whole number from 1 to 1000000000" },
        { "--br 4.0", "--br: expected a whole number" },
        { "--sram 0", "--sram: expected a whole number from 1 to 1000000000" },
        { "--sram 1000 --br 4", "--sram: chooses the tiles itself, so it does not go with --br" },
        { "--bc 4 --sram 1000", "--sram: chooses the tiles itself, so it does not go with --bc" },
        { "--step ''", "--step: expected a name" },
        { "--step", "--step: expected a value after it" },
        { "--threads 0", "--threads: expected a whole number from 1 to 1024" },
        { "--threads 1025", "--threads: expected a whole number from 1 to 1024" },
        { "--trace=", "--trace: expected csv, found ''" },
        { "--trace=json", "--trace: expected csv, found 'json'" },
        { "--trace csv", "csv: expected an option" },
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
        command_line_refused(5, bad[k].line, false, bad[k].part);
}

TEST(options, of_tiles_are_refused_in_the_chapters_before)
{
    const char *const lines[] = {
        "--dropout 0.1",      "--softcap 30", "--dropout-seed 1", "--block-mask band:3",
        "--mask-block 64,64", "--br 4",       "--bc 4",           "--sram 1000",
        "--step list",        "--threads 2",  "--trace=csv",
    };
    for (int chapter = 1; chapter <= 4; chapter++)
        for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++)
            command_line_refused(chapter, lines[k], false, ": expected an option of this chapter");
}

TEST(options, of_gradients_are_refused_in_the_chapters_before)
{
    const char *const lines[] = { "--do @/g.npy", "--dq @/q.npy", "--dk @/k.npy", "--dv @/v.npy",
                                  "--train" };
    for (int chapter = 1; chapter <= 6; chapter++)
        for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++)
            command_line_refused(chapter, lines[k], false, ": expected an option of this chapter");
}

TEST(options, of_gradients_are_read_in_chapter_07)
{
    const struct options o = command_line(7, "--dq @/q.npy --dk @/k.npy --dv @/v.npy --train");
    cr_assert(strstr(o.dQ, "/q.npy") && strstr(o.dK, "/k.npy") && strstr(o.dV, "/v.npy") && o.train,
              "--dq %s, --dk %s, --dv %s, --train %d", o.dQ, o.dK, o.dV, o.train);
    command_line_refused(7, "--do @/g.npy", false, "--do: expected --q, --k and --v too");
}
