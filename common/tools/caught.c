/*
 * caught [--long]: which wrong results do our checks catch? Spoils right results, the textbook's,
 * in one way at a time, and prints a table of the verdicts. Exit status: 0; 1 if common/check
 * refuses a right result, or accepts a wrong one that it must catch.
 */
#include "common/check/attention_check.h"
#include "common/check/gradient_check.h"
#include "common/check/plain.h"
#include "common/cpu/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- problems -----------------------------------------------------------------------------------

enum group { NORMAL, OUTLIERS, CAPPED, GROUPS };

/* A problem's special features; 0: none. */
struct setting {
    const char *name;
    enum group group;
    float query, column;  // factors of one query, and of one column of V
    float softcap, scale;
    size_t heads;
    bool forward, backward;
};

static const struct setting settings[] = {
    { .name = "normal numbers", .forward = true, .backward = true },
    { .name = "8 heads", .heads = 8, .forward = true },
    { "a large query", OUTLIERS, .query = 1e4f, .forward = true, .backward = true },
    { "a large column of V", OUTLIERS, .column = 1e3f, .forward = true, .backward = true },
    { "softcap 1", CAPPED, .softcap = 1.0f, .backward = true },
    { "softcap 50", CAPPED, .softcap = 50.0f, .backward = true },
    { "softcap 1, scale 10", CAPPED, .softcap = 1.0f, .scale = 10.0f, .backward = true },
    { "softcap 50, scale 10", CAPPED, .softcap = 50.0f, .scale = 10.0f, .backward = true },
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

enum part { OUTPUT, LSE, GRAD_Q = 0, GRAD_K, GRAD_V, PARTS };

struct problem {
    const struct setting *setting;
    bool backward;
    struct attention_input input;
    struct attention_check output;              // expected, forward
    struct gradient_check gradients;            // expected, backward
    size_t parts, rows[PARTS], columns[PARTS];  // rows of a head
    float *right[PARTS], *spoilt[PARTS];
};

static size_t size_of(const struct problem *x, size_t part)
{
    return x->input.p.H * x->rows[part] * x->columns[part];
}

static void add_outliers(struct attention_input *in, const struct setting *setting)
{
    const struct attention *p = &in->p;
    const float large = p->dtype == DTYPE_F16 ? 1e3f : setting->query;  // float16 ends at 65504
    for (size_t c = 0; setting->query > 0.0f && c < p->d; c++)
        in->Q[(p->Nq / 3) * p->d + c] *= large;
    for (size_t j = 0; setting->column > 0.0f && j < p->Nk; j++)
        in->V[j * p->d + 5] *= setting->column;
    dtype_round_all(p->dtype, in->Q, attention_query_elements(p));
    dtype_round_all(p->dtype, in->V, attention_key_elements(p));
}

static struct problem make(const struct setting *setting, bool backward, enum dtype type,
                           bool causal, size_t Nq, size_t Nk)
{
    const size_t heads = setting->heads ? setting->heads : 2, d = backward ? 32 : 64;
    struct attention p = attention_of(1, heads, heads, Nq, Nk, d);
    p.dtype = type;
    p.causal = causal;
    p.softcap = setting->softcap;
    p.scale = setting->scale > 0.0f ? setting->scale : p.scale;
    struct problem x = { .setting = setting,
                         .backward = backward,
                         .parts = backward ? 3 : 2,
                         .rows = { Nq, backward ? Nk : Nq, Nk },
                         .columns = { d, backward ? d : 1, d },
                         .input = attention_input_random(p, 1) };
    const struct attention_input *const in = &x.input;
    add_outliers(&x.input, setting);
    for (size_t part = 0; part < x.parts; part++) {
        x.right[part] = allocate(size_of(&x, part), sizeof(float), "a right result");
        x.spoilt[part] = allocate(size_of(&x, part), sizeof(float), "a wrong result");
    }
    if (backward) {
        float *dO = attention_dO_random(&in->p, 2);
        plain_backward(&in->p, in->Q, in->K, in->V, dO, x.right[GRAD_Q], x.right[GRAD_K],
                       x.right[GRAD_V]);
        x.gradients = gradient_check_begin(in, dO, true);
        free(dO);
    } else {
        plain_forward(&in->p, in->Q, in->K, in->V, x.right[OUTPUT], x.right[LSE]);
        x.output = attention_check_begin(in, true);
    }
    return x;
}

static void unmake(struct problem *x)
{
    for (size_t part = 0; part < x->parts; part++) {
        free(x->right[part]);
        free(x->spoilt[part]);
    }
    if (x->backward)
        gradient_check_end(&x->gradients);
    else
        attention_check_end(&x->output);
    attention_input_free(&x->input);
}

static void make_right(const struct problem *x)
{
    for (size_t part = 0; part < x->parts; part++)
        memcpy(x->spoilt[part], x->right[part], size_of(x, part) * sizeof(float));
}

static bool is_accepted(const struct problem *x)
{
    return x->backward ? gradient_check_errors(&x->gradients, x->spoilt, NULL).right
                       : attention_verdict_end(attention_verdict_of(&x->output, x->spoilt[OUTPUT],
                                                                    x->spoilt[LSE], NULL, NULL))
                             .right;
}

// ---- ways of being wrong ------------------------------------------------------------------------

/* A way has several turns, for example one per row that it spoils. Some do not count (move_key). */
enum turn { SPOILT, UNCOUNTED, NO_MORE };

/*
 * The row of the first head that this turn spoils. With causal order only one query attends to the
 * last key, and softcap may cut off its score, so dK would be pure rounding: then we take another
 * key.
 */
static float *row_of(const struct problem *x, size_t part, size_t turn)
{
    const bool is_capped = x->setting->group == CAPPED;
    const size_t N = x->rows[part], places[] = { N / 4, N / 2, is_capped ? 3 * N / 4 : N - 1 };
    return x->spoilt[part] + places[turn] * x->columns[part];
}

static enum turn row_of_zeros(const struct problem *x, size_t part, double by, size_t turn)
{
    (void)by;
    if (turn == 3)
        return NO_MORE;
    memset(row_of(x, part, turn), 0, x->columns[part] * sizeof(float));
    return SPOILT;
}

static enum turn rows_exchanged(const struct problem *x, size_t part, double by, size_t turn)
{
    const size_t d = x->columns[part];
    (void)by;
    if (turn == 3)
        return NO_MORE;
    float *const row = row_of(x, part, turn), *const before = row - d;
    for (size_t c = 0; c < d; c++) {
        const float kept = row[c];
        row[c] = before[c];
        before[c] = kept;
    }
    return SPOILT;
}

/* Zeros in the second half of the rows, in one column (by = 1) or all. */
static enum turn half_of_zeros(const struct problem *x, size_t part, double by, size_t turn)
{
    const size_t N = x->rows[part], d = x->columns[part];
    for (size_t i = N / 2; i < N; i++)
        for (size_t c = 0; c < (by > 0.0 ? 1 : d); c++)
            x->spoilt[part][i * d + c] = 0.0f;
    return turn == 0 ? SPOILT : NO_MORE;
}

static void multiply(const struct problem *x, size_t part, float *row, double by)
{
    for (size_t c = 0; c < x->columns[part]; c++) {
        row[c] = (float)((double)row[c] * by);
        if (!x->backward)  // O is stored in its type; gradients are float32
            row[c] = dtype_round(x->input.p.dtype, row[c]);
    }
}

static enum turn some_rows(const struct problem *x, size_t part, double by, size_t turn)
{
    for (size_t i = 7; i < x->rows[part]; i += 20)
        multiply(x, part, x->spoilt[part] + i * x->columns[part], by);
    return turn == 0 ? SPOILT : NO_MORE;
}

static enum turn one_row(const struct problem *x, size_t part, double by, size_t turn)
{
    if (turn == 3)
        return NO_MORE;
    multiply(x, part, row_of(x, part, turn), by);
    return SPOILT;
}

static enum turn one_lse(const struct problem *x, size_t part, double by, size_t turn)
{
    if (turn == 3)
        return NO_MORE;
    *row_of(x, part, turn) += (float)by;
    return SPOILT;
}

static enum turn next_head(const struct problem *x, size_t part, double by, size_t turn)
{
    const size_t d = x->columns[part];
    (void)by;
    if (turn == 3)
        return NO_MORE;
    float *const row = row_of(x, part, turn);
    memcpy(row, row + x->rows[part] * d, d * sizeof *row);
    return SPOILT;
}

/*
 * The last key of row (h, i) counts twice (by = 1) or not at all (by = -1). False if that moves O
 * by at most ten times its rounding; in 16 bits sixteen times, since a right result's own error
 * may be six.
 */
static bool move_key(const struct problem *x, size_t h, size_t i, double by)
{
    const struct attention *p = &x->input.p;
    const size_t row = h * p->Nq + i, d = p->d;
    size_t j = p->Nk - 1;
    while (!visible(p, 0, h, i, j))
        j--;
    const float *const Q = x->input.Q + row * d, *const K = x->input.K + (h * p->Nk + j) * d,
                       *const V = x->input.V + (h * p->Nk + j) * d;
    double dot = 0.0;
    for (size_t c = 0; c < d; c++)
        dot += (double)Q[c] * (double)K[c];
    const double P = exp(score_of(p, 0, h, i, j, dot) - x->output.lse[row].value);
    const double most = p->dtype == DTYPE_F32 ? 10.0 : 16.0;
    bool is_moved = false;
    for (size_t c = 0; c < d; c++) {
        const struct exact right = x->output.O[row * d + c];
        const double others = 1.0 + by * P, O = right.value + by * P * (double)V[c];
        const double moved = others > 1e-9 ? O / others - right.value : -right.value;
        float *const spoilt = x->spoilt[OUTPUT] + row * d + c;
        *spoilt = dtype_round(p->dtype, (float)((double)*spoilt + moved));
        is_moved |= fabs(moved) > most * right.sigma + right.bias;
    }
    return is_moved;
}

/* One row a turn, about 60 in all. */
static enum turn key_counted(const struct problem *x, size_t part, double by, size_t turn)
{
    const size_t rows = x->input.p.H * x->rows[part], row = turn * (rows / 64 + 1);
    if (row >= rows)
        return NO_MORE;
    return move_key(x, row / x->rows[part], row % x->rows[part], by) ? SPOILT : UNCOUNTED;
}

enum { STRENGTHS = 7 };
struct way {
    const char *name;
    bool backward;
    size_t part;
    enum turn (*spoil)(const struct problem *x, size_t part, double by, size_t turn);
    const double *by;      // strengths, ascending; ends with 0
    double in_f32, in_16;  // must be caught at this strength and above; 0: need not be
};

static const double once[] = { 1.0, 0.0 }, dropped[] = { -1.0, 0.0 }, whole[] = { -1.0, 0.0 };
static const double gains[] = { 1.0001, 1.0003, 1.001, 1.003, 1.01, 1.03, 1.1, 0.0 };
static const double shifts[] = { 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 0.0 };

static const struct way ways[] = {
    { "O: a row of zeros", false, OUTPUT, row_of_zeros, once, 1.0, 1.0 },
    { "O: two rows exchanged", false, OUTPUT, rows_exchanged, once, 1.0, 1.0 },
    { "O: half of a column is zero", false, OUTPUT, half_of_zeros, once, 1.0, 1.0 },
    { "O: 5 % of a head's rows times", false, OUTPUT, some_rows, gains, 1.001, 1.03 },
    { "O: one row of one head times", false, OUTPUT, one_row, gains, 0.0, 0.0 },
    { "O: a row's last key left out", false, OUTPUT, key_counted, dropped, -1.0, 0.0 },
    { "O: a row's last key twice", false, OUTPUT, key_counted, once, 0.0, 0.0 },
    { "lse: one of them plus", false, LSE, one_lse, shifts, 1e-2, 1e-2 },
    { "dQ: 5 % of a head's rows times", true, GRAD_Q, some_rows, gains, 1.01, 1.03 },
    { "dQ: a row of zeros", true, GRAD_Q, row_of_zeros, once, 1.0, 1.0 },
    { "dK: 5 % of a head's rows times", true, GRAD_K, some_rows, gains, 1.01, 1.03 },
    { "dK: a row of zeros", true, GRAD_K, row_of_zeros, once, 1.0, 1.0 },
    { "dK: a key's row of another head", true, GRAD_K, next_head, once, 1.0, 1.0 },
    { "dV: 5 % of a head's rows times", true, GRAD_V, some_rows, gains, 1.01, 1.03 },
    { "dV: a row of zeros", true, GRAD_V, row_of_zeros, once, 1.0, 1.0 },
    { "dV: half of a head is zero", true, GRAD_V, half_of_zeros, whole, 1.0, 1.0 },
    { "dV: a key's row of another head", true, GRAD_V, next_head, once, 1.0, 1.0 },
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static bool is_caught(const struct problem *x, const struct way *way, double by)
{
    for (size_t turn = 0;; turn++) {
        make_right(x);
        const enum turn what = way->spoil(x, way->part, by, turn);
        if (what == NO_MORE)
            return true;
        if (what == SPOILT && is_accepted(x))
            return false;
    }
}

/* The number of strengths caught, counting down from the largest. */
static size_t strengths_caught(const struct problem *x, const struct way *way)
{
    size_t n = 0, caught = 0;
    while (way->by[n] != 0.0)
        n++;
    while (caught < n && is_caught(x, way, way->by[n - 1 - caught]))
        caught++;
    return caught;
}

// ---- the table ----------------------------------------------------------------------------------

/*
 * For each way, group and type: the fewest strengths caught in any problem; NO_PROBLEM: there is
 * none.
 */
enum { NO_PROBLEM = STRENGTHS + 1 };
struct table {
    size_t caught[WAYS][GROUPS][DTYPES];
    size_t problems;
    bool is_wrong;
};

static void complain(struct table *table, const struct problem *x, const char *of, const char *what)
{
    const struct attention *p = &x->input.p;
    fprintf(stderr, "caught: %s %s: %s, %s, %zu queries, %zu keys, %s\n", of, what,
            dtype_name(p->dtype), p->causal ? "causal" : "no mask", p->Nq, p->Nk, x->setting->name);
    table->is_wrong = true;
}

static double smallest(const struct way *way, size_t caught)
{
    size_t n = 0;
    while (way->by[n] != 0.0)
        n++;
    return caught == 0 ? 0.0 : way->by[n - caught];
}

static void add(struct table *table, const struct problem *x)
{
    const enum dtype type = x->input.p.dtype;
    table->problems++;
    make_right(x);
    if (!is_accepted(x))
        complain(table, x, "a right result", "is refused");
    for (size_t w = 0; w < WAYS; w++) {
        const struct way *const way = &ways[w];
        const double needed = type == DTYPE_F32 ? way->in_f32 : way->in_16;
        size_t *const cell = &table->caught[w][x->setting->group][type];
        if (way->backward != x->backward)
            continue;
        const size_t caught = strengths_caught(x, way);
        const double least = smallest(way, caught);
        if (needed != 0.0 && (least == 0.0 || least > needed))
            complain(table, x, way->name, "is not caught");
        *cell = caught < *cell ? caught : *cell;
    }
}

static void add_all_of(struct table *table, const struct setting *setting, bool backward, size_t Nq,
                       size_t Nk)
{
    for (int type = 0; type < DTYPES; type++)
        for (int causal = 0; causal < 2; causal++) {
            struct problem x = make(setting, backward, (enum dtype)type, causal, Nq, Nk);
            add(table, &x);
            unmake(&x);
        }
}

static void print_cell(const struct way *way, size_t caught)
{
    const double least = caught == NO_PROBLEM ? 0.0 : smallest(way, caught);
    if (caught == NO_PROBLEM)
        printf("%7s", "");
    else if (least == 0.0)
        printf("%7s", "no");
    else if (way->by[1] == 0.0)
        printf("%7s", "yes");
    else
        printf("%7g", least);
}

static void print(const struct table *table)
{
    printf("%-34s%-21s%-21s%s\n%-34s", "which errors are caught", "       normal",
           "  beside an outlier", "    softcap 1 or 50", "");
    for (int column = 0; column < (int)GROUPS * (int)DTYPES; column++)
        printf("%7s", dtype_name((enum dtype)(column % DTYPES)));
    for (size_t w = 0; w < WAYS; w++) {
        printf("\n%-34s", ways[w].name);
        const size_t groups = ways[w].backward ? GROUPS : CAPPED;
        for (size_t column = 0; column < groups * DTYPES; column++)
            print_cell(&ways[w], table->caught[w][column / DTYPES][column % DTYPES]);
    }
    printf("\nright results accepted, wrong ones judged, in %zu problems\n", table->problems);
}

int main(int argc, char **argv)
{
    const bool is_long = argc == 2 && strcmp(argv[1], "--long") == 0;
    struct table table = { .problems = 0 };
    if (argc > 1 && !is_long) {
        fprintf(stderr, "caught: expected --long or nothing, found '%s'\n", argv[1]);
        return 2;
    }
    for (size_t k = 0; k < sizeof table.caught / sizeof(size_t); k++)
        (&table.caught[0][0][0])[k] = NO_PROBLEM;
    for (size_t s = 0; s < SETTINGS; s++)
        for (int backward = 0; backward < 2; backward++) {
            const struct setting *const setting = &settings[s];
            if (!(backward ? setting->backward : setting->forward))
                continue;
            add_all_of(&table, setting, backward, 128, 128);
            if (!setting->heads &&
                setting->group != CAPPED)  // few queries of many keys take less time
                add_all_of(&table, setting, backward, 64, 1024);
            if (is_long && !setting->heads)
                add_all_of(&table, setting, backward, 1024, 1024);
            if (is_long && !setting->heads && !backward)
                add_all_of(&table, setting, backward, 64, 16384);
        }
    print(&table);
    return table.is_wrong;
}
