/*
 * What a student's program is tried on: sizes and kinds of input, the same for everybody, with numbers from a
 * seed that is not known before.
 */
#include "common/classroom/grader/grade.h"

#include <string.h>

#define SOFTMAX(title, again, r, c, ...)                                 \
    {                                                                    \
        .name = title, .topic = again, .rows = r, .cols = c, __VA_ARGS__ \
    }

/* The first two are run with the sanitizers. */
static const struct test_case softmax_cases[] = {
    SOFTMAX("3 rows of 7", ON_SUM, 3, 7, .special = ORDINARY),
    SOFTMAX("20 rows of 64", ON_ROWS, 20, 64, .special = ORDINARY),
    SOFTMAX("rows of one score", ON_SUM, 5, 1, .special = ORDINARY),
    SOFTMAX("a row of 20 011", ON_SUM, 1, 20011, .special = ORDINARY),
    SOFTMAX("written over the input", ON_ROWS, 4, 130, .in_place = true),
    SOFTMAX("weights that are 0", ON_SUM, 6, 50, .special = TINY_WEIGHTS),
    SOFTMAX("some scores of -inf", ON_INFINITY, 9, 33, .special = WITH_MINUS_INF),
};

static const struct test_case safe_cases[] = {
    SOFTMAX("scores about 1000", ON_SHIFT, 6, 40, .shift = 1000.0f, .core = true),
    SOFTMAX("scores about -1000", ON_SHIFT, 6, 40, .shift = -1000.0f, .core = true),
    SOFTMAX("scores about -1e30", ON_SHIFT, 3, 30, .shift = -1e30f, .core = true),
    SOFTMAX("scores far apart", ON_ONLINE, 8, 100, .spread = 40.0f, .core = true),
    SOFTMAX("a row of -inf", ON_INFINITY, 4, 20, .special = ONLY_MINUS_INF),
    SOFTMAX("a row with NaN", ON_INFINITY, 4, 20, .special = WITH_NAN),
    SOFTMAX("a row with +inf", ON_INFINITY, 4, 20, .special = WITH_PLUS_INF),
};

static const struct test_case state_cases[] = {
    { .name = "ordinary blocks", .topic = ON_MERGE, .rows = 200 },
    { .name = "maxima far apart", .topic = ON_MERGE, .rows = 200, .spread = 60.0f },
    { .name = "empty blocks",
      .topic = ON_EMPTY,
      .rows = 40,
      .special = ONLY_MINUS_INF,
      .spread = 3.0f },
};

#define ATTENTION(title, again, b, h, hkv, nq, nk, columns, br, bc, ...) \
    {                                                                    \
        .name = title, .topic = again, .Br = br, .Bc = bc, .p = {        \
            .B = b,                                                      \
            .H = h,                                                      \
            .Hkv = hkv,                                                  \
            .Nq = nq,                                                    \
            .Nk = nk,                                                    \
            .d = columns,                                                \
            .window_left = -1,                                           \
            .window_right = -1,                                          \
            __VA_ARGS__                                                  \
        }                                                                \
    }

