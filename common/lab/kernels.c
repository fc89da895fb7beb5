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
