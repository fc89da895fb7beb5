#include "07_backward/steps/train.h"

#include "07_backward/steps/steps.h"
#include "common/check/gradient_check.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/measure/progress.h"
#include "common/program/attention_load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64, STEPS = 300, LINE_BYTES = 80 };
static const float RATE = 200.0f, LONG_RATE = 1000.0f;

static void train_check(const struct options *o)
{
    const struct {
        bool given;
        const char *name;
    } others[] = {
        { o->q, "--q" },
        { o->batch, "--batch" },
        { o->heads, "--heads" },
        { o->kv_heads, "--kv-heads" },
        { o->n_q, "--n-q" },
        { o->n_k, "--n-k" },
        { o->d, "--d" },
        { o->seed_given, "--seed" },
        { o->scale_given, "--scale" },
        { o->causal, "--causal" },
        { o->window_left >= 0 || o->window_right >= 0, "--window" },
        { o->key_mask, "--key-mask" },
        { o->block_mask, "--block-mask" },
        { o->dropout_given, "--dropout" },
        { o->softcap > 0.0f, "--softcap" },
        { o->br, "--br" },
        { o->bc, "--bc" },
        { o->sram, "--sram" },
        { o->step, "--step" },
        { o->verify_all, "--verify" },
        { o->bench, "--bench" },
        { o->trace, "--trace" },
        { o->traffic, "--traffic" },
        { o->output, "--output" },
        { o->lse, "--lse" },
        { o->timeline, "--timeline" },
        { o->exclude, "--exclude" },
        { o->dQ, "--dq" },
        { o->dK, "--dk" },
        { o->dV, "--dv" },
    };
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
        if (others[k].given)
            options_fail("--train", "cannot be combined with %s: --train sets its own problem",
                         others[k].name);
}

enum variant { STANDARD, COMPLETE, SCALE_FORGOTTEN, VARIANTS };  // of the gradients

/* By chapter 05's fa2, not vectorised, so that standard's losses are the same on every machine. */
static void forward(struct lab *lab)
{
    const struct attention *p = &lab->input.p;
    lab->x.O = allocate(attention_query_elements(p), sizeof(float), "O");
    lab->x.lse = allocate(attention_rows(p), sizeof(float), "lse");
    fa2(p, (struct tile_size){ 32, 32 }, lab->x);
}

static struct result run_backward(const char *name, const struct lab *lab)
{
    const struct step *step = step_named(lab->chapter->table, name);
    const size_t d = lab->input.p.d;
    return backward_run(step, lab, step->usual.Br ? step->usual : fa1_size(4096, d));
}

static struct result by_standard(const struct lab *lab)
{
    return run_backward("standard", lab);
}

static struct result by_complete(const struct lab *lab)
{
    return run_backward("complete", lab);
}

static const struct chapter *chapter;

/* With --device: the kernels'. */
static struct trainer complete_trainer = { "complete", forward, by_complete };

/* O (N, d) of the real layer's first head, without a mask; the caller frees it. */
static float *load_target(size_t *d)
{
    const struct options usual = { .window_left = -1, .window_right = -1 };
    struct attention_input real = attention_input_load(&usual);
    struct lab first = { .input = real, .x = tensors_of(&real, NULL, NULL) };
    first.input.p = attention_of(1, 1, 1, N, N, real.p.d);
    forward(&first);
    float *target = first.x.O;
    *d = real.p.d;
    free(first.x.lse);
    attention_input_free(&real);
    return target;
}

/* Half the mean square of O - target, and its gradient. */
static double loss_of(const struct lab *lab, const float *target, float *dO)
{
    const size_t n = attention_query_elements(&lab->input.p);
    double loss = 0.0;
    for (size_t k = 0; k < n; k++) {
        const float error = lab->x.O[k] - target[k];
        loss += 0.5 * (double)error * (double)error / (double)n;
        dO[k] = error / (float)n;
    }
    return loss;
}

static void update(float *x, const float *gradient, size_t n, float rate)
{
    for (size_t k = 0; k < n; k++)
        x[k] -= rate * gradient[k];
}

/* Returns the loss before the step. */
static double train_step(struct lab *lab, const float *target, enum variant variant, float rate)
{
    const struct attention *p = &lab->input.p;
    const struct trainer standard = { "standard", forward, by_standard };
    const struct trainer *trainer = variant == COMPLETE ? &complete_trainer : &standard;
    const float unscale = variant == SCALE_FORGOTTEN ? 1.0f / p->scale : 1.0f;
    const size_t n = attention_query_elements(p);
    trainer->forward(lab);
    const double loss = loss_of(lab, target, (float *)lab->x.dO);
    struct result r = trainer->backward(lab);
    update(lab->input.Q, r.of[DQ], n, rate * unscale);
    update(lab->input.K, r.of[DK], n, rate * unscale);
    update(lab->input.V, r.of[DV], n, rate);
    result_free(&r);
    forward_free(&lab->x);
    return loss;
}

