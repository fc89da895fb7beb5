/*
 * All steps, one line each: what it reads and writes, and how far it is off.
 */
#include "common/cpu/memory.h"
#include "common/lab/device.h"
#include "common/lab/lab.h"
#include "common/measure/watch.h"

#include <stdio.h>
#include <stdlib.h>

/* Column widths that fit the pages of the chapter; backward adds a column, for the products. */
struct columns {
    int accesses, stored, error, digits;
    const char *gap, *written, *csv;
};

/* Is it a table of kernels? */
static bool is_of_kernels(const struct lab *lab)
{
    return lab->chapter->table->steps->is_kernel;
}

static struct columns columns_of(const struct lab *lab)
{
    if (is_of_kernels(lab))
        return (struct columns){
            11, 7, 8, 1, " ", "O or lse", "device,blocks,threads,br,bc,accesses,pairs,extra_bytes"
        };
    if (lab->chapter->backward)
        return (struct columns){ 11,
                                 8,
                                 10,
                                 2,
                                 "  ",
                                 "dQ, dK or dV",
                                 "br,bc,accesses,pairs,products,slow_bytes,fast_bytes" };
    return (struct columns){
        13, 9, 10, 2, "  ", "O or lse", "br,bc,accesses,pairs,slow_bytes,fast_bytes"
    };
}

char *lab_csv(struct lab *lab)
{
    if (lab->csv)
        return lab->csv;
    lab->csv = allocate(REPORT_CSV, 1, "the table");
    snprintf(lab->csv, REPORT_CSV, "chapter,kernel,%s,error,previous,previous_error\n",
             columns_of(lab).csv);
    return lab->csv;
}

void table_begin(struct lab *lab)
{
    const struct columns c = columns_of(lab);
    const bool kernels = is_of_kernels(lab), backward = lab->chapter->backward;
    report_part(kernels ? "Kernels" : "Steps");
    report_line(" # %-*s%s%*s %8s %*s%s%*s%s%s", lab->chapter->table->width,
                kernels ? "kernel" : "step", kernels ? "blocks threads" : "", c.accesses,
                "accesses", kernels ? "/ pair" : "per pair", c.stored, "stored",
                backward ? " products" : "", c.error, "error", c.gap,
                kernels    ? "difference from"
                : backward ? "step before"
                           : "from the step before");
}

/* The counts, as text and for --csv. */
struct counts {
    char text[160], csv[160];
};

static struct counts counts_of(const struct lab *lab)
{
    const struct columns columns = columns_of(lab);
    const struct count *c = &lab->count;
    const double pairs = (double)(c->pairs ? c->pairs : 1);
    const bool counted = c->total > 0, has_products = lab->chapter->backward;
    struct counts row;
    char accesses[32] = "-", each[24] = "-", stored[32] = "-", products[24] = "";
    char bytes[32] = "", fast[32] = "", all[32] = "", numbers[64] = "";
    if (counted) {
        snprintf(each, sizeof each, "%.2f", (double)c->total / pairs);
        snprintf(all, sizeof all, "%zu", c->total);
        snprintf(bytes, sizeof bytes, "%zu", c->slow_bytes);
        snprintf(fast, sizeof fast, "%zu", c->fast_bytes);
        report_number(c->total, accesses);
        report_bytes(c->slow_bytes, stored);
    }
    if (has_products && is_small(lab)) {
        const size_t n = c->accesses.products;
        snprintf(products, sizeof products, " %8.2f",
                 (double)n / pairs / (2.0 * (double)lab->input.p.d));
        snprintf(numbers, sizeof numbers, "%zu,%zu", c->pairs, n);
    } else if (has_products) {
        snprintf(products, sizeof products, " %8s", "-");
        snprintf(numbers, sizeof numbers, ",");
    } else if (counted) {
        snprintf(numbers, sizeof numbers, "%zu", c->pairs);
    }
    snprintf(row.text, sizeof row.text, "%*s %8s %*s%s", columns.accesses, accesses, each,
             columns.stored, stored, products);
    snprintf(row.csv, sizeof row.csv, "%s,%s,%s%s%s", all, numbers, bytes,
             is_of_kernels(lab) ? "" : ",", is_of_kernels(lab) ? "" : fast);
    return row;
}

static void print_row(struct lab *lab, const struct step *step, struct attention_errors e)
{
    const struct counts counts = counts_of(lab);
    const struct columns c = columns_of(lab);
    const char *const with = lab->before.name ? lab->before.name : lab->check.other_name;
    // Of "05 complete" only the chapter fits.
    const int length = lab->before.name ? 40 : 2;
    char name[32], error[24], before[80] = "-", before_csv[80] = ",", line[400];
    char launch[40] = "", launch_csv[80] = "", blocks[32];
    struct tile_size size = lab->size;
    step_label(lab->chapter->table, step, name);
    snprintf(error, sizeof error, "%.*e", c.digits, e.reference);
    if (e.has_previous) {
        snprintf(before, sizeof before, "%.*e %.*s", c.digits, e.previous, length, with);
        snprintf(before_csv, sizeof before_csv, "%.*s,%.3e", length, with, e.previous);
    }
    if (step->is_kernel) {
        const struct device *const device = device_current();
        const struct kernel_shape shape = step_shape(step, &lab->input.p, size);
        const size_t launched = step_blocks(step, shape.blocks, device);
        snprintf(launch, sizeof launch, "%6s %7zu", report_number(launched, blocks), shape.threads);
        snprintf(launch_csv, sizeof launch_csv, "%s,%zu,%zu,", device->name, launched,
                 shape.threads);
        size = (struct tile_size){ shape.Br, shape.Bc };
    }
    report_line("%s%s%s%*s%s%s", name, launch, counts.text, c.error, error, c.gap, before);
    snprintf(line, sizeof line, "%s,%s,%s%zu,%zu,%s,%.3e,%s\n", lab->chapter->number, step->name,
             launch_csv, size.Br, size.Bc, counts.csv, e.reference, before_csv);
    report_append(lab_csv(lab), line);
}

void table_row(struct lab *lab, const struct step *step, struct attention_errors e)
{
    print_row(lab, step, e);
    if (!e.right)
        report_wrong("%s: its %s; it is compared in detail below", step->name,
                     columns_of(lab).written);
    if (lab->count.total > 0 && !lab->count.as_predicted)
        report_wrong("%s: its accesses are not those of its formula", step->name);
    lab->wrong |= !e.right;
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

/* What the table's columns leave open. */
static void print_notes(const struct lab *lab)
{
    const struct attention *p = &lab->input.p;
    const struct step_table *table = lab->chapter->table;
    if (is_of_kernels(lab))
        kernel_table_notes(lab);
    else if (!CAN_WATCH)
        report_not_counted(NULL);
    else if (!is_small(lab))
        report_line("accesses are left out: counted runs of a problem of this size take long");
    if (lab->chapter->backward && is_small(lab))
        report_line("products: operations of matrix products per unmasked pair, divided by 2 d");
    for (const struct step *step = table->steps; step < table->steps + table->count; step++)
        if (step->is_product && !step_unsupported(step, p))
            report_line("%s is compared with (Q K^T) V, which is larger, and so is its error",
                        step->name);
    if (!lab->chapter->backward && lab->check.count < attention_rows(p))
        report_line("compared at %zu of %zu rows, drawn by seed", lab->check.count,
                    attention_rows(p));
    if (is_of_kernels(lab))
        report_line("run %s", device_text(device_current()));
}

void table_end(struct lab *lab)
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
