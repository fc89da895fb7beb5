/*
 * Chapter 06 as a program: every kernel, what it reads and writes, and whether it is right.
 */
#include "05_flash_tiled_cpu/steps/steps.h"
#include "06_flash_tiled_cuda/kernels/device/choice.h"
#include "06_flash_tiled_cuda/kernels/device/run.h"
#include "06_flash_tiled_cuda/program.h"
#include "common/cpu/memory.h"
#include "common/lab/speed.h"

#include <stdlib.h>

/* Shapes of --bench on a GPU: heads of a batch of 4, N, and d. */
static const struct ladder_shape shapes_f32[] = { { 16, 4096, 64 }, { 16, 4096, 128 } };
static const struct ladder_shape shapes_16[] = {
    { 32, 4096, 64 },  { 32, 4096, 128 }, { 32, 8192, 64 },
    { 32, 8192, 128 }, { 32, 16384, 64 }, { 32, 16384, 128 },
};

/*
 * Each kernel is compared with the previous one and with chapter 05's complete: we keep O of its
 * checked rows.
 */
static void compare_with_05(struct lab *lab)
{
    const struct attention *p = &lab->input.p;
    float *O = allocate(attention_query_elements(p), sizeof *O, "chapter 05's O");
    complete(p, (struct tile_size){ 64, 128 }, tensors_of(&lab->input, O, NULL));
    lab->check.other_name = "05 complete";
    lab->check.other = attention_check_rows(&lab->check, O, p->d);
    free(O);
}

static void run_kernels(struct lab *lab)
{
    compare_with_05(lab);
    for (const struct step *kernel = lab_first(lab); kernel; kernel = lab_next(lab, kernel)) {
        lab_run(lab, kernel);    // to the device, launched and back, into poisoned memory
        lab_count(lab, kernel);  // accesses, against the formula
        lab_check(lab, kernel);  // the reference, chapter 05, and the kernel before
    }
}

/* lab_ready for device_ladder: also computes chapter 05's O. */
static void ready(struct lab *lab)
{
    lab_ready(lab);
    compare_with_05(lab);
}

/* Times the given problem, or on a GPU, if none is given, the shapes above. */
static void bench(struct lab *lab)
{
    if (!options_usual(&lab->o) || device_current() == &device_cpu)
        device_speed(lab);
    else if (lab->o.dtype == DTYPE_F32)
        device_ladder(lab, shapes_f32, sizeof shapes_f32 / sizeof *shapes_f32, ready);
    else
        device_ladder(lab, shapes_16, sizeof shapes_16 / sizeof *shapes_16, ready);
}

int main(int argc, char **argv)
{
    struct lab lab = lab_open(&chapter, argc, argv);
    if (lab.o.story)
        return tell_part(&lab.o);
    if (lab.o.device_info)
        return print_device(&lab);
    device_use(device_choose(&lab.o), NULL);
    lab_load(&lab);
    lab_choose(&lab, "complete");
    check_requested(&lab);
    lab_title(&lab);
    if (lab.screen)
        tell_screen(run_kernels);
    lab_input(&lab);
    run_kernels(&lab);
    if (lab.o.profile)
        print_profile(&lab);
    if (lab.o.timeline)
        kernel_timeline(&lab);
    if (lab.o.bench)
        bench(&lab);
    return lab_close(&lab);
}