static const struct test_case attention_cases[] = {
    ATTENTION("one head, 24 queries and keys", ON_RECURRENCE, 1, 1, 1, 24, 24, 8, 8, 8,
              .causal = false),
    ATTENTION("tiles that do not divide the problem", ON_TILES, 1, 2, 2, 37, 53, 16, 8, 12,
              .causal = false),
    ATTENTION("one query, many keys", ON_TILES, 1, 1, 1, 1, 203, 32, 16, 16, .causal = false),
    ATTENTION("many queries, one key", ON_TILES, 1, 1, 1, 113, 1, 5, 16, 16, .causal = false),
    ATTENTION("tiles of one query and of one key", ON_TILES, 1, 1, 1, 21, 30, 3, 1, 1,
              .causal = false),
    ATTENTION("a tile larger than the problem", ON_TILES, 2, 2, 2, 19, 23, 8, 64, 64,
              .causal = false),
    ATTENTION("another scale", ON_SCALE, 1, 1, 1, 40, 40, 16, 16, 8, .scale = 1.5f),
    ATTENTION("a scale below 0", ON_SCALE, 1, 1, 1, 40, 40, 16, 16, 8, .scale = -0.5f),
    ATTENTION("2 texts, 3 heads, 129 queries", ON_RECURRENCE, 2, 3, 3, 129, 65, 64, 32, 16,
              .causal = false),
};
static const struct test_case mask_cases[] = {
    ATTENTION("causal", ON_MASKS, 1, 2, 2, 65, 65, 16, 16, 8, .causal = true),
    ATTENTION("causal, queries that see no key", ON_MASKS, 1, 1, 1, 50, 31, 8, 8, 8,
              .causal = true),
    ATTENTION("causal from the first key on", ON_MASKS, 1, 1, 1, 31, 50, 8, 8, 8, .causal = true,
              .top_left = true),
    { .name = "a window",
      .topic = ON_MASKS,
      .Br = 8,
      .Bc = 8,
      .p = { .B = 1,
             .H = 1,
             .Hkv = 1,
             .Nq = 70,
             .Nk = 90,
             .d = 16,
             .window_left = 9,
             .window_right = 4 } },
    { .name = "hidden keys that hold NaN",
      .topic = ON_MASKS,
      .Br = 8,
      .Bc = 8,
      .key_mask = true,
      .hidden_nan = true,
      .p = { .B = 2,
             .H = 2,
             .Hkv = 2,
             .Nq = 30,
             .Nk = 64,
             .d = 16,
             .window_left = -1,
             .window_right = -1 } },
};
static const struct test_case group_cases[] = {
    ATTENTION("grouped heads", ON_GROUPS, 2, 4, 2, 33, 45, 16, 8, 8, .causal = false),
};
static const struct test_case infinity_cases[] = {
    { .name = "scores of -inf, the first among them",
      .topic = ON_INFINITY,
      .Br = 4,
      .Bc = 4,
      .special = WITH_MINUS_INF,
      .p = { .B = 1,
             .H = 1,
             .Hkv = 1,
             .Nq = 9,
             .Nk = 12,
             .d = 1,
             .window_left = -1,
             .window_right = -1 } },
};
static const struct test_case block_cases[] = {
    ATTENTION("a block mask", ON_OTHER_MASKS, 1, 2, 2, 60, 48, 8, 8, 8, .mask_rows = 12,
              .mask_cols = 5),
};
static const struct test_case dropout_cases[] = {
    ATTENTION("dropout", ON_DROPOUT, 1, 2, 2, 40, 50, 16, 8, 8, .dropout = 0.25),
};

/* Those of a changed score: with each option it is a score that is masked, dropped and shared as any other. */
#define CAPPED(title, C, ...) ATTENTION(title, ON_SCORE, __VA_ARGS__, .softcap = C)
static const struct test_case score_cases[] = {
    CAPPED("a cap of 2", 2.0f, 1, 2, 2, 37, 53, 16, 8, 12, .causal = false),
    CAPPED("a cap of 0.3", 0.3f, 1, 1, 1, 24, 24, 8, 8, 8, .causal = false),
    CAPPED("a cap, and another scale", 3.0f, 1, 1, 1, 40, 40, 16, 16, 8, .scale = 1.5f),
    CAPPED("a cap, causal", 1.5f, 1, 2, 2, 65, 65, 16, 16, 8, .causal = true),
    CAPPED("a cap, queries that see no key", 1.5f, 1, 1, 1, 50, 31, 8, 8, 8, .causal = true),
    CAPPED("a cap, hidden keys that hold NaN", 1.0f, 2, 2, 2, 30, 64, 16, 8, 8),
    CAPPED("a cap, grouped heads", 1.0f, 2, 4, 2, 33, 45, 16, 8, 8, .causal = false),
    CAPPED("a cap and dropout", 1.0f, 1, 2, 2, 40, 50, 16, 8, 8, .dropout = 0.25),
};
// Of them the one with a key mask, and how many chapter 07's step can do.
enum { HIDDEN_SCORES = 5, BACKWARD_SCORES = 6 };

