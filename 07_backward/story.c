/*
 * What chapter 07 shows besides its input: an example by hand and every step, and by --story the rest of its pages.
 */
#include "common/program/story.h"
#include "07_backward/program.h"
#include "07_backward/steps/differences.h"
#include "07_backward/steps/forward.h"
#include "07_backward/steps/steps.h"
#include "common/check/gradient_check.h"
#include "common/check/reference.h"
#include "common/cpu/memory.h"
#include "common/problem/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct options seed_1 = { .seed = 1, .window_left = -1, .window_right = -1 };

static const struct step *step(const char *name)
{
    return step_named(&table, name);
}

// ---- by hand ------------------------------------------------------------------------------------

/* Formats a 2 by 2 matrix and its name into `text`, and returns it. */
static const char *matrix(const char *name, const float *x, char text[60])
{
    snprintf(text, 60, "%-3s [%6.3f %6.3f | %6.3f %6.3f]", name, (double)x[0], (double)x[1],
             (double)x[2], (double)x[3]);
    return text;
}

static void by_hand(void)
{
    static float Q[] = { 1, 0, 0, 1 }, K[] = { 1, 1, 0, 2 }, V[] = { 1, 0, 0, 2 };
    static float dO[] = { 1, 0, 0, 1 };
    struct lab lab = { .input = { attention_of(1, 1, 1, 2, 2, 2), .Q = Q, .K = K, .V = V },
                       .x = { .Q = Q, .K = K, .V = V, .dO = dO } };
    lab.input.p.scale = 1.0f;
    forward_pass(&lab.input.p, &lab.x);
    struct result r = backward_run(step("standard"), &lab, (struct tile_size){ 2, 2 });
    float S[4], P[4], dP[4], dS[4], D[2];
    for (size_t n = 0; n < 4; n++) {
        const size_t i = n / 2, j = n % 2;
        S[n] = Q[2 * i] * K[2 * j] + Q[2 * i + 1] * K[2 * j + 1];
        dP[n] = dO[2 * i] * V[2 * j] + dO[2 * i + 1] * V[2 * j + 1];
        D[i] = dO[2 * i] * lab.x.O[2 * i] + dO[2 * i + 1] * lab.x.O[2 * i + 1];
        P[n] = expf(S[n] - lab.x.lse[i]);
        dS[n] = P[n] * (dP[n] - D[i]);
    }
    char one[60], two[60];
    report_part("By hand");
    report_line("2 queries, 2 keys, d = 2, scale 1; a row of each matrix between the bars");
    report_line("%s   %s", matrix("Q", Q, one), matrix("S", S, two));
    report_line("%s   %s", matrix("K", K, one), matrix("P", P, two));
    report_line("%s   %s", matrix("V", V, one), matrix("O", lab.x.O, two));
    report_line("%s   %s", matrix("dO", dO, one), matrix("dP", dP, two));
    report_line("D   [%6.3f | %6.3f]                 %s", (double)D[0], (double)D[1],
                matrix("dS", dS, two));
    report_line("%s   %s", matrix("dQ", r.of[DQ], one), "= dS K");
    report_line("%s   %s", matrix("dK", r.of[DK], one), "= dS^T Q");
    report_line("%s   %s", matrix("dV", r.of[DV], one), "= P^T dO");
    result_free(&r);
    forward_free(&lab.x);
}

// ---- softmax ------------------------------------------------------------------------------------

/* The sum of g p, p = softmax(x), for three elements: the function that is differentiated. */
static double weighted_sum(const double *x, const double *g)
{
    double l = 0.0, sum = 0.0;
    for (int j = 0; j < 3; j++)
        l += exp(x[j]);
    for (int j = 0; j < 3; j++)
        sum += g[j] * exp(x[j]) / l;
    return sum;
}

