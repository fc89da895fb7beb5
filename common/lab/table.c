/*
 * All steps, one line each: what it reads and writes, and how far it is off. A table of kernels has
 * different columns.
 */
#include "common/cpu/memory.h"
#include "common/lab/device.h"
#include "common/lab/lab.h"
#include "common/measure/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- a single kernel ----------------------------------------------------------------------------

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

// ---- a row --------------------------------------------------------------------------------------

/* Is it a table of kernels? */
static bool is_of_kernels(const struct lab *lab)
{
    return lab->chapter->table->steps->is_kernel;
}

/* Column widths that fit the pages of the chapter, what a step writes, and --csv's columns. */
struct columns {
    int accesses, stored;
    const char *written, *csv;
};

static struct columns columns_of(const struct lab *lab)
{
    if (lab->chapter->backward)
        return (struct columns){ is_of_kernels(lab) ? 10 : 11, 8, "dQ, dK or dV",
                                 "chapter,kernel,br,bc,accesses,pairs,products,slow_bytes,"
                                 "fast_bytes,error,previous,previous_error\n" };
    if (is_of_kernels(lab))
        return (struct columns){ 10, 7, "O or lse",
                                 "chapter,kernel,device,blocks,threads,br,bc,accesses,pairs,"
                                 "extra_bytes,error,previous,previous_error\n" };
    return (struct columns){ 13, 9, "O or lse",
                             "chapter,kernel,br,bc,accesses,pairs,slow_bytes,fast_bytes,error,"
                             "previous,previous_error\n" };
}

static char *lab_csv(struct lab *lab)
{
    if (!lab->csv) {
        lab->csv = allocate(REPORT_CSV, 1, "the table");
        snprintf(lab->csv, REPORT_CSV, "%s", columns_of(lab).csv);
    }
    return lab->csv;
}

/* The counts, as text and for --csv; backward with the products, which kernels do not count. */
struct counts {
    char text[160], csv[160];
};

static struct counts counts_of(const struct lab *lab)
{
    const struct columns columns = columns_of(lab);
    const struct count *c = &lab->count;
    const double pairs = (double)(c->pairs ? c->pairs : 1);
    const bool backward = lab->chapter->backward, has_products = backward && !is_of_kernels(lab);
    struct counts row;
    char accesses[32] = "-", each[24] = "-", stored[32] = "-", products[24] = "";
    char all[24] = "", seen[24] = "", operations[24] = "", slow[24] = "", fast[24] = "";
    if (has_products)
        snprintf(products, sizeof products, " %8s", "-");
    if (c->total > 0) {
        report_number(c->total, accesses);
        report_bytes(c->slow_bytes, stored);
        snprintf(each, sizeof each, "%.2f", (double)c->total / pairs);
        snprintf(all, sizeof all, "%zu", c->total);
        snprintf(seen, sizeof seen, "%zu", c->pairs);
        snprintf(slow, sizeof slow, "%zu", c->slow_bytes);
        if (!is_of_kernels(lab))
            snprintf(fast, sizeof fast, "%zu", c->fast_bytes);
    }
    if (has_products && is_small(lab)) {
        const size_t n = c->accesses.products;
        snprintf(products, sizeof products, " %8.2f",
                 (double)n / pairs / (2.0 * (double)lab->input.p.d));
        snprintf(seen, sizeof seen, "%zu", c->pairs);
        snprintf(operations, sizeof operations, "%zu", n);
    }
    snprintf(row.text, sizeof row.text, "%*s %8s %*s%s", columns.accesses, accesses, each,
             columns.stored, stored, products);
    snprintf(row.csv, sizeof row.csv, "%s,%s%s%s,%s%s%s", all, seen, backward ? "," : "",
             operations, slow, backward || !is_of_kernels(lab) ? "," : "", fast);
    return row;
}

/* A line of a step in C. */
static void print_row(struct lab *lab, const struct step *step, struct attention_errors e)
{
    const struct counts counts = counts_of(lab);
    char name[32], before[60] = "-", before_csv[60] = ",", line[400];
    step_label(lab->chapter->table, step, name);
    if (e.has_previous) {
        snprintf(before, sizeof before, "%.2e %s", e.previous, lab->before.name);
        snprintf(before_csv, sizeof before_csv, "%s,%.3e", lab->before.name, e.previous);
    }
    report_line("%s%s  %8.2e  %s", name, counts.text, e.reference, before);
    snprintf(line, sizeof line, "%s,%s,%zu,%zu,%s,%.3e,%s\n", lab->chapter->number, step->name,
             lab->size.Br, lab->size.Bc, counts.csv, e.reference, before_csv);
    report_append(lab_csv(lab), line);
}

/* A line of a kernel. */
static void print_kernel(struct lab *lab, const struct step *kernel, struct attention_errors e)
{
    const struct device *const device = device_current();
    const struct counts counts = counts_of(lab);
    struct kernel_shape shape = step_shape(kernel, &lab->input.p, lab->size);
    const bool backward = lab->chapter->backward;
    char name[32], before[32], blocks[32], grid[64] = "", line[400];
    if (lab->before.name)
        snprintf(before, sizeof before, "%s", lab->before.name);
    else  // of "05 complete" only the chapter fits
        snprintf(before, sizeof before, "%.2s", lab->check.other_name);
    step_label(lab->chapter->table, kernel, name);
    shape.blocks = step_blocks(kernel, shape.blocks, device);
    if (!backward)
        snprintf(grid, sizeof grid, "%6s %7zu", report_number(shape.blocks, blocks), shape.threads);
    report_line("%s%s %s %.1e %.1e %s", name, grid, counts.text, e.reference, e.previous, before);
    snprintf(grid, sizeof grid, "%s,%zu,%zu,%zu,%zu", device->name, shape.blocks, shape.threads,
             shape.Br, shape.Bc);
    snprintf(line, sizeof line, "%s,%s,%s,%s,%.3e,%s,%.3e\n", lab->chapter->number, kernel->name,
             backward ? "," : grid, counts.csv, e.reference, before, e.previous);
    report_append(lab_csv(lab), line);
}

