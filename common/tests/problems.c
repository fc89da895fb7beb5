#include "common/tests/problems.h"

#include "common/check/reference.h"
#include "common/cpu/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum stream { QUERIES, KEYS, VALUES, OUTPUT_GRADIENT, KEY_MASK, BLOCK_MASK, PARAMETERS, OPTIONS };

static float *normals(size_t count, uint64_t seed, enum stream stream)
{
    float *x = allocate(count, sizeof *x, "a test's input");
    random_normals(x, count, seed, stream);
    return x;
}

/* A mask of `rows` by `cols`: about two thirds are 1, and one row in eight is all 0. */
static uint8_t *mask(size_t rows, size_t cols, uint64_t seed, enum stream stream)
{
    uint8_t *shown = allocate(rows * cols, sizeof *shown, "a test's mask");
    for (size_t r = 0; r < rows; r++) {
        const bool hidden = random_between(seed, stream, rows * cols + r, 1, 8) == 1;
        for (size_t c = 0; c < cols; c++)
            shown[r * cols + c] = !hidden && random_between(seed, stream, r * cols + c, 1, 3) > 1;
    }
    return shown;
}

struct test_problem problem_of(struct attention p, unsigned masks, uint64_t seed)
{
    struct test_problem t = { .p = p, .seed = seed };
    t.Q = normals(attention_query_elements(&p), seed, QUERIES);
    t.K = normals(attention_key_elements(&p), seed, KEYS);
    t.V = normals(attention_key_elements(&p), seed, VALUES);
    dtype_round_all(p.dtype, t.Q, attention_query_elements(&p));
    dtype_round_all(p.dtype, t.K, attention_key_elements(&p));
    dtype_round_all(p.dtype, t.V, attention_key_elements(&p));
    t.dO = normals(attention_query_elements(&p), seed, OUTPUT_GRADIENT);
    dtype_round_all(p.dtype, t.dO, attention_query_elements(&p));
    if (masks & WITH_KEY_MASK)
        t.key_mask = mask(p.B, p.Nk, seed, KEY_MASK);
    if (masks & WITH_BLOCK_MASK)
        t.block_mask = mask((p.Nq + p.mask_rows - 1) / p.mask_rows,
                            (p.Nk + p.mask_cols - 1) / p.mask_cols, seed, BLOCK_MASK);
    t.p.key_mask = t.key_mask;
    t.p.block_mask = t.block_mask;
    return t;
}

struct draws {
    uint64_t seed, drawn;
};

static size_t draw(struct draws *draws, size_t low, size_t high)
{
    return random_between(draws->seed, PARAMETERS, draws->drawn++, low, high);
}

/* Grouped heads: H = groups * size, at least two heads in each group. */
static struct attention random_shape(struct draws *draws, struct attention most, unsigned options)
{
    const size_t B = draw(draws, 1, most.B), d = draw(draws, 1, most.d);
    size_t H = draw(draws, 1, most.H), Hkv = H;
    if (options & WITH_GROUPED_HEADS) {
        const size_t size = draw(draws, 2, most.H);
        Hkv = draw(draws, 1, most.H / size);
        H = Hkv * size;
    }
    size_t Nq = draw(draws, 1, most.Nq < most.Nk ? most.Nq : most.Nk), Nk = Nq;
    if (options & WITH_UNEQUAL_LENGTHS)
        do {
            Nq = draw(draws, 1, most.Nq);
            Nk = draw(draws, 1, most.Nk);
        } while (Nq == Nk);
    return attention_of(B, H, Hkv, Nq, Nk, d);
}

struct attention random_attention(uint64_t seed, struct attention most, unsigned options)
{
    struct draws draws = { .seed = seed };
    struct attention p = random_shape(&draws, most, options);
    const size_t longest = p.Nq > p.Nk ? p.Nq : p.Nk;
    if (options & WITH_SCALE)
        p.scale *= ((float)draw(&draws, 0, 8) - 4.0f) / 2.0f;
    p.causal = options & WITH_CAUSAL;
    p.top_left = options & WITH_TOP_LEFT;
    if (options & WITH_WINDOW) {
        const size_t sides = draw(&draws, 1, 3);
        const size_t left = draw(&draws, 0, longest), right = draw(&draws, 0, longest);
        p.window_left = sides & 1 ? (ptrdiff_t)left : -1;
        p.window_right = sides & 2 ? (ptrdiff_t)right : -1;
    }
    p.mask_rows = draw(&draws, 1, p.Nq);
    p.mask_cols = draw(&draws, 1, p.Nk);
    if (options & WITH_DROPOUT)
        attention_set_dropout(&p, 0.05 * (double)draw(&draws, 1, 15), seed * 0x9E3779B97F4A7C15);
    if (options & WITH_SOFTCAP)
        p.softcap = 0.5f * (float)draw(&draws, 2, 8);
    return p;
}

struct test_problem random_problem(uint64_t seed, struct attention most, unsigned options)
{
    return problem_of(random_attention(seed, most, options), options, seed);
}

unsigned random_options(uint64_t seed, unsigned allowed)
{
    if (random_between(seed, OPTIONS, 0, 1, 8) == 1)
        return allowed;
    const unsigned softcap = random_between(seed, OPTIONS, 2, 0, 1) ? WITH_SOFTCAP : 0;
    return ((unsigned)random_between(seed, OPTIONS, 1, 0, WITH_EVERYTHING) | softcap) & allowed;
}

void problem_free(struct test_problem *t)
{
    free(t->Q);
    free(t->K);
    free(t->V);
    free(t->dO);
    free(t->key_mask);
    free(t->block_mask);
    *t = (struct test_problem){ .seed = t->seed };
}

