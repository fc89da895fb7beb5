#include "07_backward/program/ladder.h"

#include "common/cpu/memory.h"
#include "common/measure/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The columns of a step's counts, in text and for --csv; a problem may be too large to be counted. */
struct counts {
    char text[100], csv[160];
    bool as_predicted;
};

static struct counts count_row(const struct step *step, const struct layer *layer,
                               struct tile_size size)
{
    const struct attention *p = &layer->input.p;
    struct counts row = { .csv = ",,,,", .as_predicted = true };
    char accesses[32], stored[32];
    snprintf(row.text, sizeof row.text, "%11s %8s %8s %8s", "-", "-", "-", "-");
    if (!is_small(p))
        return row;
    const size_t all = attention_pairs(p), products = products_of(step, p, size);
    const double pairs = (double)(all ? all : 1);
    const double each = (double)products / pairs / (2.0 * (double)p->d);
    snprintf(row.text, sizeof row.text, "%11s %8s %8s %8.2f", "-", "-", "-", each);
    snprintf(row.csv, sizeof row.csv, ",%zu,%zu,,", all, products);
    if (!can_be_counted(step, p))
        return row;
    const struct count c = count_layer(step, &layer->input, &layer->kept, layer->dO, size);
    snprintf(row.text, sizeof row.text, "%11s %8.2f %8s %8.2f", report_number(c.total, accesses),
             (double)c.total / pairs, report_bytes(c.slow_bytes, stored), each);
    snprintf(row.csv, sizeof row.csv, "%zu,%zu,%zu,%zu,%zu", c.total, c.pairs, products,
             c.slow_bytes, c.fast_bytes);
    row.as_predicted = c.as_predicted;
    return row;
}

static struct attention_errors print_row(const struct step *step, const struct layer *layer,
                                         const struct gradient_check *check,
                                         struct previous *previous, const struct options *o,
                                         char *csv)
{
    const struct attention *p = &layer->input.p;
    const struct tile_size size = step_size(step, o, p->d);
    const struct counts counts = count_row(step, layer, size);
    struct result r = layer_run(step, layer, size);
    const struct attention_errors e = step_check(check, previous, &r, false);
    char name[32], before[40] = "-", before_csv[40] = ",", line[400];
    step_label(&table, step, name);
    if (e.has_previous) {
        snprintf(before, sizeof before, "%.2e %s", e.previous, previous->name);
        snprintf(before_csv, sizeof before_csv, "%s,%.3e", previous->name, e.previous);
    }
    report_line("%s%s  %8.2e  %s", name, counts.text, e.reference, before);
    if (!e.right)
        report_wrong("%s: its dQ, dK or dV; it is compared in detail below", step->name);
    if (!counts.as_predicted)
        report_wrong("%s: its accesses are not those of its formula", step->name);
    snprintf(line, sizeof line, "07,%s,%zu,%zu,%s,%.3e,%s\n", step->name, size.Br, size.Bc,
             counts.csv, e.reference, before_csv);
    report_append(csv, line);
    previous_keep(previous, step->name, &r);
    return e;
}

/* The part "Compared with" of each step that is wrong. */
static void print_wrong_steps(const struct layer *layer, const struct gradient_check *check,
                              const struct options *o)
{
    const struct attention *p = &layer->input.p;
    for (const struct step *step = steps; step < steps + STEPS; step++) {
        if (step_unsupported(step, p))
            continue;
        struct result r = layer_run(step, layer, step_size(step, o, p->d));
        struct previous previous = previous_run(step_before(step, p), layer, o);
        if (!step_check(check, &previous, &r, false).right) {
            report_part("Wrong");
            report_line("%s", step->name);
            step_check(check, &previous, &r, true);
        }
        result_free(&previous.result);
        result_free(&r);
    }
}

void print_steps(const struct layer *layer, const struct options *o, char *csv)
{
    const struct attention *p = &layer->input.p;
    struct gradient_check check = gradient_check_begin(&layer->input, layer->dO, o->verify_all);
    struct previous previous = { .name = NULL };
    struct attention_errors worst = { .right = true };
    char error[16];
    report_part("Steps");
    report_line(" # %-10s%11s %8s %8s %8s  %8s  %s", "step", "accesses", "per pair", "stored",
                "products", "error", "step before");
    for (const struct step *step = steps; step < steps + STEPS; step++) {
        const char *unsupported = step_unsupported(step, p);
        char name[32];
        step_label(&table, step, name);
        if (unsupported) {
            report_line("%s does not support %s", name, unsupported);
            continue;
        }
        const struct attention_errors e = print_row(step, layer, &check, &previous, o, csv);
        worst.reference = worse_error(worst.reference, e.reference);
        worst.previous = worse_error(worst.previous, e.previous);
        worst.right &= e.right;
    }
    snprintf(error, sizeof error, "%.2e", worst.reference);
    report_verified("double reference", error);
    snprintf(error, sizeof error, "%.2e", worst.previous);
    report_verified("the step before", error);
    if (!CAN_WATCH)
        report_not_counted(NULL);
    if (is_small(p))
        report_line("products: operations of matrix products per unmasked pair, divided by 2 d");
    else
        report_line("accesses are left out: counted runs of a problem of this size take long");
    if (!worst.right)
        print_wrong_steps(layer, &check, o);
    result_free(&previous.result);
    gradient_check_end(&check);
}
