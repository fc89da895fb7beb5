#include "common/program/story.h"
#include "02_safe_softmax/safe_softmax.h"
#include "04_flash_no_tiling/flash_no_tiling.h"
#include "04_flash_no_tiling/flash_row.h"
#include "04_flash_no_tiling/program.h"
#include "04_flash_no_tiling/standard_attention.h"
#include "common/check/attention_check.h"
#include "common/cpu/memory.h"
#include "common/measure/accesses.h"
#include "common/measure/bench.h"
#include "common/measure/traffic.h"
#include "common/measure/watch.h"
#include "common/program/attention_load.h"
#include "common/program/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRACE_PAIRS = 64, TRACE_D = 8 };

static void show_row(const struct attention *p, const float *Q, const float *K, const float *V,
                     size_t b, size_t h, size_t i)
{
    const size_t kv = (b * p->Hkv + kv_head(p, h)) * p->Nk * p->d;
    struct flash_row row;
    char text[16 * TRACE_D];
    flash_row_begin(&row, Q + ((b * p->H + h) * p->Nq + i) * p->d, p->d);
    report_line("   j        m        l   o");
    for (size_t j = 0; j < p->Nk; j++) {
        if (!visible(p, b, h, i, j))
            continue;
        flash_row_update(&row, K + kv + j * p->d, V + kv + j * p->d, p->d, p->scale);
        report_line("%4zu %8.4g %8.4f   %s", j, (double)row.m, (double)row.l,
                    report_row("%.4f", row.o, p->d, text, sizeof text));
    }
}

void trace_rows(const struct attention_input *input)
{
    const struct attention *p = &input->p;
    if (attention_rows(p) * p->Nk > TRACE_PAIRS || p->d > TRACE_D)
        options_fail("--trace", "expected at most %d query-key pairs, and d at most %d",
                     TRACE_PAIRS, TRACE_D);
    for (size_t row = 0; row < attention_rows(p); row++) {
        const size_t i = row % p->Nq, h = row / p->Nq % p->H, b = row / p->Nq / p->H;
        report_part(row ? "" : "Trace");
        report_line("b %zu, h %zu, i %zu", b, h, i);
        show_row(p, input->Q, input->K, input->V, b, h, i);
    }
}

enum { WORDS = 6, WIDTH = 2 };
static const char *const word[WORDS] = { "the", "cat", "sat", "because", "it", "purred" };
static const float word_Q[WORDS * WIDTH] = { 0, 0, 1, 0, 0, 1, 1, 1, 2, 1, 1, 2 };
static const float word_K[WORDS * WIDTH] = { 0, 0, 1, 1, 0, 1, 0, -1, 1, 0, 0, 1 };
static const float word_V[WORDS * WIDTH] = { 0, 1, 4, 2, 1, 3, 0, 0, 2, 2, 3, 1 };
enum { QUERY = 4 };

static void words_line(const char *what, const char *format, const float *x)
{
    char text[WORDS * 16];
    size_t used = 0;
    for (size_t j = 0; j < WORDS; j++)
        used += (size_t)snprintf(text + used, sizeof text - used, format, (double)x[j]);
    report_line("%-12s%s", what, text);
}

static void six_words(void)
{
    const float *const q = word_Q + QUERY * WIDTH;
    float S[WORDS], P[WORDS], O[WIDTH];
    report_part("Six words");
    report_line("%-12s%-10s%-10s%s", "word", "query", "key", "value");
    for (size_t i = 0; i < WORDS; i++)
        report_line("%-10s%3g %3g  %5g %3g  %5g %3g", word[i], (double)word_Q[2 * i],
                    (double)word_Q[2 * i + 1], (double)word_K[2 * i], (double)word_K[2 * i + 1],
                    (double)word_V[2 * i], (double)word_V[2 * i + 1]);
    for (size_t j = 0; j < WORDS; j++)
        S[j] = q[0] * word_K[2 * j] + q[1] * word_K[2 * j + 1];
    safe_softmax(S, P, WORDS);
    standard_attention(q, word_K, word_V, O, 1, WORDS, WIDTH, 1.0f);
    report_part("One query");
    report_line("%-12s%8s%8s%8s%8s%8s%8s", "\"it\", with", word[0], word[1], word[2], word[3],
                word[4], word[5]);
    words_line("scores", "%8g", S);
    words_line("weights", "%8.4f", P);
    report_line("%-12s%8.4f%8.4f", "output", (double)O[0], (double)O[1]);
}