#define SINK(title, ...) ATTENTION(title, ON_SINK, __VA_ARGS__)
static const struct test_case sink_cases[] = {
    SINK("one head, 24 queries and keys", 1, 1, 1, 24, 24, 8, 8, 8, .causal = false),
    SINK("one query, one key", 2, 3, 3, 1, 1, 5, 4, 4, .causal = false),
    SINK("grouped heads, two texts", 2, 4, 2, 37, 53, 16, 8, 12, .causal = false),
    SINK("causal", 1, 2, 2, 65, 65, 16, 16, 8, .causal = true),
    SINK("causal, queries that see no key", 1, 2, 2, 50, 31, 8, 8, 8, .causal = true),
    SINK("another scale", 1, 2, 2, 40, 40, 16, 16, 8, .scale = 0.5f),
};
static const struct test_case dsink_cases[] = {
    { .name = "one query", .topic = ON_SINK, .rows = 3, .cols = 1 },
    { .name = "7 queries", .topic = ON_SINK, .rows = 5, .cols = 7 },
    { .name = "200 queries", .topic = ON_SINK, .rows = 2, .cols = 200 },
    { .name = "sinks far above the scores", .topic = ON_SINK, .rows = 4, .cols = 33, .shift = 20 },
    { .name = "sinks far below the scores", .topic = ON_SINK, .rows = 4, .cols = 33, .shift = -9 },
    { .name = "large sinks", .topic = ON_SINK, .rows = 4, .cols = 20, .spread = 30.0f },
};

static const struct test_case pair_cases[] = {
    ATTENTION("one query, one key", ON_GRADIENTS, 1, 2, 2, 1, 1, 9, 1, 1, .causal = false),
};

/* Those that chapter 06's kernels know, which have tiles of their own: d, and causal order as the only mask. */
#define KERNEL(title, again, ...) ATTENTION(title, again, __VA_ARGS__)
static const struct test_case kernel_cases[] = {
    KERNEL("one head, 24 queries and keys", ON_RECURRENCE, 1, 1, 1, 24, 24, 16, 0, 0,
           .causal = false),
    KERNEL("tiles that do not divide the problem", ON_TILES, 1, 2, 2, 37, 183, 32, 0, 0,
           .causal = false),
    KERNEL("one query, many keys", ON_TILES, 1, 1, 1, 1, 203, 32, 0, 0, .causal = false),
    KERNEL("many queries, one key", ON_TILES, 1, 1, 1, 113, 1, 16, 0, 0, .causal = false),
    KERNEL("more than a tile of queries and of keys", ON_RECURRENCE, 1, 1, 1, 140, 150, 64, 0, 0,
           .causal = false),
    KERNEL("d = 128, 2 texts, 2 heads", ON_RECURRENCE, 2, 2, 2, 40, 70, 128, 0, 0, .causal = false),
    KERNEL("another scale", ON_SCALE, 1, 1, 1, 40, 100, 64, 0, 0, .scale = 0.5f),
    KERNEL("a scale below 0", ON_SCALE, 1, 1, 1, 40, 100, 64, 0, 0, .scale = -0.2f),
    KERNEL("causal", ON_MASKS, 1, 2, 2, 150, 150, 16, 0, 0, .causal = true),
    KERNEL("causal, queries that see no key", ON_MASKS, 1, 1, 1, 50, 31, 16, 0, 0, .causal = true),
    KERNEL("causal from the first key on", ON_MASKS, 1, 1, 1, 31, 150, 32, 0, 0, .causal = true,
           .top_left = true),
    KERNEL("grouped heads", ON_GROUPS, 1, 4, 2, 33, 145, 16, 0, 0, .causal = false),
    { .name = "rows whose maxima are far apart",
      .topic = ON_RECURRENCE,
      .spread = 60.0f,
      .p = { .B = 1,
             .H = 1,
             .Hkv = 1,
             .Nq = 33,
             .Nk = 70,
             .d = 16,
             .window_left = -1,
             .window_right = -1 } },
};

#define TENSOR(title, type, ...) ATTENTION(title, ON_FRAGMENTS, __VA_ARGS__, .dtype = DTYPE_##type)
static const struct test_case tensor_cases[] = {
    TENSOR("one head, 24 queries and keys", BF16, 1, 1, 1, 24, 24, 64, 0, 0, .causal = false),
    TENSOR("tiles that do not divide the problem, d = 128", BF16, 1, 2, 2, 37, 83, 128, 0, 0,
           .causal = false),
    TENSOR("float16", F16, 1, 1, 1, 40, 70, 64, 0, 0, .causal = false),
    TENSOR("one query, many keys", BF16, 1, 1, 1, 1, 203, 64, 0, 0, .causal = false),
    TENSOR("many queries, one key", F16, 1, 1, 1, 113, 1, 64, 0, 0, .causal = false),
    TENSOR("more than a tile of queries and of keys", BF16, 1, 1, 1, 150, 140, 64, 0, 0,
           .causal = false),
    TENSOR("another scale", BF16, 1, 1, 1, 40, 40, 64, 0, 0, .scale = 0.5f),
    TENSOR("causal", BF16, 1, 2, 2, 65, 65, 64, 0, 0, .causal = true),
    TENSOR("causal, queries that see no key", F16, 1, 1, 1, 50, 31, 128, 0, 0, .causal = true),
    TENSOR("causal from the first key on", BF16, 1, 1, 1, 31, 150, 64, 0, 0, .causal = true,
           .top_left = true),
    TENSOR("grouped heads", BF16, 2, 4, 2, 33, 45, 64, 0, 0, .causal = false),
};

