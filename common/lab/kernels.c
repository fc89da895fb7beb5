/* What the lab prints about kernels: their grids, and a table of all of them. */
#include "common/lab/device.h"
#include "common/lab/lab.h"

#include <stdio.h>
#include <string.h>

void kernel_print_counts(const struct lab *lab, const struct step *kernel)
{
    const struct kernel_shape shape = step_shape(kernel, &lab->input.p, lab->size);
    char blocks[32];
    report_part("Grid");
    report_line("%s: %s blocks of %zu threads", kernel->name,
                report_number(step_blocks(kernel, shape.blocks, device_current()), blocks),
                shape.threads);
    if (shape.Br > 1)
        report_line("tiles of %zu queries by %zu keys", shape.Br, shape.Bc);
    if (can_be_counted(lab, kernel)) {
        step_report_count(&lab->count);
    } else {
        report_part("Counted");
        report_line("left out: an instrumented run of a problem of this size takes long");
    }
}

// ---- the table ----------------------------------------------------------------------------------

const char *kernel_csv_columns(void)
{
    return "chapter,kernel,device,blocks,threads,br,bc,accesses,pairs,extra_bytes,error,previous,"
           "previous_error\n";
}

void kernel_table_begin(void)
{
    report_part("Kernels");
    report_line(" # %-10s%6s %7s %10s %8s %7s %7s %s", "kernel", "blocks", "threads", "accesses",
                "/ pair", "stored", "error", "difference from");
}

void kernel_table_row(struct lab *lab, const struct step *kernel, struct attention_errors e)
{
    const struct device *const device = device_current();
    const struct count *c = &lab->count;
    struct kernel_shape shape = step_shape(kernel, &lab->input.p, lab->size);
    char name[32], before[32], blocks[32], accesses[32] = "-", each[24] = "-", stored[32] = "-";
    char counts[100] = ",,", line[300];
    if (c->total > 0) {
        report_number(c->total, accesses);
        report_bytes(c->slow_bytes, stored);
        snprintf(each, sizeof each, "%.2f", (double)c->total / (double)(c->pairs ? c->pairs : 1));
        snprintf(counts, sizeof counts, "%zu,%zu,%zu", c->total, c->pairs, c->slow_bytes);
    }
    if (lab->before.name)
        snprintf(before, sizeof before, "%s", lab->before.name);
    else  // of "05 complete" only the chapter fits
        snprintf(before, sizeof before, "%.2s", lab->check.other_name);
    step_label(lab->chapter->table, kernel, name);
    shape.blocks = step_blocks(kernel, shape.blocks, device);
    report_line("%s%6s %7zu %10s %8s %7s %.1e %.1e %s", name, report_number(shape.blocks, blocks),
                shape.threads, accesses, each, stored, e.reference, e.previous, before);
    snprintf(line, sizeof line, "%s,%s,%s,%zu,%zu,%zu,%zu,%s,%.3e,%s,%.3e\n", lab->chapter->number,
             kernel->name, device->name, shape.blocks, shape.threads, shape.Br, shape.Bc, counts,
             e.reference, before, e.previous);
    report_append(lab_csv(lab), line);
}

/* All kernels whose arithmetic is for other types, on as many lines as they take. */
static void print_others(const struct step_table *table, enum dtype type)
{
    enum { WIDTH = 54 };
    char what[40], names[WIDTH + 2] = "";
    snprintf(what, sizeof what, "for %s: ",
             type == DTYPE_F32    ? "--dtype bf16 and f16"
             : type == DTYPE_BF16 ? "float32 or --dtype f16"
                                  : "float32");
    int indent = 0;
    for (const struct step *kernel = table->steps; kernel < table->steps + table->count; kernel++) {
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

void kernel_table_notes(const struct lab *lab)
{
    print_others(lab->chapter->table, lab->input.p.dtype);
    if (!can_be_counted(lab, lab->last))
        report_line(
            "accesses are left out: an instrumented run of a problem of this size takes long");
}
