/*
 * What a student's program is tried on: sizes and kinds of input, the same for everybody, with numbers from a
 * seed that nobody knows beforehand.
 */
#include "common/classroom/grader/grade.h"

#include <string.h>

#define SOFTMAX(title, again, r, c, ...)                                  \
    {                                                                     \
        .name = title, .reread = again, .rows = r, .cols = c, __VA_ARGS__ \
    }

static const char of_sum[] =
    "chapter 01, The code: no weight can be written before the whole sum is known";
static const char of_shift[] = "chapter 02, The idea: subtract the row's maximum from every score";
static const char of_infinity[] = "chapter 02, Where it breaks and chapter 03, The idea: -inf has "
                                  "weight 0; a row of nothing else is NaN";
static const char of_online[] =
    "chapter 03, The idea: when the maximum moves, l is multiplied by e^(m_old - m_new)";
static const char of_rows[] =
    "chapter 01, The code: a row is on its own, nothing is left over from the one before";

/* The first two are run with the sanitizers. */
static const struct test_case softmax_cases[] = {
    SOFTMAX("3 rows of 7", of_sum, 3, 7, .special = ORDINARY),
    SOFTMAX("20 rows of 64", of_rows, 20, 64, .special = ORDINARY),
    SOFTMAX("rows of one score", of_sum, 5, 1, .special = ORDINARY),
    SOFTMAX("a row of 20 011", of_sum, 1, 20011, .special = ORDINARY),
    SOFTMAX("written over the input", of_rows, 4, 130, .in_place = true),
    SOFTMAX("weights that are 0", of_sum, 6, 50, .special = TINY_WEIGHTS),
    SOFTMAX("some scores of -inf", of_infinity, 9, 33, .special = WITH_MINUS_INF),
};

static const struct test_case safe_cases[] = {
    SOFTMAX("scores about 1000", of_shift, 6, 40, .shift = 1000.0f, .core = true),
    SOFTMAX("scores about -1000", of_shift, 6, 40, .shift = -1000.0f, .core = true),
    SOFTMAX("scores about -1e30", of_shift, 3, 30, .shift = -1e30f, .core = true),
    SOFTMAX("scores far apart", of_online, 8, 100, .spread = 40.0f, .core = true),
    SOFTMAX("a row of -inf", of_infinity, 4, 20, .special = ONLY_MINUS_INF),
    SOFTMAX("a row with NaN", of_infinity, 4, 20, .special = WITH_NAN),
    SOFTMAX("a row with +inf", of_infinity, 4, 20, .special = WITH_PLUS_INF),
};

static const char of_merge[] = "chapter 03, Merge: both sums have to be about the same maximum";
static const char of_empty[] = "chapter 03, Merge: an empty block changes nothing and has no share";
static const struct test_case state_cases[] = {
    { .name = "ordinary blocks", .reread = of_merge, .rows = 200 },
    { .name = "maxima far apart", .reread = of_merge, .rows = 200, .spread = 60.0f },
    { .name = "empty blocks",
      .reread = of_empty,
      .rows = 40,
      .special = ONLY_MINUS_INF,
      .spread = 3.0f },
};

