#include "06_flash_tiled_cuda/program/stages.h"

#include "05_flash_tiled_cpu/steps/steps.h"
#include "common/cpu/memory.h"
#include "common/program/attention_report.h"

#include <stdlib.h>

struct result kernel_run(const struct step *kernel, const struct device *device,
                         const struct attention_input *input)
{
    const size_t n = attention_query_elements(&input->p), rows = attention_rows(&input->p);
    struct result r = { allocate(n, sizeof(float), "O"), allocate(rows, sizeof(float), "lse") };
    struct on_device l = kernel_load(kernel, device, input);
    kernel_launch(&l);
    kernel_output(&l, r.O);
    device->download(r.lse, l.arrays.lse, rows * sizeof *r.lse);
    kernel_unload(&l);
    return r;
}

void result_free(struct result *r)
{
    free(r->O);
    free(r->lse);
    *r = (struct result){ NULL, NULL };
}

const struct step *kernel_before(const struct step *kernel, const struct attention *p,
                                 const struct device *device)
{
    while (kernel > kernels) {
        kernel--;
        if (!step_unsupported_on(kernel, p, device))
            return kernel;
    }
    return NULL;
}

struct attention_check check_begin(const struct attention_input *input, bool all)
{
    const struct attention *p = &input->p;
    struct attention_check check = attention_check_begin(input, all);
    float *O = allocate(attention_query_elements(p), sizeof *O, "chapter 05's O");
    complete(p, (struct tile_size){ 64, 128 }, tensors_of(input, O, NULL));
    check.other_name = "05 complete";
    check.other = attention_check_rows(&check, O, p->d);
    free(O);
    return check;
}

void check_end(struct attention_check *check)
{
    free((void *)check->other);
    attention_check_end(check);
}

struct previous previous_keep(const struct step *kernel, const struct attention_input *input,
                              const struct attention_check *check, const struct result *r)
{
    return (struct previous){ kernel->name, attention_check_rows(check, r->O, input->p.d) };
}

struct previous previous_run(const struct step *kernel, const struct device *device,
                             const struct attention_input *input,
                             const struct attention_check *check)
{
    if (!kernel)
        return (struct previous){ NULL, NULL };
    struct result r = kernel_run(kernel, device, input);
    const struct previous previous = previous_keep(kernel, input, check, &r);
    result_free(&r);
    return previous;
}

void kernel_previous_free(struct previous *previous)
{
    free(previous->rows);
    *previous = (struct previous){ NULL, NULL };
}

struct verdict kernel_check(const struct attention_input *input,
                            const struct attention_check *check, const struct previous *previous,
                            const struct result *r, bool tell)
{
    const struct attention *p = &input->p;
    struct verdict v = { .before = previous->name ? previous->name : "05" };
    float *O = attention_check_rows(check, r->O, p->d);
    float *lse = attention_check_rows(check, r->lse, 1);
    v.errors = tell ? attention_check_report(check, O, lse, previous->name, previous->rows)
                    : attention_check_errors(check, O, lse, previous->rows);
    v.previous = previous->name ? v.errors.previous : v.errors.other;
    free(lse);
    free(O);
    return v;
}
