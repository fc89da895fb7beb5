/*
 * What chapter 05 shows besides its input: fa1 by hand and the first steps, and by --story the rest
 * of its pages.
 */
#include "common/program/story.h"
#include "05_flash_tiled_cpu/program.h"
#include "05_flash_tiled_cpu/steps/split_kv.h"
#include "05_flash_tiled_cpu/steps/trace.h"
#include "common/check/tolerance.h"
#include "common/measure/traffic.h"
#include "common/measure/watch.h"
#include "common/problem/block_mask.h"
#include "common/program/attention_load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct step *step(const char *name)
{
    return step_named(&table, name);
}

/* Runs the step on the input; release with outputs_free. */
static struct tensors run(const char *name, const struct attention_input *input,
                          struct tile_size size)
{
    return step_run(step(name), &input->p, size, tensors_of(input, NULL, NULL));
}

// ---- by hand ------------------------------------------------------------------------------------

static void by_hand(void)
{
    static float Q[12] = { 1, 0, 1, 0, 1, 0, 1, 1, 0, 0, 0, 2 };
    static float K[12] = { 1, 0, 0, 0, 2, 0, 1, 1, 1, 0, 0, 1 };
    static float V[12] = { 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1 };
    struct attention_input input = { attention_of(1, 1, 1, 4, 4, 3), .Q = Q, .K = K, .V = V };
    input.p.scale = 1.0f;
    report_part("By hand");
    report_line("fa1 on 4 queries and keys of 3 elements, scale 1, with M = 24:");
    report_line("Bc = 24 / (4 * 3) = 2 keys, Br = min(2, 3) = 2 queries, so four inner steps");
    report_line("Q = [1 0 1 | 0 1 0 | 1 1 0 | 0 0 2], K = [1 0 0 | 0 2 0 | 1 1 1 | 0 0 1],");
    report_line("V = [1 0 0 | 0 1 0 | 0 0 1 | 1 1 1]");
    trace_step(step("fa1"), &input, fa1_size(24, 3));
}

// ---- Theorem 2 ----------------------------------------------------------------------------------

static size_t counted(const char *name, const struct attention_input *input, struct tile_size size)
{
    const struct count c = count_step(step(name), &input->p, size, tensors_of(input, NULL, NULL));
    if (!c.as_predicted)
        report_wrong("%s: counted %zu accesses, which its formula does not give", name, c.total);
    return c.total;
}

/* The accesses that the closed forms give for one head of N queries and keys. */
static double closed_form(const char *name, double N, double d, struct tile_size size)
{
    const double Tr = ceil(N / (double)size.Br), Tc = ceil(N / (double)size.Bc);
    if (strcmp(name, "standard") == 0)
        return 2 * N * d + 2 * Tr * N * d + 6 * N * N;
    if (strcmp(name, "fa1") == 0)
        return 3 * N * d + 5 * N + Tc * (3 * N * d + 4 * N);
    return 2 * N * d + N + 2 * Tr * N * d;
}

/* The smallest M from which the step moves less than standard attention, for a large N. */
static size_t crossing(const char *name, size_t d)
{
    const double N = 1 << 20;
    size_t M = 64 * d * d;
    while (M > d && closed_form(name, N, (double)d, step(name)->size(M, d)) <
                        closed_form("standard", N, (double)d, standard_size(M, d)))
        M--;
    return M + 1;
}

static void theorem_2(void)
{
    enum { N = 256, D = 32 };
    static const size_t fast[] = { 64, 256, 512, 1024, 2048, 4096, 8192 };
    struct attention_input input = attention_input_random(attention_of(1, 1, 1, N, N, D), 1);
    report_part("Theorem 2");
    report_line("accesses / N^2, counted, N = %d, d = %d, one head; 04's one pass makes %.2f", N, D,
                2.0 * D + (2.0 * D + 1.0) / N);
    report_line("%7s %15s %9s %9s %21s", "M", "standard, tiled", "fa1", "fa2",
                "fa2, the paper's size");
    for (size_t k = 0; k < sizeof fast / sizeof fast[0]; k++) {
        const size_t M = fast[k];
        const double unit = (double)N * N;
        report_line("%7zu %15.2f %9.2f %9.2f %21.2f", M,
                    (double)counted("standard", &input, standard_size(M, D)) / unit,
                    (double)counted("fa1", &input, fa1_size(M, D)) / unit,
                    (double)counted("fa2", &input, fa2_size(M, D)) / unit,
                    (double)counted("fa2", &input, fa1_size(M, D)) / unit);
    }
    const size_t one = crossing("fa1", 64), two = crossing("fa2", 64);
    report_line("For large N and d = 64, fa1 moves less than standard from M = %zu on, %.2f d^2,",
                one, (double)one / 4096.0);
    report_line("and fa2 from M = %zu on, %.2f d^2.", two, (double)two / 4096.0);
    attention_input_free(&input);
}

