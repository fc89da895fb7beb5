#define _POSIX_C_SOURCE 200809L
#include "common/lab/lab.h"

#include "common/cpu/threads.h"
#include "common/lab/device.h"
#include "common/measure/watch.h"
#include "common/program/attention_load.h"
#include "common/program/attention_report.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- the command line ---------------------------------------------------------------------------

bool lab_asks_for(const struct lab *lab, const char *name)
{
    return lab->o.step && strcmp(lab->o.step, name) == 0;
}

struct lab lab_open(const struct chapter *chapter, int argc, char **argv)
{
    struct lab lab = { .chapter = chapter,
                       .o = options_parse(&chapter->program, argc, argv),
                       .screen = argc == 1 };
    const struct options *const o = &lab.o;
    if (lab_asks_for(&lab, "list")) {
        step_list(chapter->table, o->quiet, o->dtype);
        if (chapter->kernels && *chapter->kernels)
            step_list(*chapter->kernels, o->quiet, o->dtype);
        exit(report_finish());
    }
    if (o->threads)
        threads_use(o->threads);
    return lab;
}

void lab_load(struct lab *lab)
{
    lab->input = attention_input_load(&lab->o);
    lab->x = tensors_of(&lab->input, NULL, NULL);
    const double pairs = (double)attention_rows(&lab->input.p) * (double)lab->input.p.Nk;
    if (pairs > (double)SIZE_MAX)  // in a browser
        options_fail("--n-q", "expected fewer query-key pairs: here a count has 32 bits");
}

void lab_choose(struct lab *lab, const char *usual)
{
    const struct step_table *const table = lab->chapter->table;
    lab->last = table->steps + table->count - 1;
    if (!lab_asks_for(lab, "all")) {
        lab->only = step_chosen(table, &lab->o, usual, &lab->input.p);
        return;
    }
    const bool trace = lab->o.trace && !lab->chapter->backward;
    const char *const single = trace ? "--trace" : options_single(&lab->o);
    if (single)
        options_fail(single, "expected one --step with it, not all");
}

void lab_title(const struct lab *lab)
{
    const struct chapter *const c = lab->chapter;
    report_start(c->number, c->title, c->idea, lab->o.quiet || lab->o.trace_csv);
}

void lab_ready(struct lab *lab)
{
    if (lab->chapter->backward)
        lab->gradients = gradient_check_begin(&lab->input, lab->x.dO, lab->o.verify_all);
    else
        lab->check = attention_check_begin(&lab->input, lab->o.verify_all);
}

void lab_input(struct lab *lab)
{
    attention_describe(&lab->input);
    lab_ready(lab);
}

// ---- running and counting -----------------------------------------------------------------------

bool is_small(const struct lab *lab)
{
    const struct attention *p = &lab->input.p;
    const double products = (double)attention_rows(p) * (double)p->Nk * (double)p->d;
    return products <= (lab->chapter->backward ? 8e7 : 1e8);
}

bool can_be_counted(const struct lab *lab, const struct step *step)
{
    const struct attention *p = &lab->input.p;
    if (step->is_kernel)  // its counted run takes longer
        return (double)attention_rows(p) * (double)p->Nk * (double)p->d <= 1e7;
    return CAN_WATCH && step->watched && is_small(lab);
}

static struct tensors output(const struct lab *lab, const struct step *step, struct tile_size size)
{
    return (isatty(STDERR_FILENO) ? wait_for_step : step_run)(step, &lab->input.p, size, lab->x);
}

void lab_run(struct lab *lab, const struct step *step)
{
    outputs_free(&lab->x);
    lab->size = step_size(step, &lab->o, &lab->input.p);
    lab->x = output(lab, step, lab->size);
}

static void print_tiles(const struct step *step, struct tile_size size, const struct accesses *a)
{
    char full[32], partial[32], skipped[32];
    report_part("Tiles");
    report_line("%s, with Br = %zu queries and Bc = %zu keys", step->name, size.Br, size.Bc);
    report_line("%s tiles full, %s partial, %s skipped",
                report_number(a->tiles.of_kind[TILE_FULL], full),
                report_number(a->tiles.of_kind[TILE_PARTIAL], partial),
                report_number(a->tiles.of_kind[TILE_SKIPPED], skipped));
    if (a->splits > 1)
        report_line("the keys in %zu splits, each with tiles of its own", a->splits);
}

static void print_memory(const struct lab *lab, const struct step *step)
{
    const struct options *o = &lab->o;
    const bool from_M = o->sram || (step->usual.Br == 0 && !o->br && !o->bc);
    char held[32], more[32];
    report_number(lab->count.fast_bytes / sizeof(float), held);
    if (lab->chapter->backward)
        report_line("%s elements of fast memory held; extra slow memory: %s", held,
                    report_bytes(lab->count.slow_bytes, more));
    else
        report_line("%s elements of fast memory held%s%s", held, from_M ? ", where M is " : "",
                    from_M ? report_number(o->sram ? o->sram : USUAL_M, more) : "");
}

static void print_counts(const struct lab *lab, const struct step *step)
{
    const struct accesses *const a = &lab->count.accesses;
    if (step->size && is_small(lab) && step->predict)
        print_tiles(step, lab->size, a);
    if (step->formula && lab->count.total > 0) {
        if (step->size)
            print_memory(lab, step);
        report_counted(a->line, a->n, "per pair", lab->count.pairs, "");
    } else if (!CAN_WATCH && step->predict) {
        report_not_counted("Counted");
    } else {
        report_part("Counted");
        if (step->formula)
            report_line("not counted: at this size a counted run takes too long");
        else
            report_line("not counted: the step visits the same tiles as %s",
                        step->predict && lab->plain ? lab->plain->name : "fa2");
    }
}