static void train_with(enum variant variant, float rate, const float *target, size_t d,
                       double *losses)
{
    const struct options options = { .seed = 5 };
    struct lab lab = backward_random(chapter, attention_of(1, 1, 1, N, N, d), &options);
    forward_free(&lab.x);
    for (size_t k = 0; k < STEPS; k++) {
        progress("descending", k, STEPS);
        losses[k] = train_step(&lab, target, variant, rate);
    }
    progress("descending", 1, 1);
    lab_free(&lab);
}

static double largest_relative_difference(const double *a, const double *b)
{
    double largest = 0.0;
    for (size_t k = 0; k < STEPS; k++)
        largest = larger_error(largest, fabs(a[k] - b[k]) / b[k]);
    return largest;
}

static void write_losses(const char *path, double losses[VARIANTS][STEPS])
{
    const size_t size = (size_t)(1 + STEPS) * LINE_BYTES;
    char *csv = allocate(size, 1, "the losses");
    size_t used =
        (size_t)snprintf(csv, size, "step,standard,%s,wrong_scale\n", complete_trainer.name);
    for (size_t k = 0; k < STEPS; k++)
        used +=
            (size_t)snprintf(csv + used, size - used, "%zu,%.9e,%.9e,%.9e\n", k,
                             losses[STANDARD][k], losses[COMPLETE][k], losses[SCALE_FORGOTTEN][k]);
    report_csv(path, csv);
    free(csv);
}

static void print_losses(double losses[VARIANTS][STEPS])
{
    report_line("%6s %14s %14s %20s", "step", "standard", complete_trainer.name, "scale forgotten");
    // every 60th step, and the last
    for (size_t k = 0; k < STEPS; k += k == STEPS - 1 || k + 60 < STEPS ? 60 : STEPS - 1 - k)
        report_line("%6zu %14.6f %14.6f %20.6f", k, losses[STANDARD][k], losses[COMPLETE][k],
                    losses[SCALE_FORGOTTEN][k]);
}

static void train_in_long_steps(const float *target, size_t d)
{
    double right[STEPS], wrong[STEPS];
    char text[24] = "NaN";
    train_with(STANDARD, LONG_RATE, target, d, right);
    train_with(SCALE_FORGOTTEN, LONG_RATE, target, d, wrong);
    const double last = right[STEPS - 1], last_wrong = wrong[STEPS - 1];
    if (!isnan(last_wrong))
        snprintf(text, sizeof text, "%.6f", last_wrong);
    report_line("with rate %g: standard ends at %.6f, the one without the scale at %s",
                (double)LONG_RATE, last, text);
    if (!(last <= right[0]) || last_wrong <= right[0])
        report_wrong("the loss should fall with the right gradient, and not with the wrong one");
}

int train(struct lab *lab, const struct trainer *other)
{
    const struct options *const options = &lab->o;
    static double losses[VARIANTS][STEPS];
    size_t d;
    train_check(options);
    report_start("07", "Backward", "gradient descent, and what a wrong scale does", options->quiet);
    float *target = load_target(&d);
    chapter = lab->chapter;
    if (other)
        complete_trainer = *other;
    threads_use(1);  // too small a problem for threads
    for (enum variant variant = STANDARD; variant < VARIANTS; variant++)
        train_with(variant, RATE, target, d, losses[variant]);

    report_part("Descent");
    report_line("random Q, K, V to the real layer's O: %d words, d = %zu, %d steps, rate %g", N, d,
                STEPS, (double)RATE);
    if (options->dtype != DTYPE_F32)
        report_line("%s takes Q, K, V and dO rounded to %s, and rounds O too",
                    complete_trainer.name, dtype_name(options->dtype));
    print_losses(losses);
    const double apart = largest_relative_difference(losses[COMPLETE], losses[STANDARD]);
    const double wrong = largest_relative_difference(losses[SCALE_FORGOTTEN], losses[STANDARD]);
    report_line("%s is never more than %.1e of the loss from standard,", complete_trainer.name,
                apart);
    report_line("the one without the scale up to %.1e", wrong);
    if (!(apart <= (options->dtype == DTYPE_F32 ? 1e-3 : 5e-3)))
        report_wrong("the losses differ by more than rounding error");
    if (!(wrong > 0.05))
        report_wrong("a wrong scale goes undetected");
    train_in_long_steps(target, d);
    free(target);
    if (options->csv)
        write_losses(options->csv, losses);
    return lab_close(lab);
}