/*
 * Operations per query-key pair besides the products, with N queries and keys: maximum, exponential
 * and the like per score, rescaling per row of a tile.
 */
static double other_operations(const char *name, double N, double d, struct tile_size size)
{
    const double Tc = ceil(N / (double)size.Bc);
    if (strcmp(name, "standard") == 0)
        return 8;
    if (strcmp(name, "fa1") == 0)
        return 6 + Tc * (d + 10) / N;
    return 5 + Tc * (d + 5) / N + (d + 2) / N;
}

static void operations_and_memory(void)
{
    enum { D = 32, M = 4096 };
    static const char *const names[] = { "standard", "fa1", "fa2" };
    report_part("Cost");
    report_line("d = %d, M = %d%27s%34s", D, M, "operations / N^2", "bytes stored whole");
    report_line("%-12s %15s %12s %14s %12s %12s", "", "products", "others", "N = 128", "256",
                "512");
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        struct tile_size (*const size)(size_t M, size_t d) = step(names[k])->size;
        char text[3][32];
        size_t bytes[3];
        for (size_t n = 0; n < 3; n++) {
            const size_t N = 128U << n;
            struct attention_input input =
                attention_input_random(attention_of(1, 1, 1, N, N, D), 1);
            traffic_reset();
            struct tensors x = run(names[k], &input, size(M, D));
            bytes[n] = extra_slow_peak();
            outputs_free(&x);
            attention_input_free(&input);
        }
        report_line("%-12s %15.2f %12.2f %14s %12s %12s", names[k], 4.0 * D,
                    other_operations(names[k], 512, D, size(M, D)),
                    report_number(bytes[0], text[0]), report_number(bytes[1], text[1]),
                    report_number(bytes[2], text[2]));
    }
}

// ---- masks, dropout, splits ---------------------------------------------------------------------

/* Reports an error if the step's result on tiles of 32 by 32 is wrong. */
static void must_be_right(const char *name, const struct attention_input *input)
{
    const struct options tiles = { .br = 32, .bc = 32 };
    struct lab lab = lab_of(&chapter, *input, &tiles);
    lab_ready(&lab);
    if (!lab_errors(&lab, step(name), false).right)
        report_wrong("%s: its O or lse", name);
    attention_check_end(&lab.check);  // the input is not its own
}

static void print_mask(const char *what, struct attention_input *input, size_t unmasked)
{
    must_be_right("masks", input);
    const struct tile_size size = { 32, 32 };
    const struct tile_counts tiles = count_tiles(&input->p, size);
    const size_t accesses = counted("masks", input, size), pairs = attention_pairs(&input->p);
    const double most = (double)attention_rows(&input->p) * (double)input->p.Nk;
    char text[32];
    report_line("%-22s %7.1f %% %8zu %8zu %8zu %12s %8.2f", what, 100.0 * (double)pairs / most,
                tiles.of_kind[TILE_FULL], tiles.of_kind[TILE_PARTIAL], tiles.of_kind[TILE_SKIPPED],
                report_number(accesses, text),
                unmasked ? (double)accesses / (double)unmasked : 1.0);
}

static void show_masks(void)
{
    enum { N = 512, D = 32, R = 64 };
    struct attention_input input = attention_input_random(attention_of(1, 1, 1, N, N, D), 1);
    struct attention *p = &input.p;
    uint8_t blocks[(N / R) * (N / R)];
    report_part("Masks");
    report_line("N = %d, d = %d, tiles of 32 by 32", N, D);
    report_line("%-22s %9s %8s %8s %8s %12s %8s", "", "pairs", "full", "partial", "skipped",
                "accesses", "of all");
    const size_t unmasked = counted("masks", &input, (struct tile_size){ 32, 32 });
    print_mask("none", &input, unmasked);
    p->causal = true;
    print_mask("--causal", &input, unmasked);
    p->window_left = 64;
    print_mask("--causal --window 64,0", &input, unmasked);
    p->causal = false;
    p->window_left = -1;
    p->block_mask = blocks;
    static const double densities[] = { 0.5, 0.25, 0.1 };
    for (size_t k = 0; k < sizeof densities / sizeof densities[0]; k++) {
        char what[40];
        block_mask_random(blocks, p, densities[k], 1);
        snprintf(what, sizeof what, "random:%g:1", densities[k]);
        print_mask(what, &input, unmasked);
    }
    attention_input_free(&input);
}

/* NaN if there is one. */
static double largest_difference(const float *a, const float *b, size_t n)
{
    double largest = 0.0;
    for (size_t k = 0; k < n; k++)
        largest = larger_error(largest, fabs((double)a[k] - (double)b[k]));
    return largest;
}

