/* What the lab prints about kernels: their grids, and a table of all of them. */
#include "common/lab/device.h"
#include "common/lab/lab.h"

#include <stdio.h>
#include <string.h>

void kernel_print_counts(const struct lab *lab, const struct step *kernel)
{
    const struct kernel_shape shape = step_shape(kernel, &lab->input.p, lab->size);
    char text[32];
    if (shape.blocks > 0) {
        report_part("Grid");
        report_line("%s: %s blocks of %zu threads", kernel->name,
                    report_number(step_blocks(kernel, shape.blocks, device_current()), text),
                    shape.threads);
    }
    if (shape.Br > 1)
        report_line("tiles of %zu queries by %zu keys", shape.Br, shape.Bc);
    if (can_be_counted(lab, kernel)) {
        report_counted(lab->count.accesses.line, lab->count.accesses.n, "per pair",
                       lab->count.pairs, "");
        if (lab->chapter->backward)
            report_line("extra global memory: %s", report_bytes(lab->count.slow_bytes, text));
    } else {
        report_part("Counted");
        report_line("skipped: an instrumented run of this size would take too long");
    }
}

// ---- the table ----------------------------------------------------------------------------------

const char *kernel_csv_columns(void)
{
    return "chapter,kernel,device,blocks,threads,br,bc,accesses,pairs,extra_bytes,error,previous,"
           "previous_error\n";
}

void kernel_table_begin(const struct lab *lab)
{
    report_part("Kernels");
    const struct step_table *const table = lab->chapter->table;
    report_line("%s%-*s%s %10s %8s %*s %7s %s", table->first < 0 ? "" : " # ", table->width,
                "kernel", lab->chapter->backward ? "" : "blocks threads", "accesses", "/ pair",
                lab->chapter->backward ? 8 : 7, "stored", "error", "difference from");
}

void kernel_table_row(struct lab *lab, const struct step *kernel, struct attention_errors e)
{
    const struct device *const device = device_current();
    const struct count *c = &lab->count;
    struct kernel_shape shape = step_shape(kernel, &lab->input.p, lab->size);
    const bool backward = lab->chapter->backward;
    char name[32], before[32], blocks[32], accesses[32] = "-", each[24] = "-", stored[32] = "-";
    char grid[64] = "", counts[100], line[300];
    snprintf(counts, sizeof counts, "%s", backward ? ",,,," : ",,");
    if (c->total > 0) {
        report_number(c->total, accesses);
        report_bytes(c->slow_bytes, stored);
        snprintf(each, sizeof each, "%.2f", (double)c->total / (double)(c->pairs ? c->pairs : 1));
        snprintf(counts, sizeof counts, backward ? "%zu,%zu,,%zu," : "%zu,%zu,%zu", c->total,
                 c->pairs, c->slow_bytes);
    }
    if (lab->before.name)
        snprintf(before, sizeof before, "%s", lab->before.name);
    else  // of "05 complete" only the chapter fits
        snprintf(before, sizeof before, "%.2s", lab->check.other_name);
    step_label(lab->chapter->table, kernel, name);
    shape.blocks = step_blocks(kernel, shape.blocks, device);
    if (!backward)
        snprintf(grid, sizeof grid, "%6s %7zu", report_number(shape.blocks, blocks), shape.threads);
    report_line("%s%s %10s %8s %*s %.1e %.1e %s", name, grid, accesses, each, backward ? 8 : 7,
                stored, e.reference, e.previous, before);
    snprintf(grid, sizeof grid, "%s,%zu,%zu,%zu,%zu", device->name, shape.blocks, shape.threads,
             shape.Br, shape.Bc);
    snprintf(line, sizeof line, "%s,%s,%s,%s,%.3e,%s,%.3e\n", lab->chapter->number, kernel->name,
             backward ? "," : grid, counts, e.reference, before, e.previous);
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
    const struct step_table *const table = lab->chapter->table;
    print_others(table, lab->input.p.dtype);
    for (const struct step *kernel = table->steps; kernel < table->steps + table->count; kernel++)
        if (step_stored(kernel, &lab->input.p) != DTYPE_F32)
            report_line("gradients are float32, and those of %s %s", kernel->name,
                        dtype_name(lab->input.p.dtype));
    if (!can_be_counted(lab, lab->last))
        report_line("accesses are skipped: an instrumented run of this size would take too long");
}
