/*
 * The numbers of --trace, which students hold theirs against: each matrix is what the derivation makes of those
 * before it, and of Q, K, V and dO.
 */
#include "07_backward/steps/trace.h"
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NQ = 5, NK = 4, D = 2 };

/* Element (row, column) of the matrix `what`, as --trace=csv has written it; NaN if it has not. */
static double traced(const char *csv, const char *what, size_t row, size_t column)
{
    const bool of_keys = strcmp(what, "dK") == 0 || strcmp(what, "dV") == 0;
    char place[80];
    snprintf(place, sizeof place, "\n0,0,%s,%s,%zu,%zu,", what, of_keys ? "key" : "query", row,
             column);
    const char *const line = strstr(csv, place);
    return line ? strtod(line + strlen(place), NULL) : (double)NAN;
}

static double dot(const float *x, const float *y)
{
    return (double)x[0] * (double)y[0] + (double)x[1] * (double)y[1];
}

static void assert_is(const char *what, size_t row, size_t column, double got, double right)
{
    cr_assert(got == right || fabs(got - right) <= 2e-6 * fmax(1.0, fabs(right)),
              "%s[%zu, %zu] is %.9g, expected %.9g", what, row, column, got, right);
}

static float Q[NQ][D] = { { 1, 2 }, { -1, 1 }, { 0.5f, -2 }, { 2, 0.25f }, { -0.5f, 1 } };
static float K[NK][D] = { { 1, -1 }, { 0.5f, 1 }, { -1, 2 }, { 0.25f, -0.5f } };
static float V[NK][D] = { { 2, 1 }, { -1, 0.5f }, { 1, -2 }, { 0.5f, 3 } };
static float dO[NQ][D] = { { 1, -1 }, { 2, 0.5f }, { -1, 1 }, { 0.25f, 2 }, { 1, 1 } };
static const double SCALE = 0.75, KEPT = 0.5;

/* What --trace=csv writes of them, in causal order. */
static const char *trace(void)
{
    static char csv[8000];
    char path[300];
    struct attention p = attention_of(1, 1, 1, NQ, NK, D);
    p.causal = true;
    p.scale = (float)SCALE;
    attention_set_dropout(&p, 1.0 - KEPT, 3);
    struct lab layer = { .input = { p, .Q = *Q, .K = *K, .V = *V },
                         .x = { .Q = *Q, .K = *K, .V = *V, .dO = *dO } };
    forward_pass(&layer.input.p, &layer.x);
    snprintf(path, sizeof path, "%s/trace.csv", command_folder());
    cr_assert(freopen(path, "w", stdout), "%s cannot be written", path);
    backward_trace(&layer, true);
    fflush(stdout);
    FILE *const file = fopen(path, "r");
    cr_assert(file, "%s cannot be read", path);
    csv[fread(csv, 1, sizeof csv - 1, file)] = '\0';
    fclose(file);
    forward_free(&layer.x);
    return csv;
}

/* A pair: its score, its weight before dropout, and what becomes of dP and dS. Returns whether it was dropped. */
static bool assert_pair(const char *csv, size_t i, size_t j, double l)
{
    const bool seen = j + NQ <= i + NK;
    const double x = seen ? SCALE * dot(Q[i], K[j]) : -(double)INFINITY;
    const double P = seen ? exp(x) / l : 0.0, dropped = traced(csv, "P", i, j);
    const double Z = dropped == 0.0 ? 0.0 : 1.0 / KEPT, dP = traced(csv, "dP", i, j);
    assert_is("S", i, j, traced(csv, "S", i, j), x);
    assert_is("P", i, j, dropped, P * Z);
    if (seen)  // the weight of a masked pair does not reveal dropout's decision
        assert_is("dP", i, j, dP, dot(dO[i], V[j]) * Z);
    assert_is("dS", i, j, traced(csv, "dS", i, j), P * (seen ? dP - traced(csv, "D", i, 0) : 0.0));
    return seen && Z == 0.0;
}

static size_t assert_query(const char *csv, size_t i)
{
    double l = 0.0, D_i = 0.0;
    size_t dropped = 0;
    for (size_t j = 0; j + NQ <= i + NK; j++)
        l += exp(SCALE * dot(Q[i], K[j]));
    for (size_t j = 0; j < NK; j++)
        dropped += assert_pair(csv, i, j, l);
    for (size_t k = 0; k < D; k++) {
        double O = 0.0, dQ = 0.0;
        for (size_t j = 0; j < NK; j++) {
            O += traced(csv, "P", i, j) * (double)V[j][k];
            dQ += SCALE * traced(csv, "dS", i, j) * (double)K[j][k];
        }
        assert_is("O", i, k, traced(csv, "O", i, k), O);
        assert_is("dQ", i, k, traced(csv, "dQ", i, k), dQ);
        D_i += O * (double)dO[i][k];
    }
    assert_is("D", i, 0, traced(csv, "D", i, 0), D_i);
    return dropped;
}

TEST(trace, has_the_numbers_of_the_derivation_in_causal_order_and_with_dropout)
{
    size_t dropped = 0;
    const char *const csv = trace();
    for (size_t i = 0; i < NQ; i++)
        dropped += assert_query(csv, i);
    cr_assert(dropped > 1 && dropped < 9, "%zu of 10 pairs are dropped: that tests little",
              dropped);
    for (size_t j = 0; j < NK; j++)
        for (size_t k = 0; k < D; k++) {
            double dK = 0.0, dV = 0.0;
            for (size_t i = 0; i < NQ; i++) {
                dK += SCALE * traced(csv, "dS", i, j) * (double)Q[i][k];
                dV += traced(csv, "P", i, j) * (double)dO[i][k];
            }
            assert_is("dK", j, k, traced(csv, "dK", j, k), dK);
            assert_is("dV", j, k, traced(csv, "dV", j, k), dV);
        }
}
