#include "05_flash_tiled_cpu/steps/trace.h"

#include "05_flash_tiled_cpu/steps/observe.h"
#include "common/cpu/memory.h"
#include "common/measure/watch.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRACE_PAIRS = 64, TRACE_D = 8 };

void trace_check(const struct lab *lab)
{
    const struct attention *p = &lab->input.p;
    if (!(lab->only->supports & SUPPORTS_TRACE))
        options_fail("--trace", "expected a --step from fa1 to softcap, found %s", lab->only->name);
    if (!CAN_WATCH)
        options_fail("--trace", "expected a program that make has built");
    if (attention_rows(p) * p->Nk > TRACE_PAIRS || p->d > TRACE_D)
        options_fail("--trace", "expected at most %d pairs of query and key, and d at most %d",
                     TRACE_PAIRS, TRACE_D);
}

static void run_observed(const struct step *step, const struct attention_input *input,
                         struct tile_size size, observer *callback, void *context)
{
    set_observer(callback, context);
    count_step(step, &input->p, size, tensors_of(input, NULL, NULL));
    set_observer(NULL, NULL);
}

// ---- text ---------------------------------------------------------------------------------------

enum { COLUMNS_OF_TEXT = 82, NUMBERS_IN_A_LINE = 8 };

struct text_trace {
    int width;  // of S and P if a query fits on one line, else 0
    size_t head;
    float scores[TRACE_PAIRS];
};

/* Prints "S [0.63 2.58]" after `lead`, wrapped. */
static void print_numbers(const char *lead, const char *what, const char *format, const float *x,
                          size_t n)
{
    for (size_t k = 0; k < n; k += NUMBERS_IN_A_LINE) {
        char text[40 * NUMBERS_IN_A_LINE];
        report_line("%-15s%s %s", k ? "" : lead, k ? " " : what,
                    report_row(format, x + k, min(n - k, NUMBERS_IN_A_LINE), text, sizeof text));
    }
}

static void print_query(const struct text_trace *state, const char *lead, const struct head *a,
                        struct tile t, const struct fast_memory *fast, size_t r)
{
    const float *S = state->scores + r * t.cols, *P = fast->S + r * t.cols;
    const float *O = fast->O + r * a->p->d;
    char text[3][40 * NUMBERS_IN_A_LINE];
    if (!state->width) {
        print_numbers(lead, "S", "%.2f", S, t.cols);
        print_numbers("", "P", "%.3f", P, t.cols);
        print_numbers("", "O", "%.3f", O, a->p->d);
        report_line("%-15sm %.2f, l %.3f", "", (double)fast->m[r], (double)fast->l[r]);
        return;
    }
    report_line("%-15s%-*s%-*s%6.2f %6.3f  %s", lead, state->width,
                report_row("%.2f", S, t.cols, text[0], sizeof text[0]), state->width,
                report_row("%.3f", P, t.cols, text[1], sizeof text[1]), (double)fast->m[r],
                (double)fast->l[r], report_row("%.3f", O, a->p->d, text[2], sizeof text[2]));
}

static void print_tile(void *context, enum moment moment, const struct head *a, struct tile t,
                       const struct fast_memory *fast)
{
    struct text_trace *state = context;
    const size_t head = a->b * a->p->H + a->h;
    if (moment == SCORED) {
        memcpy(state->scores, fast->S, t.rows * t.cols * sizeof *fast->S);
        return;
    }
    if (head != state->head)
        report_line("b %zu, h %zu", a->b, a->h);
    state->head = head;
    for (size_t r = 0; r < t.rows; r++) {
        char keys[48] = "", lead[64];
        if (r == 0 && t.cols > 1)
            snprintf(keys, sizeof keys, "%zu to %zu", t.j0, t.j0 + t.cols - 1);
        else if (r == 0)
            snprintf(keys, sizeof keys, "%zu", t.j0);
        snprintf(lead, sizeof lead, "%-8s %5zu", keys, t.i0 + r);
        print_query(state, lead, a, t, fast, r);
    }
}

void trace_step(const struct step *step, const struct attention_input *input, struct tile_size size)
{
    const struct attention *p = &input->p;
    const size_t width = 6 * min(size.Bc, p->Nk) + 3;
    struct text_trace state = { .head = p->B * p->H > 1 ? SIZE_MAX : 0 };
    if (15 + 2 * width + 15 + 7 * p->d + 1 <= COLUMNS_OF_TEXT)
        state.width = (int)width;
    if (state.width)
        report_line("%-8s %5s %-*s%-*s%6s %6s  %s", "keys", "query", state.width, "S", state.width,
                    "P", "m", "l", "O");
    else
        report_line("%-8s %5s", "keys", "query");
    run_observed(step, input, size, print_tile, &state);
    if (strcmp(step->name, "fa1") != 0)
        report_line("P = e^(S - m), and O is not divided by l until the last key is done");
}

