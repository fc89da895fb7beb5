#include "05_flash_tiled_cpu/program/ladder.h"

#include "05_flash_tiled_cpu/program/stages.h"
#include "common/cpu/memory.h"
#include "common/measure/watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The columns of a step's counts, in text and for --csv; a problem may be too large to be counted. */
struct counts {
    char text[80], csv[120];
    bool as_predicted;
};

static struct counts count_row(const struct step *step, const struct attention_input *input,
                               struct tile_size size)
{
    struct counts row = { .csv = ",,,", .as_predicted = true };
    char accesses[32], stored[32];
    snprintf(row.text, sizeof row.text, "%13s %8s %9s", "-", "-", "-");
    if (!can_be_counted(step, &input->p))
        return row;
    const struct count c = count_step(step, input, size);
    snprintf(row.text, sizeof row.text, "%13s %8.2f %9s", report_number(c.total, accesses),
             (double)c.total / (double)(c.pairs ? c.pairs : 1), report_bytes(c.slow_bytes, stored));
    snprintf(row.csv, sizeof row.csv, "%zu,%zu,%zu,%zu", c.total, c.pairs, c.slow_bytes,
             c.fast_bytes);
    row.as_predicted = c.as_predicted;
    return row;
}

static struct attention_errors print_row(const struct step *step,
                                         const struct attention_input *input,
                                         const struct attention_check *check,
                                         struct previous *previous, const struct options *o,
                                         char *csv)
{
    const struct attention *p = &input->p;
    const struct tile_size size = step_size(step, o, p->d);
    const struct counts counts = count_row(step, input, size);
    struct result r = step_run(step, input, size);
    const struct attention_errors e = step_check(step, input, check, previous, &r, false);
    char name[32], before[40] = "-", before_csv[40] = ",", line[300];
    step_label(&table, step, name);
    if (e.has_previous) {
        snprintf(before, sizeof before, "%.2e %s", e.previous, previous->name);
        snprintf(before_csv, sizeof before_csv, "%s,%.3e", previous->name, e.previous);
    }
    report_line("%s%s  %8.2e  %s", name, counts.text, e.reference, before);
    if (!e.right)
        report_wrong("%s: its O or lse; it is compared in detail below", step->name);
    if (!counts.as_predicted)
        report_wrong("%s: its accesses are not those of its formula", step->name);
    snprintf(line, sizeof line, "05,%s,%zu,%zu,%s,%.3e,%s\n", step->name, size.Br, size.Bc,
             counts.csv, e.reference, before_csv);
    report_append(csv, line);
    if (step->supports & SUPPORTS_LSE) {  // what later steps are compared with
        previous_free(previous);
        *previous = previous_keep(step, input, check, &r);
    }
    result_free(&r);
    return step->is_product ? (struct attention_errors){ .right = e.right } : e;
}

static void keep_worse(struct attention_errors *worst, struct attention_errors e)
{
    worst->reference = worse_error(worst->reference, e.reference);
    worst->previous = worse_error(worst->previous, e.previous);
    worst->right &= e.right;
}

/* The part "Compared with" of each step that is wrong. */
static void print_wrong_steps(const struct attention_input *input,
                              const struct attention_check *check, const struct options *o)
{
    for (const struct step *step = steps; step < steps + STEPS; step++) {
        if (step_unsupported(step, &input->p))
            continue;
        struct result r = step_run(step, input, step_size(step, o, input->p.d));
        struct previous previous = previous_run(step_before(step, &input->p), input, check, o);
        if (!step_check(step, input, check, &previous, &r, false).right) {
            report_part("Wrong");
            report_line("%s", step->name);
            step_check(step, input, check, &previous, &r, true);
        }
        previous_free(&previous);
        result_free(&r);
    }
}

void print_steps(enum step_name last, const struct attention_input *input, const struct options *o)
{
    const struct attention *p = &input->p;
    char csv[REPORT_CSV] =
        "chapter,kernel,br,bc,accesses,pairs,slow_bytes,fast_bytes,error,previous,"
        "previous_error\n";
    struct attention_check check = attention_check_begin(input, o->verify_all);
    struct previous previous = previous_run(NULL, input, &check, o);
    struct attention_errors worst = { .right = true };
    char error[16];
    report_part("Steps");
    report_line(" # %-12s%13s %8s %9s  %8s  %s", "step", "accesses", "per pair", "stored", "error",
                "from the step before");
    for (const struct step *step = steps; step <= &steps[last]; step++) {
        const char *unsupported = step_unsupported(step, p);
        char name[32];
        step_label(&table, step, name);
        if (unsupported)
            report_line("%s does not support %s", name, unsupported);
        else
            keep_worse(&worst, print_row(step, input, &check, &previous, o, csv));
    }
    snprintf(error, sizeof error, "%.2e", worst.reference);
    report_verified("double reference", error);
    snprintf(error, sizeof error, "%.2e", worst.previous);
    report_verified("the stage before", error);
    if (!CAN_WATCH)
        report_not_counted(NULL);
    else if (!is_small(p))
        report_line("accesses are left out: counted runs of a problem of this size take long");
    if (!step_unsupported(&steps[BLOCK_MATMUL], p))
        report_line(
            "block_matmul is compared with (Q K^T) V, which is larger, and so is its error");
    if (check.count < attention_rows(p))
        report_line("compared at %zu of %zu rows, drawn by seed", check.count, attention_rows(p));
    if (!worst.right)
        print_wrong_steps(input, &check, o);
    previous_free(&previous);
    attention_check_end(&check);
    if (o->csv && !o->bench)
        report_csv(o->csv, csv);
}