static void show_dropout(void)
{
    enum { N = 256, D = 16 };
    struct attention_input input = attention_input_random(attention_of(1, 2, 2, N, N, D), 1);
    struct attention *p = &input.p;
    attention_set_dropout(p, 0.1, 7);
    size_t kept = 0;
    for (size_t n = 0; n < attention_rows(p) * N; n++)
        kept += dropout_keeps(p, 0, n / N / N, n / N % N, n % N);
    struct tensors a = run("dropout", &input, (struct tile_size){ 32, 16 });
    struct tensors b = run("dropout", &input, (struct tile_size){ 1, 7 });
    const double largest = largest_difference(a.O, b.O, attention_query_elements(p));
    char stay[32], all[32];
    report_part("Dropout");
    report_line("P = 0.1: %s of %s weights stay, %.4f", report_number(kept, stay),
                report_number(attention_rows(p) * N, all),
                (double)kept / (double)(attention_rows(p) * N));
    report_line("tiles of 32 by 16 and of 1 by 7 drop the same weights: O differs by %.1e",
                largest);
    if (!(largest <= 1e-5))
        report_wrong("that is more than rounding");
    must_be_right("dropout", &input);
    outputs_free(&a);
    outputs_free(&b);
    attention_input_free(&input);
}

// ---- a bias -------------------------------------------------------------------------------------

enum { BIAS_N = 256, BIAS_D = 64, BIAS_H = 8, BIAS_KEY_HEADS = 2, BIAS_COLUMNS = 2 };

/* ALiBi's slope of query head h. */
static float slope_of(size_t h)
{
    return exp2f(-8.0f * (float)(h + 1) / (float)BIAS_H);
}

/*
 * The bias slope (j - i) as two more columns of Q, K and V: (slope / scale, -i slope / scale) of a
 * query, (j, 1) of a key, 0 of a value. They come first, so that their sum is exact before the dot
 * product is added to it.
 */
static struct attention_input with_bias(const struct attention_input *input)
{
    const struct attention *p = &input->p;
    const size_t d = p->d, wide = d + BIAS_COLUMNS;
    struct attention q = attention_of(p->B, p->H, p->Hkv, p->Nq, p->Nk, wide);
    q.scale = p->scale;
    q.causal = p->causal;
    struct attention_input more = attention_input_random(q, 1);
    for (size_t n = 0; n < attention_rows(p); n++) {
        const float slope = slope_of(n / p->Nq % p->H) / p->scale;
        more.Q[n * wide] = slope;
        more.Q[n * wide + 1] = -(float)(n % p->Nq) * slope;
        memcpy(more.Q + n * wide + BIAS_COLUMNS, input->Q + n * d, d * sizeof(float));
    }
    for (size_t n = 0; n < p->B * p->Hkv * p->Nk; n++) {
        more.K[n * wide] = (float)(n % p->Nk);
        more.K[n * wide + 1] = 1.0f;
        more.V[n * wide] = more.V[n * wide + 1] = 0.0f;
        memcpy(more.K + n * wide + BIAS_COLUMNS, input->K + n * d, d * sizeof(float));
        memcpy(more.V + n * wide + BIAS_COLUMNS, input->V + n * d, d * sizeof(float));
    }
    return more;
}

/* Row (h, i) of O by the formula in double, with the bias where it is defined: in the score. */
static void biased_row(const struct attention_input *input, size_t h, size_t i, double *O)
{
    const struct head a = head_of(&input->p, h, tensors_of(input, NULL, NULL));
    double l = 0.0, weights[BIAS_N];
    for (size_t j = 0; j <= i; j++) {
        double x = 0.0;
        for (size_t k = 0; k < BIAS_D; k++)
            x += (double)a.Q[i * BIAS_D + k] * (double)a.K[j * BIAS_D + k];
        weights[j] = exp((double)input->p.scale * x - (double)slope_of(h) * (double)(i - j));
        l += weights[j];
    }
    for (size_t k = 0; k < BIAS_D; k++) {
        O[k] = 0.0;
        for (size_t j = 0; j <= i; j++)
            O[k] += weights[j] / l * (double)a.V[j * BIAS_D + k];
    }
}

/* The largest error in O of complete with the columns, against biased_row. */
static double error_of_columns(const struct attention_input *input,
                               const struct attention_input *more, struct tile_size size)
{
    struct tensors x = run("complete", more, size);
    double largest = 0.0, O[BIAS_D];
    for (size_t row = 0; row < attention_rows(&input->p); row++) {
        biased_row(input, row / BIAS_N, row % BIAS_N, O);
        for (size_t k = 0; k < BIAS_D; k++) {
            const float got = x.O[row * (BIAS_D + BIAS_COLUMNS) + BIAS_COLUMNS + k];
            largest = larger_error(largest, fabs((double)got - O[k]));
        }
    }
    outputs_free(&x);
    return largest;
}