void lab_count(struct lab *lab, const struct step *step)
{
    const struct attention *p = &lab->input.p;
    lab->count = (struct count){ .pairs = attention_pairs(p) };
    if (can_be_counted(lab, step))
        lab->count = count_step(step, p, lab->size, lab->x);
    else if (is_small(lab) && step->predict)
        step->predict(p, lab->size, &lab->count.accesses);
    if (lab->only)
        (step->is_kernel ? kernel_print_counts : print_counts)(lab, step);
}

// ---- what it is compared with -------------------------------------------------------------------

void previous_free(struct previous *previous)
{
    for (size_t g = 0; g < GRADIENTS; g++)
        free(previous->of[g]);
    *previous = (struct previous){ .name = NULL };
}

struct previous previous_keep(const struct lab *lab, const struct step *step, struct tensors *x)
{
    struct previous previous = { .name = step->name, .of = { x->dQ, x->dK, x->dV } };
    x->dQ = x->dK = x->dV = NULL;
    if (!lab->chapter->backward)
        previous.of[0] = attention_check_rows(&lab->check, x->O, lab->input.p.d);
    return previous;
}

const char *lab_unsupported(const struct lab *lab, const struct step *step)
{
    const struct attention *p = &lab->input.p;
    return (lab->chapter->unsupported ? lab->chapter->unsupported : step_unsupported)(step, p);
}

/* Not a step for modified scores if the problem's are plain. */
bool lab_comes_before(const struct lab *lab, const struct step *step)
{
    return !lab_unsupported(lab, step) &&
           (score_option(&lab->input.p) || !(step->supports & SUPPORTS_SCORE));
}

const struct step *lab_step_before(const struct lab *lab, const struct step *step)
{
    const bool backward = lab->chapter->backward;
    while (step-- > lab->chapter->table->steps)
        if ((backward || step->supports & SUPPORTS_LSE) && lab_comes_before(lab, step))
            return step;
    return NULL;
}

struct attention_errors lab_compare(const struct lab *lab, const struct step *step,
                                    struct tensors x, const struct previous *before, bool tell)
{
    const struct attention_check *const check = &lab->check;
    if (lab->chapter->backward)
        return lab_compare_gradients(lab, step, x, before, tell);
    if (step->is_product)
        return lab_compare_product(lab, x.O, tell);
    float *const O = attention_check_rows(check, x.O, lab->input.p.d);
    float *const lse = step->supports & SUPPORTS_LSE ? attention_check_rows(check, x.lse, 1) : NULL;
    struct attention_errors errors =
        tell ? attention_check_report(check, O, lse, before->name, before->of[0])
             : attention_verdict_end(
                   attention_verdict_of(check, O, lse, before->name, before->of[0]));
    if (!before->name && check->other) {  // it replaces the step before
        errors.has_previous = true;
        errors.previous = errors.other;
    }
    free(lse);
    free(O);
    return errors;
}

/* The step before, or the chapter's own start. */
struct previous lab_run_before(const struct lab *lab, const struct step *step)
{
    const struct step *const before = lab_step_before(lab, step);
    if (!before)
        return (struct previous){ .name = NULL };
    struct tensors x = output(lab, before, step_size(before, &lab->o, &lab->input.p));
    const struct previous previous = previous_keep(lab, before, &x);
    outputs_free(&x);
    return previous;
}

// ---- one step -----------------------------------------------------------------------------------

bool lab_begins(const struct lab *lab)
{
    return !lab->only || !lab_step_before(lab, lab->only);
}

void lab_check(struct lab *lab, const struct step *step)
{
    if (!lab->only) {
        table_check(lab, step);
        return;
    }
    struct previous *const before = &lab->before;
    if (!before->name)
        *before = lab_run_before(lab, step);
    const struct attention_errors errors = lab_compare(lab, step, lab->x, before, true);
    if (step->is_kernel)
        report_line("%s ran %s", step->name, device_text(device_current()));
    if (options_outputs[0])
        lab_write(lab, step, before->name ? before->name : lab->check.other_name, errors);
}

// ---- the loop -----------------------------------------------------------------------------------

const struct step *lab_first(struct lab *lab)
{
    if (lab->only)
        return lab->only;
    table_begin(lab);
    return table_from(lab, lab->chapter->table->steps);
}

const struct step *lab_next(struct lab *lab, const struct step *step)
{
    return lab->only ? NULL : table_from(lab, step + 1);
}

void lab_free(struct lab *lab)
{
    struct tensors *const x = &lab->x;
    const float *const arrays[] = { x->O, x->lse, x->m, x->l, x->dO, x->dQ, x->dK, x->dV };
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        free((float *)arrays[k]);
    *x = (struct tensors){ .Q = NULL };
    previous_free(&lab->before);
    free((float *)lab->check.other);
    attention_check_end(&lab->check);
    if (lab->chapter->backward)
        gradient_check_end(&lab->gradients);
    attention_input_free(&lab->input);
    free(lab->csv);
    lab->csv = NULL;
}

int lab_close(struct lab *lab)
{
    if (lab->screen)
        report_next(lab->chapter->next);
    lab_free(lab);
    return report_finish();
}