/* From case `first` on they are what the program's part is about. */
static void make_core(struct test_case *cases, size_t first, size_t n)
{
    for (size_t k = first; k < n; k++)
        cases[k].core = true;
}

static size_t add(struct test_case *to, size_t n, const struct test_case *from, size_t count)
{
    for (size_t k = 0; k < count && n < MOST_CASES; k++)
        to[n++] = from[k];
    return n;
}
#define ADD(to, n, from) add(to, n, from, sizeof(from) / sizeof((from)[0]))

size_t cases_of(const struct assignment *a, const struct graded_program *program,
                struct test_case cases[MOST_CASES])
{
    const bool has_score = strcmp(program->name, "softcap") == 0;
    const bool has_masks =
        !has_score && (strcmp(program->name, "flash_row") == 0 ||
                       strcmp(program->name, "masks") == 0 || program->kind == OF_BACKWARD);
    size_t n = 0, first;
    switch (program->kind) {
    case OF_ROWS:
        n = ADD(cases, n, softmax_cases);
        return strcmp(a->number, "01") == 0 ? n : ADD(cases, n, safe_cases);
    case OF_MERGE:
    case OF_SHARE:
        return ADD(cases, n, state_cases);
    case OF_SINK:
        return ADD(cases, n, sink_cases);
    case OF_DSINK:
        return ADD(cases, n, dsink_cases);
    case OF_KERNEL:
        n = ADD(cases, n, kernel_cases);
        for (size_t k = 0; k < n; k++)
            if (strcmp(program->name, "fa2") == 0 && cases[k].topic == ON_RECURRENCE)
                cases[k].topic = ON_WARP;
        return n;
    case OF_TENSOR:
        n = ADD(cases, n, tensor_cases);
        for (size_t k = 0; k < n; k++)
            if (strcmp(program->name, "swizzle") == 0)
                cases[k].topic = ON_SWIZZLE;
        return n;
    case OF_FORWARD:
    case OF_PRODUCT:
    case OF_BACKWARD:
        n = ADD(cases, n, attention_cases);
        if (program->kind == OF_BACKWARD)
            n = ADD(cases, n, pair_cases);
        for (size_t k = 0; k < n; k++)
            if (program->kind == OF_BACKWARD)
                cases[k].topic = ON_GRADIENTS;
            else if (program->kind == OF_PRODUCT)
                cases[k].topic = ON_PRODUCTS;
        first = n;
        if (has_score) {
            n = program->kind == OF_BACKWARD ? add(cases, n, score_cases, BACKWARD_SCORES)
                                             : ADD(cases, n, score_cases);
            make_core(cases, first, n);
            cases[first + HIDDEN_SCORES].key_mask = cases[first + HIDDEN_SCORES].hidden_nan = true;
            return n;
        }
        if (has_masks)
            n = ADD(cases, n, mask_cases);
        if (strcmp(program->name, "masks") == 0) {
            n = ADD(cases, n, block_cases);
            make_core(cases, first, n);
        }
        if (program->kind == OF_FORWARD)
            n = ADD(cases, n, infinity_cases);
        if (program->kind == OF_FORWARD && has_masks)
            n = ADD(cases, n, group_cases);
        if (program->kind == OF_BACKWARD && strcmp(program->name, "fa1") == 0)
            n = ADD(cases, n, dropout_cases);
        return n;
    }
    return 0;
}

struct test_case counted_case(const struct graded_program *program, bool causal)
{
    const struct test_case rows =
                               SOFTMAX("5 rows of 9, counted", ON_SUM, 5, 9, .special = ORDINARY),
                           tiles = ATTENTION("13 queries, 17 keys, counted", ON_TILES, 1, 2, 2, 13,
                                             17, 3, 4, 5, .causal = causal);
    return program->kind == OF_TENSOR ? tensor_cases[1] : program->kind == OF_ROWS ? rows : tiles;
}