static void print_bias(const char *what, size_t accesses, size_t without)
{
    char text[32];
    report_line("%-22s %12s %8.2f", what, report_number(accesses, text),
                (double)accesses / (double)without);
}

static const struct tile_size bias_tile = { 32, 32 };

static struct attention_input bias_input(void)
{
    struct attention p = attention_of(1, BIAS_H, BIAS_KEY_HEADS, BIAS_N, BIAS_N, BIAS_D);
    p.causal = true;
    return attention_input_random(p, 1);
}

double story_error_of_bias(void)
{
    struct attention_input input = bias_input(), more = with_bias(&input);
    const double error = error_of_columns(&input, &more, bias_tile);
    attention_input_free(&more);
    attention_input_free(&input);
    return error;
}

static void show_bias(void)
{
    struct attention_input input = bias_input(), more = with_bias(&input);
    const double largest = story_error_of_bias();
    const size_t without = counted("masks", &input, bias_tile);
    report_part("Bias");
    report_line("ALiBi, slopes 2^-1 to 2^-8, causal; N = %d, d = %d, %d heads, %d of K and V",
                BIAS_N, BIAS_D, BIAS_H, BIAS_KEY_HEADS);
    report_line("%-22s %12s %8s", "", "accesses", "ratio");
    print_bias("no bias", without, without);
    print_bias("two more columns", counted("masks", &more, bias_tile), without);
    print_bias("a matrix (H, N, N)", without + count_tiles(&input.p, bias_tile).pairs, without);
    report_line("with the columns O differs from the formula by %.1e", largest);
    if (!(largest <= 5e-6))
        report_wrong("that is more than rounding");
    attention_input_free(&more);
    attention_input_free(&input);
}

// ---- splits -------------------------------------------------------------------------------------

static void show_splits(void)
{
    enum { N = 4096, D = 64 };
    struct attention_input input = attention_input_random(attention_of(1, 1, 1, 1, N, D), 1);
    const struct tile_size size = fa2_size(USUAL_M, D);
    struct tensors whole = run("dropout", &input, size);
    struct tensors splits = run("split_kv", &input, size);
    const double largest = largest_difference(whole.O, splits.O, D);
    report_part("Splits");
    report_line("one query, %d keys: split_kv cuts them into %zu splits of %zu keys", N,
                split_count(&input.p), N / split_count(&input.p));
    report_line("its output differs from the undivided one by %.1e", largest);
    if (!(largest <= 1e-6))
        report_wrong("that is more than rounding");
    outputs_free(&whole);
    outputs_free(&splits);
    attention_input_free(&input);
}

// ---- the first steps ----------------------------------------------------------------------------

/*
 * Steps standard to masks on the first text of the real input, which has no padding, so all support
 * it.
 */
static void first_steps(void (*run_steps)(struct lab *lab))
{
    const struct options none = { .window_left = -1, .window_right = -1 };
    struct attention_input input = attention_input_load(&none);
    input.p.B = 1;
    input.p.key_mask = NULL;
    struct lab lab = lab_of(&chapter, input, &none);
    lab.last = step("masks");
    lab_ready(&lab);
    run_steps(&lab);
    const double d = (double)input.p.d, N = (double)input.p.Nk;
    report_line("(the first text of the real input, %zu heads; chapter 04's one pass makes",
                input.p.H);
    report_line("2 d + (2 d + 1) / Nk = %.2f accesses per pair on it)",
                2.0 * d + (2.0 * d + 1.0) / N);
    lab_free(&lab);
}

// ---- the parts ----------------------------------------------------------------------------------

void tell_screen(void (*run_steps)(struct lab *lab))
{
    if (CAN_WATCH)
        by_hand();
    first_steps(run_steps);
}

int tell_part(const struct options *options)
{
    static const struct story_part parts[] = {
        { "by_hand", "fa1 on four queries and keys, tile by tile", by_hand, true },
        { "theorem_2", "accesses of standard, fa1 and fa2, by the size of fast memory", theorem_2,
          true },
        { "cost", "operations, and bytes that are stored whole", operations_and_memory, true },
        { "masks", "tiles and accesses, by the mask", show_masks, true },
        { "dropout", "the same weights dropped, whatever the tiles", show_dropout, false },
        { "bias", "ALiBi as two more columns of Q, K and V", show_bias, true },
        { "splits", "one query's keys in splits", show_splits, false },
    };
    return story_tell(options, parts, sizeof parts / sizeof parts[0]);
}
