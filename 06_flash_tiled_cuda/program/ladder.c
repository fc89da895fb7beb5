#include "06_flash_tiled_cuda/program/ladder.h"

#include "06_flash_tiled_cuda/program/stages.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The columns of a kernel's counts, in text and for --csv; a problem may be too large to be counted. */
struct counts {
    char text[80], csv[120];
    bool as_predicted;
};

static struct counts count_row(const struct step *kernel, const struct attention_input *input)
{
    struct counts row = { .csv = ",,", .as_predicted = true };
    char accesses[32], stored[32];
    snprintf(row.text, sizeof row.text, "%10s %8s %7s", "-", "-", "-");
    if (!kernel_can_be_counted(&input->p))
        return row;
    const struct count c = count_kernel(kernel, input);
    snprintf(row.text, sizeof row.text, "%10s %8.2f %7s", report_number(c.total, accesses),
             (double)c.total / (double)(c.pairs ? c.pairs : 1), report_bytes(c.slow_bytes, stored));
    snprintf(row.csv, sizeof row.csv, "%zu,%zu,%zu", c.total, c.pairs, c.slow_bytes);
    row.as_predicted = c.as_predicted;
    return row;
}

static struct verdict print_row(const struct step *kernel, const struct device *device,
                                const struct attention_input *input,
                                const struct attention_check *check, struct previous *previous,
                                char *csv)
{
    struct kernel_shape shape = kernel_shape_of(kernel, input);
    const struct counts counts = count_row(kernel, input);
    struct result r = kernel_run(kernel, device, input);
    const struct verdict v = kernel_check(input, check, previous, &r, false);
    char name[32], blocks[32], before[40], before_csv[40], line[300];
    step_label(&table, kernel, name);
    shape.blocks = kernel_blocks(kernel, shape, device);
    snprintf(before, sizeof before, "%.1e %s", v.previous, v.before);
    snprintf(before_csv, sizeof before_csv, "%s,%.3e", v.before, v.previous);
    report_line("%s%6s %7zu %s %.1e %s", name, report_number(shape.blocks, blocks), shape.threads,
                counts.text, v.errors.reference, before);
    if (!v.errors.right)
        report_wrong("%s: its O or lse; --step %s shows where", kernel->name, kernel->name);
    if (!counts.as_predicted)
        report_wrong("%s: its accesses are not those of its formula", kernel->name);
    snprintf(line, sizeof line, "06,%s,%s,%zu,%zu,%zu,%zu,%s,%.3e,%s\n", kernel->name, device->name,
             shape.blocks, shape.threads, shape.Br, shape.Bc, counts.csv, v.errors.reference,
             before_csv);
    report_append(csv, line);
    kernel_previous_free(previous);
    *previous = previous_keep(kernel, input, check, &r);
    result_free(&r);
    return v;
}

/* All kernels whose arithmetic is for other types, on as many lines as they take. */
static void print_others(enum dtype type)
{
    enum { WIDTH = 54 };
    char what[40], names[WIDTH + 2] = "";
    snprintf(what, sizeof what, "for %s: ",
             type == DTYPE_F32    ? "--dtype bf16 and f16"
             : type == DTYPE_BF16 ? "float32 or --dtype f16"
                                  : "float32");
    int indent = 0;
    for (const struct step *kernel = kernels; kernel < kernels + KERNELS; kernel++) {
        const size_t used = strlen(names);
        if (step_takes_type(kernel, type))
            continue;
        if (used + 2 + strlen(kernel->name) <= WIDTH) {
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", kernel->name);
            continue;
        }
        report_line("%*s%s,", indent, indent ? "" : what, names);
        indent = (int)strlen(what);
        snprintf(names, sizeof names, "%s", kernel->name);
    }
    report_line("%*s%s", indent, indent ? "" : what, names);
}

void print_kernels(const struct device *device, const struct attention_input *input,
                   const struct options *o)
{
    const struct attention *p = &input->p;
    char csv[REPORT_CSV] = "chapter,kernel,device,blocks,threads,br,bc,accesses,pairs,extra_bytes,"
                           "error,previous,previous_error\n";
    struct attention_check check = check_begin(input, o->verify_all);
    struct previous previous = { NULL, NULL };
    struct attention_errors worst = { .right = true };
    char error[16];
    report_part("Kernels");
    report_line(" # %-10s%6s %7s %10s %8s %7s %7s %s", "kernel", "blocks", "threads", "accesses",
                "/ pair", "stored", "error", "difference from");
    for (const struct step *kernel = kernels; kernel < kernels + KERNELS; kernel++) {
        const char *unsupported = step_unsupported_on(kernel, p, device);
        char name[32];
        step_label(&table, kernel, name);
        if (!step_takes_type(kernel, p->dtype))
            continue;
        if (options_excluded(kernel->name)) {
            report_line("%s is excluded", name);
            continue;
        }
        if (unsupported) {
            report_line("%s does not support %s", name, unsupported);
            continue;
        }
        const struct verdict v = print_row(kernel, device, input, &check, &previous, csv);
        worst.reference = worse_error(worst.reference, v.errors.reference);
        worst.previous = worse_error(worst.previous, v.previous);
    }
    print_others(p->dtype);
    snprintf(error, sizeof error, "%.2e", worst.reference);
    report_verified("double reference", error);
    snprintf(error, sizeof error, "%.2e", worst.previous);
    report_verified("the stage before", error);
    if (!kernel_can_be_counted(p))
        report_line(
            "accesses are left out: an instrumented run of a problem of this size takes long");
    if (check.count < attention_rows(p))
        report_line("compared at %zu of %zu rows, drawn by seed", check.count, attention_rows(p));
    report_line("run %s", device_text(device));
    kernel_previous_free(&previous);
    check_end(&check);
    if (o->csv && !o->bench)
        report_csv(o->csv, csv);
}