#define ATTENTION(title, again, b, h, hkv, nq, nk, columns, br, bc, ...) \
    {                                                                    \
        .name = title, .reread = again, .Br = br, .Bc = bc, .p = {       \
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

static const char of_recurrence[] =
    "chapter 04, The idea: what share of the total weight the old keys keep, and the new one gets";
static const char of_tiles[] =
    "chapter 05, The idea: tiles: the last tile of each direction may be smaller";
static const char of_scale[] = "chapter 04, The problem: scores are scaled before their softmax";
static const char of_masks[] = "chapter 04, Heads, texts, masks: what a query does not see has "
                               "weight exactly 0, and is not read";
static const struct test_case attention_cases[] = {
    ATTENTION("one head, 24 queries and keys", of_recurrence, 1, 1, 1, 24, 24, 8, 8, 8,
              .causal = false),
    ATTENTION("tiles that do not divide the problem", of_tiles, 1, 2, 2, 37, 53, 16, 8, 12,
              .causal = false),
    ATTENTION("one query, many keys", of_tiles, 1, 1, 1, 1, 203, 32, 16, 16, .causal = false),
    ATTENTION("many queries, one key", of_tiles, 1, 1, 1, 113, 1, 5, 16, 16, .causal = false),
    ATTENTION("tiles of one query and of one key", of_tiles, 1, 1, 1, 21, 30, 3, 1, 1,
              .causal = false),
    ATTENTION("a tile larger than the problem", of_tiles, 2, 2, 2, 19, 23, 8, 64, 64,
              .causal = false),
    ATTENTION("another scale", of_scale, 1, 1, 1, 40, 40, 16, 16, 8, .scale = 1.5f),
    ATTENTION("a scale below 0", of_scale, 1, 1, 1, 40, 40, 16, 16, 8, .scale = -0.5f),
    ATTENTION("2 texts, 3 heads, 129 queries", of_recurrence, 2, 3, 3, 129, 65, 64, 32, 16,
              .causal = false),
};
static const struct test_case mask_cases[] = {
    ATTENTION("causal", of_masks, 1, 2, 2, 65, 65, 16, 16, 8, .causal = true),
    ATTENTION("causal, queries that see no key", of_masks, 1, 1, 1, 50, 31, 8, 8, 8,
              .causal = true),
    ATTENTION("causal from the first key on", of_masks, 1, 1, 1, 31, 50, 8, 8, 8, .causal = true,
              .top_left = true),
    { .name = "a window",
      .reread = of_masks,
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
      .reread = of_masks,
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
    ATTENTION("grouped heads", of_masks, 2, 4, 2, 33, 45, 16, 8, 8, .causal = false),
};
static const char of_minus_inf[] =
    "chapter 03, The idea: a score of -inf has weight 0, also when it is the first";
static const struct test_case infinity_cases[] = {
    { .name = "scores of -inf, the first among them",
      .reread = of_minus_inf,
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
    ATTENTION("a block mask", of_masks, 1, 2, 2, 60, 48, 8, 8, 8, .mask_rows = 12, .mask_cols = 5),
};
static const char of_dropout[] =
    "chapter 07, The steps: P before dropout goes into dS, P after it into dV";
static const struct test_case dropout_cases[] = {
    ATTENTION("dropout", of_dropout, 1, 2, 2, 40, 50, 16, 8, 8, .dropout = 0.25),
};

static const struct test_case pair_cases[] = {
    ATTENTION("one query, one key", of_dropout, 1, 2, 2, 1, 1, 9, 1, 1, .causal = false),
};

static const char of_fusing[] =
    "chapter 04, The idea: fuse: what share of the weight the old keys keep, and the new one gets";
static const char of_gradients[] = "chapter 07, The derivation: which of the five products is it?";

/* Those that chapter 06's kernels know, which have tiles of their own: d, and causal order as the only mask. */
static const char of_row[] =
    "chapter 06, Kernel 2: a row of a tile, and what the old O is multiplied by";
static const char of_warp[] = "chapter 06, registers.md, Who has what: which lanes share a row";
static const char of_ends[] =
    "chapter 06, Kernel 2: the last tile of each direction may be smaller";
static const char of_causal[] =
    "chapter 06, Kernel 2: a score that nobody sees is -inf, also if it is the first of its row";
#define KERNEL(title, again, ...) ATTENTION(title, again, __VA_ARGS__)
static const struct test_case kernel_cases[] = {
    KERNEL("one head, 24 queries and keys", of_row, 1, 1, 1, 24, 24, 16, 0, 0, .causal = false),
    KERNEL("tiles that do not divide the problem", of_ends, 1, 2, 2, 37, 183, 32, 0, 0,
           .causal = false),
    KERNEL("one query, many keys", of_ends, 1, 1, 1, 1, 203, 32, 0, 0, .causal = false),
    KERNEL("many queries, one key", of_ends, 1, 1, 1, 113, 1, 16, 0, 0, .causal = false),
    KERNEL("more than a tile of queries and of keys", of_row, 1, 1, 1, 140, 150, 64, 0, 0,
           .causal = false),
    KERNEL("d = 128, 2 texts, 2 heads", of_row, 2, 2, 2, 40, 70, 128, 0, 0, .causal = false),
    KERNEL("another scale", of_scale, 1, 1, 1, 40, 100, 64, 0, 0, .scale = 0.5f),
    KERNEL("a scale below 0", of_scale, 1, 1, 1, 40, 100, 64, 0, 0, .scale = -0.2f),
    KERNEL("causal", of_causal, 1, 2, 2, 150, 150, 16, 0, 0, .causal = true),
    KERNEL("causal, queries that see no key", of_causal, 1, 1, 1, 50, 31, 16, 0, 0, .causal = true),
    KERNEL("causal from the first key on", of_causal, 1, 1, 1, 31, 150, 32, 0, 0, .causal = true,
           .top_left = true),
    KERNEL("grouped heads", of_masks, 1, 4, 2, 33, 145, 16, 0, 0, .causal = false),
    { .name = "rows whose maxima are far apart",
      .reread = of_row,
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

static const char of_fragments[] =
    "chapter 06, tensor_cores.md, Kernel 4: which lane has which element, and whose rows it names";
static const char of_swizzle[] = "chapter 06, tensor_cores.md, Kernel 5: where a piece lies, and "
                                 "that each has a place of its own";
#define TENSOR(title, type, ...) ATTENTION(title, of_fragments, __VA_ARGS__, .dtype = DTYPE_##type)
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
    const bool has_masks = strcmp(program->name, "flash_row") == 0 ||
                           strcmp(program->name, "masks") == 0 || program->kind == OF_BACKWARD;
    size_t n = 0, first;
    switch (program->kind) {
    case OF_ROWS:
        n = ADD(cases, n, softmax_cases);
        return strcmp(a->number, "01") == 0 ? n : ADD(cases, n, safe_cases);
    case OF_MERGE:
    case OF_SHARE:
        return ADD(cases, n, state_cases);
    case OF_KERNEL:
        n = ADD(cases, n, kernel_cases);
        for (size_t k = 0; k < n; k++)
            if (strcmp(program->name, "fa2") == 0 && cases[k].reread == of_row)
                cases[k].reread = of_warp;
        return n;
    case OF_TENSOR:
        n = ADD(cases, n, tensor_cases);
        for (size_t k = 0; k < n; k++)
            if (strcmp(program->name, "swizzle") == 0)
                cases[k].reread = of_swizzle;
        return n;
    case OF_FORWARD:
    case OF_PRODUCT:
    case OF_BACKWARD:
        n = ADD(cases, n, attention_cases);
        if (program->kind == OF_BACKWARD)
            n = ADD(cases, n, pair_cases);
        for (size_t k = 0; k < n; k++)
            if (program->kind == OF_BACKWARD)
                cases[k].reread = of_gradients;
            else if (strcmp(a->number, "04") == 0 && cases[k].reread != of_scale)
                cases[k].reread = of_fusing;
        first = n;
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
                               SOFTMAX("5 rows of 9, counted", of_sum, 5, 9, .special = ORDINARY),
                           tiles = ATTENTION("13 queries, 17 keys, counted", of_tiles, 1, 2, 2, 13,
                                             17, 3, 4, 5, .causal = causal);
    return program->kind == OF_TENSOR ? tensor_cases[1] : program->kind == OF_ROWS ? rows : tiles;
}