// ---- the table ----------------------------------------------------------------------------------

void table_begin(struct lab *lab)
{
    const struct columns c = columns_of(lab);
    const struct step_table *const table = lab->chapter->table;
    const bool backward = lab->chapter->backward;
    lab->wrong = false;
    report_part(is_of_kernels(lab) ? "Kernels" : "Steps");
    if (is_of_kernels(lab))
        report_line("%s%-*s%s %*s %8s %*s %7s %s", table->first < 0 ? "" : " # ", table->width,
                    "kernel", backward ? "" : "blocks threads", c.accesses, "accesses", "/ pair",
                    c.stored, "stored", "error", "difference from");
    else
        report_line(" # %-*s%*s %8s %*s%s  %8s  %s", table->width, "step", c.accesses, "accesses",
                    "per pair", c.stored, "stored", backward ? " products" : "", "error",
                    backward ? "step before" : "from the step before");
}

void lab_keep_as_before(struct lab *lab, const struct step *step)
{
    previous_free(&lab->before);
    lab->before = previous_keep(lab, step, &lab->x);
}

void table_check(struct lab *lab, const struct step *step)
{
    const struct attention_errors e = lab_compare(lab, step, lab->x, &lab->before, false);
    (step->is_kernel ? print_kernel : print_row)(lab, step, e);
    if (!e.right)
        report_wrong("%s: its %s; it is compared in detail below", step->name,
                     columns_of(lab).written);
    if (lab->count.total > 0 && !lab->count.as_predicted)
        report_wrong("%s: its accesses are not those of its formula", step->name);
    lab->wrong |= !e.right;
    if (lab->chapter->backward || step->supports & SUPPORTS_LSE)
        lab_keep_as_before(lab, step);
}

/* The part "Compared with" of each step that is wrong. */
static void print_wrong_steps(const struct lab *lab)
{
    const struct step_table *table = lab->chapter->table;
    for (const struct step *step = table->steps; step < table->steps + table->count; step++)
        if (!lab_unsupported(lab, step) && !lab_errors(lab, step, false).right) {
            report_part("Wrong");
            report_line("%s", step->name);
            lab_errors(lab, step, true);
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

/* What the table's columns leave open. */
static void print_notes(const struct lab *lab)
{
    const struct attention *p = &lab->input.p;
    const struct step_table *table = lab->chapter->table;
    const bool kernels = is_of_kernels(lab), backward = lab->chapter->backward;
    if (kernels)
        print_others(table, p->dtype);
    for (const struct step *step = table->steps; step < table->steps + table->count; step++)
        if (step_stored(step, p) != DTYPE_F32)
            report_line("gradients are float32, and those of %s %s", step->name,
                        dtype_name(p->dtype));
    if (kernels && !can_be_counted(lab, lab->last))
        report_line("accesses are skipped: an instrumented run of this size would take too long");
    if (!kernels && !CAN_WATCH)
        report_not_counted(NULL);
    else if (!kernels && !is_small(lab))
        report_line("accesses are left out: counted runs of a problem of this size take long");
    if (backward && !kernels && is_small(lab))
        report_line("products: operations of matrix products per unmasked pair, divided by 2 d");
    for (const struct step *step = table->steps; step < table->steps + table->count; step++)
        if (step->is_product && !step_unsupported(step, p))
            report_line("%s is compared with (Q K^T) V, which is larger, and so is its error",
                        step->name);
    if (!backward && lab->check.count < attention_rows(p))
        report_line("compared at %zu of %zu rows, drawn by seed", lab->check.count,
                    attention_rows(p));
    if (kernels)
        report_line("run %s", device_text(device_current()));
}

static void table_end(struct lab *lab)
{
    print_notes(lab);
    if (lab->wrong)
        print_wrong_steps(lab);
    if (lab->o.csv && !lab->o.bench)
        report_csv(lab->o.csv, lab_csv(lab));
}

struct lab lab_of(const struct chapter *chapter, struct attention_input input,
                  const struct options *options)
{
    return (struct lab){ .chapter = chapter,
                         .o = *options,
                         .last = chapter->table->steps + chapter->table->count - 1,
                         .input = input,
                         .x = tensors_of(&input, NULL, NULL) };
}

struct attention_errors lab_errors(const struct lab *lab, const struct step *step, bool tell)
{
    const struct attention *p = &lab->input.p;
    struct previous before = lab_run_before(lab, step);
    struct tensors x = step_run(step, p, step_size(step, &lab->o, p), lab->x);
    const struct attention_errors errors =
        lab_compare(lab, step, x, before.name ? &before : &lab->before, tell);
    outputs_free(&x);
    previous_free(&before);
    return errors;
}

const struct step *table_from(struct lab *lab, const struct step *step)
{
    for (; step <= lab->last; step++) {
        const char *const unsupported = lab_unsupported(lab, step);
        char name[32];
        if (!unsupported)
            return step;
        step_label(lab->chapter->table, step, name);
        if (options_excluded(step->name))
            report_line("%s is excluded", name);
        else if (!step->is_kernel || step_takes_type(step, lab->input.p.dtype))
            report_line("%s does not support %s", name, unsupported);
    }
    table_end(lab);
    return NULL;
}