static void softmax_row(void)
{
    static const double x[3] = { 1, 3, 2 }, dP[3] = { 1, 0, -1 };
    double p[3], l = 0.0, D = 0.0;
    for (int j = 0; j < 3; j++)
        l += exp(x[j]);
    for (int j = 0; j < 3; j++) {
        p[j] = exp(x[j]) / l;
        D += p[j] * dP[j];
    }
    report_part("Softmax");
    report_line("x = [1 3 2], p = softmax(x) = [%.4f %.4f %.4f], dP = [1 0 -1]", p[0], p[1], p[2]);
    report_line("D = sum of p dP = %.4f", D);
    report_line("%2s %27s %14s %18s %12s", "j", "row j of the Jacobian", "times dP", "p (dP - D)",
                "differences");
    for (int j = 0; j < 3; j++) {
        double row[3], product = 0.0, above[3], below[3];
        for (int k = 0; k < 3; k++) {
            row[k] = p[j] * ((j == k ? 1.0 : 0.0) - p[k]);
            product += row[k] * dP[k];
            above[k] = x[k] + (j == k ? 1e-4 : 0.0);
            below[k] = x[k] - (j == k ? 1e-4 : 0.0);
        }
        const double difference = (weighted_sum(above, dP) - weighted_sum(below, dP)) / 2e-4;
        report_line("%2d %9.4f %8.4f %8.4f %14.4f %18.4f %12.4f", j, row[0], row[1], row[2],
                    product, p[j] * (dP[j] - D), difference);
        if (!(fabs(difference - p[j] * (dP[j] - D)) <= 1e-7 && fabs(product - difference) <= 1e-7))
            report_wrong("these are not the same");
    }
}

// ---- the scale ----------------------------------------------------------------------------------

static void where_the_scale_goes(void)
{
    enum { HEAD_DIM = 64 };
    struct lab lab = backward_random(&chapter, attention_of(1, 1, 1, 16, 16, HEAD_DIM), &seed_1);
    struct result r = backward_run(step("complete"), &lab, step("complete")->usual);
    static const char *const names[] = { "dQ", "dK", "dV" };
    report_part("Scale");
    report_line("16 queries and keys, d = 64: element 0 of each gradient");
    report_line("%4s %14s %20s %22s", "", "complete", "scale forgotten", "differences, double");
    for (size_t g = 0; g < GRADIENTS; g++) {
        const double right = (double)r.of[g][0];
        const double tried = difference_at(&lab, g, 0, DIFFERENCE_STEP[IN_DOUBLE], IN_DOUBLE);
        const double wrong = g == DV ? right : right / (double)lab.input.p.scale;
        report_line("%4s %14.6f %20.6f %22.6f", names[g], right, wrong, tried);
        if (!(fabs(right - tried) <= 1e-4))
            report_wrong("that is not the gradient");
    }
    result_free(&r);
    lab_free(&lab);
}

// ---- finite differences -------------------------------------------------------------------------

enum { SAMPLES = 8 };

/* The largest error of finite differences with step h, at SAMPLES random elements of each input. */
static double largest_error(const struct lab *lab, double *const right[GRADIENTS], float h,
                            enum precision precision)
{
    const struct attention *p = &lab->input.p;
    double largest = 0.0;
    for (size_t g = 0; g < GRADIENTS; g++)
        for (size_t k = 0; k < SAMPLES; k++) {
            const size_t n = g == DQ ? attention_query_elements(p) : attention_key_elements(p);
            const size_t at = random_between(7, (uint32_t)g, k, 0, n - 1);
            const double off = fabs(difference_at(lab, g, at, h, precision) - right[g][at]);
            largest = larger_error(largest, off);
        }
    return largest;
}

