#include "06_flash_tiled_cuda/program/stages.h"

#include "05_flash_tiled_cpu/steps/steps.h"
#include "common/cpu/memory.h"
#include "common/program/attention_report.h"

#include <stdlib.h>

struct result kernel_run(const struct kernel *kernel, const struct device *device,
                         const struct attention_input *input)
{
    const size_t n = attention_query_elements(&input->p), rows = attention_rows(&input->p);
    struct result r = { allocate(n, sizeof(float), "O"), allocate(rows, sizeof(float), "lse") };
    struct loaded l = kernel_load(kernel, device, input);
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

/* The nearest earlier kernel that can do the problem; NULL: none. */
static const struct kernel *kernel_before(const struct kernel *kernel, const struct attention *p,
                                          const struct device *device)
{
    for (const struct kernel *k = kernel; k-- > kernels;)
        if (!kernel_lacks_on(k, p, device))
            return k;
    return NULL;
}

/* The checked rows of chapter 05's complete. */
static float *rows_of_chapter_05(const struct attention_input *input,
                                 const struct attention_check *check)
{
    const struct attention *p = &input->p;
    float *O = allocate(attention_query_elements(p), sizeof *O, "chapter 05's O");
    complete(p, (struct tile_size){ 64, 128 }, input->Q, input->K, input->V, O, NULL);
    float *rows = attention_check_rows(check, O, p->d);
    free(O);
    return rows;
}

struct verdict kernel_check(const struct kernel *kernel, const struct device *device,
                            const struct attention_input *input, struct attention_check *check,
                            const struct result *r, bool tell)
{
    const struct attention *p = &input->p;
    const struct kernel *earlier = kernel_before(kernel, p, device);
    struct verdict v = { .before = earlier ? earlier->name : "05" };
    float *O = attention_check_rows(check, r->O, p->d), *before = NULL;
    float *lse = attention_check_rows(check, r->lse, 1), *other = rows_of_chapter_05(input, check);
    if (earlier) {
        struct result of_earlier = kernel_run(earlier, device, input);
        before = attention_check_rows(check, of_earlier.O, p->d);
        result_free(&of_earlier);
    }
    check->other_name = "05 complete";
    check->other = other;
    v.errors = tell ? attention_check_report(check, p, O, lse, earlier ? v.before : NULL, before)
                    : attention_check_errors(check, p, O, lse, before);
    v.previous = earlier ? v.errors.previous : v.errors.other;
    check->other_name = NULL;
    check->other = NULL;
    free(before);
    free(other);
    free(lse);
    free(O);
    return v;
}