static void one_pass_by_hand(void)
{
    struct flash_row row;
    report_part("One pass");
    report_line("%-10s%7s%6s%9s   o", "after", "score", "m", "l");
    flash_row_begin(&row, word_Q + QUERY * WIDTH, WIDTH);
    for (size_t j = 0; j < WORDS; j++) {
        const float *const k = word_K + j * WIDTH, *const q = row.q;
        flash_row_update(&row, k, word_V + j * WIDTH, WIDTH, 1.0f);
        report_line("%-10s%7g%6g%9.4f   [%.4f %.4f]", word[j], (double)(q[0] * k[0] + q[1] * k[1]),
                    (double)row.m, (double)row.l, (double)row.o[0], (double)row.o[1]);
    }
}

DECLARE_WATCHED(standard_attention);
DECLARE_WATCHED(flash_no_tiling_row);

/* n elements each. */
static void watch_all(const struct attention_input *input, const float *O, size_t n)
{
    traffic_reset();
    traffic_watch("Q", input->Q, n);
    traffic_watch("K", input->K, n);
    traffic_watch("V", input->V, n);
    traffic_watch("O", O, n);
}

static size_t accesses(void)
{
    return traffic_total().loads + traffic_total().stores;
}

/* On the first text of the real input, unmasked. */
static void compare_accesses(void)
{
    struct attention_input input = attention_usual();
    const struct attention *p = &input.p;
    const size_t N = p->Nq, d = p->d, head = N * d, H = p->H, pairs = H * N * N;
    float *O = allocate(H * head, sizeof *O, "O");
    watch_all(&input, O, H * head);
    for (size_t h = 0; h < H; h++)
        WATCHED(standard_attention)
    (input.Q + h * head, input.K + h * head, input.V + h * head, O + h * head, N, N, d, p->scale);
    const size_t all = accesses(), stored = extra_slow_peak();
    const struct attention text = attention_of(1, H, H, N, N, d);
    watch_all(&input, O, H * head);
    for (size_t row = 0; row < H * N; row++)
        WATCHED(flash_no_tiling_row)
    (&text, input.Q, input.K, input.V, 0, row / N, row % N, O + row * d, NULL);
    const size_t one_pass = accesses();
    char number[32], kept[32];
    report_part("Compared");
    report_line("%-20s%12s %12s %22s", "on the same text", "accesses", "per pair", "extra memory");
    report_line("%-20s%12s %12.2f %22s", "standard attention", report_number(all, number),
                (double)all / (double)pairs, report_bytes(stored, kept));
    snprintf(kept, sizeof kept, "%zu B", (2 * d + 2) * sizeof(float));
    report_line("%-20s%12s %12.2f %22s", "one pass", report_number(one_pass, number),
                (double)one_pass / (double)pairs, kept);
    free(O);
    attention_input_free(&input);
}

void tell_screen(void)
{
    six_words();
    one_pass_by_hand();
}

int tell_part(const struct options *options)
{
    static const struct story_part parts[] = {
        { "words", "attention of six words by the formula", six_words, false },
        { "one_pass", "the same for one query, key by key", one_pass_by_hand, false },
        { "standard", "accesses and memory of standard attention, and of one pass",
          compare_accesses, true },
    };
    return story_tell(options, parts, sizeof parts / sizeof parts[0]);
}

struct job {
    const struct attention_input *input;
    float *O;
};

static void one_pass(void *arg)
{
    const struct job *job = arg;
    flash_no_tiling(&job->input->p, job->input->Q, job->input->K, job->input->V, job->O, NULL);
}

static void three_passes(void *arg)
{
    const struct job *job = arg;
    const struct attention *p = &job->input->p;
    standard_attention(job->input->Q, job->input->K, job->input->V, job->O, p->Nq, p->Nk, p->d,
                       p->scale);
}

void bench_against_standard(const char *csv)
{
    char text[1000] = "chapter,n,d,three_passes_ms,one_pass_ms,ratio\n";
    report_part("Speed");
    report_line("%8s %14s %16s %14s %16s", "N, d 64", "S and P", "standard", "one pass",
                "one / standard");
    for (size_t N = 256; N <= 8192; N *= 2) {
        struct attention_input input = attention_input_random(attention_of(1, 1, 1, N, N, 64), 1);
        float *O = allocate(N * 64, sizeof *O, "O");
        struct job job = { &input, O };
        struct bench candidates[2] = {
            { .name = "three passes", .work = three_passes, .arg = &job },
            { .name = "one pass", .work = one_pass, .arg = &job },
        };
        bench_run(candidates, 2, 1.0);
        const double three = 1e3 * candidates[0].best, one = 1e3 * candidates[1].best;
        report_line("%8zu %11.1f MB %13.2f ms %11.2f ms %16.2f", N, 8e-6 * (double)(N * N), three,
                    one, one / three);
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "04,%zu,64,%.3f,%.3f,%.3f\n", N, three, one,
                 three / one);
        free(O);
        attention_input_free(&input);
    }
    report_line("one core of %s", bench_machine());
    if (csv)
        report_csv(csv, text);
}