static void finite_differences(void)
{
    struct lab lab = backward_random(&chapter, attention_of(1, 1, 1, 32, 32, 16), &seed_1);
    const struct attention_input *in = &lab.input;
    const size_t n = attention_query_elements(&in->p);
    double *right[GRADIENTS];
    for (size_t g = 0; g < GRADIENTS; g++)
        right[g] = allocate(n, sizeof(double), "the reference");
    reference_backward(&in->p, in->Q, in->K, in->V, lab.x.dO, right[DQ], right[DK], right[DV]);
    report_part("Differences");
    report_line("32 queries and keys, d = 16: the largest error of %d central differences,",
                GRADIENTS * SAMPLES);
    report_line("against the reference, by the step h");
    report_line("%12s %22s %22s", "h", "loss in double", "O in float32");
    for (int power = 0; power >= -18; power -= 2) {
        const float h = ldexpf(1.0f, power);
        report_line("%12.2e %22.1e %22.1e", (double)h, largest_error(&lab, right, h, IN_DOUBLE),
                    largest_error(&lab, right, h, IN_FLOAT));
    }
    if (!(largest_error(&lab, right, DIFFERENCE_STEP[IN_DOUBLE], IN_DOUBLE) <= 1e-5) ||
        !(largest_error(&lab, right, DIFFERENCE_STEP[IN_FLOAT], IN_FLOAT) <= 1e-3))
        report_wrong("the best steps are not good enough");
    for (size_t g = 0; g < GRADIENTS; g++)
        free(right[g]);
    lab_free(&lab);
}

// ---- accesses and operations --------------------------------------------------------------------

static struct count counted(const char *name, const struct lab *lab, struct tile_size size)
{
    const struct count c = count_step(step(name), &lab->input.p, size, lab->x);
    if (!c.as_predicted)
        report_wrong("%s: counted %zu accesses, which its formula does not give", name, c.total);
    return c;
}

static void accesses(void)
{
    enum { N = 256, D = 32 };
    static const size_t fast[] = { 64, 256, 1024, 2048, 4096, 8192 };
    static const char *const names[] = { "standard", "recompute", "fa1", "fa2", "split" };
    struct lab lab = backward_random(&chapter, attention_of(1, 1, 1, N, N, D), &seed_1);
    report_part("Accesses");
    report_line("accesses / N^2, counted, N = %d, d = %d, one head", N, D);
    report_line("%7s %17s %11s %9s %9s %9s", "M", "standard, tiled", "recompute", "fa1", "fa2",
                "split");
    for (size_t k = 0; k < sizeof fast / sizeof fast[0]; k++) {
        double per_pair[5];
        for (size_t n = 0; n < 5; n++)
            per_pair[n] = (double)counted(names[n], &lab, step(names[n])->size(fast[k], D)).total /
                          (N * (double)N);
        report_line("%7zu %17.2f %11.2f %9.2f %9.2f %9.2f", fast[k], per_pair[0], per_pair[1],
                    per_pair[2], per_pair[3], per_pair[4]);
    }
    lab_free(&lab);
}

// ---- all steps ----------------------------------------------------------------------------------

static void all_steps(void (*run_steps)(struct lab *lab))
{
    struct lab lab = { .chapter = &chapter, .o = seed_1 };
    backward_load(&lab);
    lab.last = table.steps + table.count - 1;
    forward_pass(&lab.input.p, &lab.x);
    lab_ready(&lab);
    run_steps(&lab);
    report_line("(the real input, with its key mask, and normal numbers for dO)");
    lab_free(&lab);
}

// ---- the parts ----------------------------------------------------------------------------------

void tell_screen(void (*run_steps)(struct lab *lab))
{
    by_hand();
    all_steps(run_steps);
}

int tell_part(const struct options *options)
{
    static const struct story_part parts[] = {
        { "by_hand", "every matrix of two queries and keys", by_hand, false },
        { "softmax", "the gradient of a row, by the Jacobian and by D", softmax_row, false },
        { "scale", "what becomes of the gradients without the scale", where_the_scale_goes, false },
        { "differences", "the error of finite differences, by their step", finite_differences,
          false },
        { "accesses", "of standard to split, by the size of fast memory", accesses, true },
    };
    return story_tell(options, parts, sizeof parts / sizeof parts[0]);
}