static bool seen(const struct attention *p, size_t b, size_t g, size_t j)
{
    for (size_t h = 0; h < p->H; h++)
        for (size_t i = 0; i < p->Nq; i++)
            if (kv_head(p, h) == g && visible(p, b, h, i, j))
                return true;
    return false;
}

bool tests_are_short(void)
{
    const char *const is_short = getenv("SHORT");
    return is_short && strcmp(is_short, "yes") == 0;
}

bool kernel_is_in_question(const char *name)
{
    const char *word = getenv("ONLY_KERNELS");
    if (!word || !*word)
        return true;
    if (strncmp(name, "cuda_", 5) == 0)
        name += 5;
    // A kernel may have two files: complete has complete.cu and complete16.cu.
    for (size_t n; *(word += strspn(word, " ")); word += n) {
        n = strcspn(word, " ");
        size_t same = 0;
        while (same < n && name[same] == word[same])
            same++;
        const bool begins = same == n || !name[same];
        if (begins && same + strspn(word + same, "0123456789") == n &&
            !name[same + strspn(name + same, "0123456789")])
            return true;
    }
    return false;
}

bool problem_is_too_long(const struct attention *p)
{
    enum { LONG = 130 * 130 };  // pairs of a query and a key of a head
    return tests_are_short() && p->Nq * p->Nk > LONG;
}

uint64_t all_or_few(uint64_t all, uint64_t few)
{
    return tests_are_short() ? few : all;
}

size_t problem_poison_unseen_keys(struct test_problem *t)
{
    const struct attention *p = &t->p;
    size_t poisoned = 0;
    for (size_t b = 0; b < p->B; b++)
        for (size_t g = 0; g < p->Hkv; g++)
            for (size_t j = 0; j < p->Nk; j++) {
                const size_t row = ((b * p->Hkv + g) * p->Nk + j) * p->d;
                if (seen(p, b, g, j))
                    continue;
                poisoned++;
                for (size_t c = 0; c < p->d; c++)
                    t->K[row + c] = t->V[row + c] = NAN;
            }
    return poisoned;
}

size_t problem_poison_queries_that_see_nothing(struct test_problem *t)
{
    const struct attention *p = &t->p;
    size_t poisoned = 0;
    for (size_t row = 0; row < attention_rows(p); row++) {
        const size_t b = row / (p->H * p->Nq), h = row / p->Nq % p->H, i = row % p->Nq;
        bool sees = false;
        for (size_t j = 0; j < p->Nk; j++)
            sees = sees || visible(p, b, h, i, j);
        if (sees)
            continue;
        poisoned++;
        for (size_t c = 0; c < p->d; c++)
            t->Q[row * p->d + c] = t->dO[row * p->d + c] = NAN;
    }
    return poisoned;
}

double *unwritten(size_t count)
{
    double *x = allocate(count, sizeof *x, "a test's result");
    for (size_t n = 0; n < count; n++)
        x[n] = (double)NAN;
    return x;
}

struct reference_results reference_results_of(const struct test_problem *t)
{
    const size_t queries = attention_query_elements(&t->p), keys = attention_key_elements(&t->p);
    struct reference_results r = { unwritten(queries), unwritten(attention_rows(&t->p)),
                                   unwritten(queries), unwritten(keys), unwritten(keys) };
    reference_forward(&t->p, t->Q, t->K, t->V, r.O, r.lse);
    reference_backward(&t->p, t->Q, t->K, t->V, t->dO, r.dQ, r.dK, r.dV);
    return r;
}

void reference_results_free(struct reference_results *r)
{
    free(r->O);
    free(r->lse);
    free(r->dQ);
    free(r->dK);
    free(r->dV);
    *r = (struct reference_results){ NULL, NULL, NULL, NULL, NULL };
}

double largest_difference(const double *got, const double *expected, size_t count, size_t *at)
{
    double largest = 0.0;
    *at = 0;
    for (size_t n = 0; n < count; n++) {
        double difference = got[n] == expected[n] ? 0.0 : fabs(got[n] - expected[n]);
        if (isnan(difference))
            difference = (double)INFINITY;
        if (difference > largest) {
            largest = difference;
            *at = n;
        }
    }
    return largest;
}

const char *problem_text(const struct test_problem *t)
{
    static char text[400];
    const struct attention *p = &t->p;
    int n = snprintf(text, sizeof text,
                     "--batch %zu --heads %zu --kv-heads %zu --n-q %zu --n-k %zu --d %zu"
                     " --seed %llu --scale %.9g --window %td,%td",
                     p->B, p->H, p->Hkv, p->Nq, p->Nk, p->d, (unsigned long long)t->seed,
                     (double)p->scale, p->window_left, p->window_right);
    if (p->softcap > 0.0f)
        n += snprintf(text + n, sizeof text - (size_t)n, " --softcap %.9g", (double)p->softcap);
    if (p->causal)
        n += snprintf(text + n, sizeof text - (size_t)n, " --causal=%s",
                      p->top_left ? "top-left" : "bottom-right");
    else if (p->top_left)
        n += snprintf(text + n, sizeof text - (size_t)n, " (top-left)");
    if (p->dropout_threshold > 0)
        n += snprintf(text + n, sizeof text - (size_t)n, " --dropout %.9g --dropout-seed %llu",
                      p->dropout, (unsigned long long)p->dropout_seed);
    if (p->dtype != DTYPE_F32)
        n += snprintf(text + n, sizeof text - (size_t)n, " --dtype %s", dtype_name(p->dtype));
    if (p->key_mask)
        n += snprintf(text + n, sizeof text - (size_t)n, " --key-mask");
    if (p->block_mask)
        snprintf(text + n, sizeof text - (size_t)n, " --mask-block %zu,%zu", p->mask_rows,
                 p->mask_cols);
    return text;
}