// ---- CSV ----------------------------------------------------------------------------------------

static void print_matrix(const struct head *a, struct tile t, const char *what, const float *x,
                         size_t cols)
{
    for (size_t r = 0; r < t.rows; r++)
        for (size_t c = 0; c < cols; c++)
            printf("%zu,%zu,%zu,%zu,%s,%zu,%zu,%.9g\n", a->b, a->h, t.j0, t.i0, what, r, c,
                   (double)x[r * cols + c]);
}

static void print_values(void *context, enum moment moment, const struct head *a, struct tile t,
                         const struct fast_memory *fast)
{
    (void)context;
    print_matrix(a, t, moment == SCORED ? "S" : "P", fast->S, t.cols);
    if (moment == SCORED)
        return;
    print_matrix(a, t, "m", fast->m, 1);
    print_matrix(a, t, "l", fast->l, 1);
    print_matrix(a, t, "O", fast->O, a->p->d);
}

static void trace_csv(const struct step *step, const struct attention_input *input,
                      struct tile_size size)
{
    printf("b,h,first_key,first_query,what,row,column,value\n");
    run_observed(step, input, size, print_values, NULL);
}

void trace(const struct lab *lab)
{
    const struct tile_size size = step_size(lab->only, &lab->o, &lab->input.p);
    if (lab->o.trace_csv) {
        report_aside();
        trace_csv(lab->only, &lab->input, size);
        return;
    }
    report_part("Trace");
    trace_step(lab->only, &lab->input, size);
}

// ---- theorem ------------------------------------------------------------------------------------

struct theorem_trace {
    struct theorem so_far;
    bool divided;
    void (*after)(const struct theorem *so_far);
};

static double error_so_far(double worst, double got, double expected, double unit)
{
    const double error = got == expected ? 0.0 : fabs(got - expected) / unit;
    return isnan(worst) || error <= worst ? worst : error;  // NaN is the largest error
}

/* Compares m, l and O of query i after `keys` keys with double precision. */
static void check_row(struct theorem_trace *state, const struct head *a, size_t i, size_t keys,
                      float m, float l, const float *O)
{
    const size_t d = a->p->d;
    double *S = allocate(keys, sizeof *S, "a row of scores");
    double right_m = (double)-INFINITY, right_l = 0.0;
    for (size_t j = 0; j < keys; j++) {
        S[j] = 0.0;
        for (size_t k = 0; k < d; k++)
            S[j] += (double)a->Q[i * d + k] * (double)a->K[j * d + k];
        S[j] *= (double)a->p->scale;
        right_m = fmax(right_m, S[j]);
    }
    for (size_t j = 0; j < keys; j++)
        right_l += exp(S[j] - right_m);
    struct theorem *t = &state->so_far;
    t->error_m = error_so_far(t->error_m, (double)m, right_m, 1.0);
    t->error_l = error_so_far(t->error_l, (double)l, right_l, right_l);
    for (size_t k = 0; k < d; k++) {
        double right = 0.0;
        for (size_t j = 0; j < keys; j++)
            right += exp(S[j] - right_m) / right_l * (double)a->V[j * d + k];
        const double average = (double)O[k] / (state->divided ? 1.0 : (double)l);
        t->error_O = error_so_far(t->error_O, average, right, 1.0);
    }
    free(S);
}

static void check_tile(void *context, enum moment moment, const struct head *a, struct tile t,
                       const struct fast_memory *fast)
{
    struct theorem_trace *state = context;
    if (moment != DONE)
        return;
    for (size_t r = 0; r < t.rows; r++)
        check_row(state, a, t.i0 + r, t.j0 + t.cols, fast->m[r], fast->l[r], fast->O + r * a->p->d);
    state->so_far.tiles++;
    state->so_far.keys = t.j0 + t.cols;
    if (state->after && t.i0 + t.rows == a->p->Nq)
        state->after(&state->so_far);
}

struct theorem theorem_check(const struct step *step, const struct attention_input *input,
                             struct tile_size size, bool divided,
                             void (*after)(const struct theorem *so_far))
{
    struct theorem_trace state = { .divided = divided, .after = after };
    run_observed(step, input, size, check_tile, &state);
    return state.so_far;
}
