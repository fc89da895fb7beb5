#include "common/lab/lab.h"

#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/lab/speed.h"
#include "common/measure/traffic.h"
#include "common/program/attention_files.h"
#include "common/program/attention_load.h"
#include "common/program/attention_report.h"

#include <stdlib.h>
#include <string.h>

// ---- the command line ---------------------------------------------------------------------------

bool lab_asks_for(const struct lab *lab, const char *name)
{
    return lab->o.step && strcmp(lab->o.step, name) == 0;
}

struct lab lab_open(const struct chapter *chapter, int argc, char **argv)
{
    struct lab lab = { .chapter = chapter, .o = options_parse(&chapter->program, argc, argv) };
    const struct options *const o = &lab.o;
    if (lab_asks_for(&lab, "list")) {
        options_no_run(o, "--step list");
        step_list(chapter->table, o->quiet, o->dtype);
        options_flush();
        exit(EXIT_VERIFIED);
    }
    threads_begin(o->threads);
    lab.story = options_usual(o) && !o->trace && !o->traffic && !o->bench && !o->quiet;
    return lab;
}

void lab_load(struct lab *lab)
{
    lab->input = attention_input_load(&lab->o);
    lab->x = tensors_of(&lab->input, NULL, NULL);
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

/* What is asked for besides a verdict must be there: forward, some steps have no m, l or lse. */
static void check_requested(const struct step *step, const struct attention *p,
                            const struct options *o)
{
    if ((o->lse || o->trace) && !(step->supports & SUPPORTS_LSE))
        options_fail(o->lse ? "--lse" : "--trace", "expected a --step from fa1 on, found %s",
                     step->name);
    if (o->trace && !(step->supports & SUPPORTS_TRACE))
        options_fail("--trace", "expected a --step from fa1 to split_kv, found %s", step->name);
    if (o->threads > 1 && !(step->supports & SUPPORTS_THREADS))
        options_fail("--threads", "expected 1, as %s runs on one thread", step->name);
    if (o->br && !(step->supports & SUPPORTS_BR))
        options_fail("--br", "%s takes its queries in groups that fit the vectors", step->name);
    if (step->stores & STORES_SCORES)
        extra_check("S and P", 2 * p->Nq * p->Nk);
}

void lab_choose(struct lab *lab, const char *usual)
{
    const struct options *const o = &lab->o;
    const struct step_table *const table = lab->chapter->table;
    lab->last = table->steps + table->count - 1;
    if (lab_asks_for(lab, "all")) {
        const char *const single =
            o->trace && !lab->chapter->backward ? "--trace" : options_single(o);
        if (single)
            options_fail(single, "expected one --step with it, not all");
        return;
    }
    lab->only = step_chosen(table, o, usual, &lab->input.p);
    if (!lab->chapter->backward)
        check_requested(lab->only, &lab->input.p, o);
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

// ---- running a step -----------------------------------------------------------------------------

static float *poisoned(size_t n, const char *name)
{
    float *const array = allocate(n, sizeof *array, name);
    poison_fill(array, n);
    return array;
}

struct tensors outputs_new(const struct attention *p, struct tensors x)
{
    const size_t queries = attention_query_elements(p), keys = attention_key_elements(p);
    if (x.dO) {
        x.dQ = poisoned(queries, "dQ");
        x.dK = poisoned(keys, "dK");
        x.dV = poisoned(keys, "dV");
    } else {
        x.O = poisoned(queries, "O");
        x.lse = poisoned(attention_rows(p), "lse");
    }
    return x;
}

void outputs_free(struct tensors *x)
{
    free(x->dQ);
    free(x->dK);
    free(x->dV);
    x->dQ = x->dK = x->dV = NULL;
    if (x->dO)
        return;
    free(x->O);
    free(x->lse);
    x->O = x->lse = NULL;
}

struct tensors step_run(const struct step *step, const struct attention *p, struct tile_size size,
                        struct tensors x)
{
    x = outputs_new(p, x);
    step->run(p, size, x);
    return x;
}

void lab_run(struct lab *lab, const struct step *step)
{
    outputs_free(&lab->x);
    lab->size = step_size(step, &lab->o, lab->input.p.d);
    lab->x = step_run(step, &lab->input.p, lab->size, lab->x);
}

// ---- what it is compared with -------------------------------------------------------------------

static void previous_free(struct previous *previous)
{
    for (size_t g = 0; g < GRADIENTS; g++)
        free(previous->of[g]);
    *previous = (struct previous){ .name = NULL };
}

/* What a step has written: forward the rows that are checked; gradients whole, and x has them no longer. */
static struct previous previous_keep(const struct lab *lab, const struct step *step,
                                     struct tensors *x)
{
    struct previous previous = { .name = step->name, .of = { x->dQ, x->dK, x->dV } };
    x->dQ = x->dK = x->dV = NULL;
    if (!lab->chapter->backward)
        previous.of[0] = attention_check_rows(&lab->check, x->O, lab->input.p.d);
    return previous;
}

const struct step *lab_step_before(const struct lab *lab, const struct step *step)
{
    while (step > lab->chapter->table->steps) {
        step--;
        const bool is_whole = lab->chapter->backward || step->supports & SUPPORTS_LSE;
        if (is_whole && step_comes_before(step, &lab->input.p))
            return step;
    }
    return NULL;
}

/* The same rows as `check`, with what is right for a step that is a product, without softmax and lse. */
static struct attention_check check_of_product(const struct lab *lab)
{
    const struct attention *p = &lab->input.p;
    struct attention_check c = lab->check;
    c.O = allocate(c.count * p->d, sizeof *c.O, "the reference");
    c.lse = NULL;
    for (size_t k = 0; k < c.count; k++) {
        const size_t row = c.rows[k], head = row / p->Nq;
        rounding_product_row(p, lab->x.Q, lab->x.K, lab->x.V, head / p->H, head % p->H, row % p->Nq,
                             c.O + k * p->d);
    }
    return c;
}

static struct attention_errors compare_output(const struct attention_check *check, const float *O,
                                              const float *lse, const struct previous *before,
                                              bool tell)
{
    return tell ? attention_check_report(check, O, lse, before->name, before->of[0])
                : attention_check_errors(check, O, lse, before->of[0]);
}

static struct attention_errors compare(const struct lab *lab, const struct step *step,
                                       struct tensors x, const struct previous *before, bool tell)
{
    const struct previous none = { .name = NULL };
    struct attention_errors errors;
    if (lab->chapter->backward) {
        float *const got[] = { x.dQ, x.dK, x.dV }, *const *others =
                                                       before->name ? before->of : NULL;
        return tell ? gradient_check_report(&lab->gradients, got, before->name, others)
                    : gradient_check_errors(&lab->gradients, got, others);
    }
    float *const O = attention_check_rows(&lab->check, x.O, lab->input.p.d), *lse = NULL;
    if (step->is_product) {
        struct attention_check product = check_of_product(lab);
        errors = compare_output(&product, O, NULL, &none, tell);
        free(product.O);
    } else {
        if (step->supports & SUPPORTS_LSE)
            lse = attention_check_rows(&lab->check, x.lse, 1);
        errors = compare_output(&lab->check, O, lse, before, tell);
    }
    free(lse);
    free(O);
    return errors;
}

/* The step before, or what the chapter says comes before the first. */
static struct previous run_before(const struct lab *lab, const struct step *step)
{
    const struct step *const before = lab_step_before(lab, step);
    if (!before)
        return (struct previous){ .name = NULL };
    struct tensors x =
        step_run(before, &lab->input.p, step_size(before, &lab->o, lab->input.p.d), lab->x);
    const struct previous previous = previous_keep(lab, before, &x);
    outputs_free(&x);
    return previous;
}

struct attention_errors lab_errors(const struct lab *lab, const struct step *step, bool tell)
{
    struct previous before = run_before(lab, step);
    struct tensors x =
        step_run(step, &lab->input.p, step_size(step, &lab->o, lab->input.p.d), lab->x);
    const struct attention_errors errors =
        compare(lab, step, x, before.name ? &before : &lab->before, tell);
    outputs_free(&x);
    previous_free(&before);
    return errors;
}

// ---- one step, told whole -----------------------------------------------------------------------

static void write_files(const struct lab *lab, const struct step *step, const char *previous,
                        struct attention_errors errors)
{
    const struct options *const o = &lab->o;
    const struct step *const plain = step->formula || !lab->plain ? step : lab->plain;
    attention_write(o, &lab->input, lab->x.O, lab->x.lse);
    if (lab->chapter->backward)
        attention_write_gradients(o, &lab->input, lab->x.dQ, lab->x.dK, lab->x.dV);
    if (!o->csv || o->bench)
        return;
    struct count count = lab->count;
    if (plain != step && can_be_counted(lab, plain))
        count = count_step(plain, &lab->input.p, lab->size, lab->x);
    step_write_csv(o->csv, plain->formula, &count,
                   speed_of(step, &lab->input.p, lab->size, lab->x, 0.05), previous, errors);
}

/* Where no step was chosen it is the chapter that is compared with what came before it. */
static bool is_the_chapter(const struct lab *lab)
{
    const struct attention *p = &lab->input.p;
    return !lab->chapter->backward && !lab->o.step && p->dropout_threshold == 0 && !score_option(p);
}

void lab_check(struct lab *lab, const struct step *step)
{
    if (!lab->only) {
        table_row(lab, step, compare(lab, step, lab->x, &lab->before, false));
        if (lab->chapter->backward ||
            step->supports & SUPPORTS_LSE) {  // later ones are compared with it
            previous_free(&lab->before);
            lab->before = previous_keep(lab, step, &lab->x);
        }
        return;
    }
    struct previous before = { .name = NULL };
    if (!is_the_chapter(lab))
        before = run_before(lab, step);
    const struct previous *const with = before.name ? &before : &lab->before;
    const struct attention_errors errors = compare(lab, step, lab->x, with, true);
    if (options_output(0))
        write_files(lab, step, with->name, errors);
    previous_free(&before);
}

// ---- the loop -----------------------------------------------------------------------------------

/* The first step from `step` on that can do the problem; of one that cannot the table says why. */
static const struct step *from(struct lab *lab, const struct step *step)
{
    for (; step <= lab->last; step++) {
        const char *const unsupported = step_unsupported(step, &lab->input.p);
        char name[32];
        if (!unsupported)
            return step;
        step_label(lab->chapter->table, step, name);
        report_line("%s does not support %s", name, unsupported);
    }
    table_end(lab);
    return NULL;
}

const struct step *lab_first(struct lab *lab)
{
    if (lab->only)
        return lab->only;
    table_begin(lab);
    return from(lab, lab->chapter->table->steps);
}

const struct step *lab_next(struct lab *lab, const struct step *step)
{
    return lab->only ? NULL : from(lab, step + 1);
}

void lab_free(struct lab *lab)
{
    outputs_free(&lab->x);
    previous_free(&lab->before);
    attention_check_end(&lab->check);
    gradient_check_end(&lab->gradients);
    attention_input_free(&lab->input);
}

int lab_close(struct lab *lab)
{
    if (lab->story)
        report_next(lab->chapter->next);
    lab_free(lab);
    return report_finish();
}
