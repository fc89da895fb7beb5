#include "common/program/option_values.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A finite number, rounded to float32, but not to 0. */
static float finite_number(const char *option, const char *text)
{
    char *end;
    errno = 0;
    const float value = strtof(text, &end);
    if (!*text || isspace((unsigned char)*text) || *end || !isfinite(value) ||
        (errno == ERANGE && value == 0.0f))  // a subnormal number gives ERANGE too
        options_fail(option, "expected a finite number that float32 has, found '%s'", text);
    return value;
}

double option_fraction(const char *option, const char *text, bool below_one)
{
    char *end;
    errno = 0;
    const double value = strtod(text, &end);
    const bool inside = value >= 0.0 && (below_one ? value < 1.0 : value <= 1.0);
    if (!*text || isspace((unsigned char)*text) || *end || !inside || errno == ERANGE)
        options_fail(option, "expected a number of float64 from 0 to %s1, found '%s'",
                     below_one ? "less than " : "", text);
    return value;
}

bool option_pair(const char *text, char separator, struct option_pair *pair)
{
    const char *const gap = strchr(text, separator);
    const size_t left = gap ? (size_t)(gap - text) : 0;
    if (!gap || left >= sizeof pair->left || strlen(gap + 1) >= sizeof pair->right)
        return false;
    snprintf(pair->left, sizeof pair->left, "%.*s", (int)left, text);
    snprintf(pair->right, sizeof pair->right, "%s", gap + 1);
    return true;
}

struct block_mask_source block_mask_source(const char *option, const char *text)
{
    static const char band[] = "band:", random[] = "random:";
    struct block_mask_source source = { .kind = BLOCK_MASK_FILE };
    if (strncmp(text, band, sizeof band - 1) == 0) {
        source.kind = BLOCK_MASK_BAND;
        source.width = (size_t)option_whole_number(option, text + sizeof band - 1, 0, OPTION_MOST);
    } else if (strncmp(text, random, sizeof random - 1) == 0) {
        struct option_pair pair;
        source.kind = BLOCK_MASK_RANDOM;
        if (!option_pair(text + sizeof random - 1, ':', &pair))
            options_fail(option, "expected random:DENSITY:SEED, found '%s'", text);
        source.density = option_fraction(option, pair.left, false);
        source.seed = option_whole_number(option, pair.right, 0, UINT64_MAX);
    } else if (!*text || strncmp(text, "--", 2) == 0) {
        options_fail(option, "expected a file's name, band:W or random:DENSITY:SEED, found '%s'",
                     text);
    }
    return source;
}

static bool is_width(const char *text)
{
    return strcmp(text, "-1") == 0 || isdigit((unsigned char)*text);
}

static ptrdiff_t width_of(const char *option, const char *text)
{
    return *text == '-' ? -1 : (ptrdiff_t)option_whole_number(option, text, 0, OPTION_MOST);
}

/* "LEFT,RIGHT", each a number of keys or -1. */
static void take_window(struct options *options, const char *option, const char *text)
{
    struct option_pair pair;
    if (!option_pair(text, ',', &pair) || !is_width(pair.left) || !is_width(pair.right))
        options_fail(option, "expected LEFT,RIGHT, two numbers of keys or -1, found '%s'", text);
    options->window_left = width_of(option, pair.left);
    options->window_right = width_of(option, pair.right);
}

/* "R,C", the queries and keys of a block. */
static void take_mask_block(struct options *options, const char *option, const char *text)
{
    struct option_pair pair;
    if (!option_pair(text, ',', &pair))
        options_fail(option, "expected R,C, the queries and keys of a block, found '%s'", text);
    options->mask_rows = (size_t)option_whole_number(option, pair.left, 1, OPTION_MOST);
    options->mask_cols = (size_t)option_whole_number(option, pair.right, 1, OPTION_MOST);
}

/* The options with numbers as values; option_take handles the others. */
static void take_number(struct options *options, const struct option_row *row, const char *option,
                        const char *text)
{
    void *field = (char *)options + row->field;
    switch (row->kind) {
    case SEED:
        *(uint64_t *)field = option_whole_number(option, text, 0, UINT64_MAX);
        *(field == &options->seed ? &options->seed_given : &options->dropout_seed_given) = true;
        break;
    case SCALE:
        options->scale = finite_number(option, text);
        options->scale_given = true;
        break;
    case SOFTCAP:
        options->softcap = finite_number(option, text);
        if (options->softcap <= 0.0f)
            options_fail(option, "expected a number above 0, found '%s'", text);
        break;
    case DROPOUT:
        options->dropout = option_fraction(option, text, true);
        options->dropout_given = true;
        break;
    case WINDOW:
        take_window(options, option, text);
        break;
    case MASK_BLOCK:
        take_mask_block(options, option, text);
        break;
    default:
        break;
    }
}

void option_take_other(struct options *options, const struct option_row *row, const char *option,
                       const char *text)
{
    void *field = (char *)options + row->field;
    switch (row->kind) {
    case INPUT:
    case OUTPUT:
        if (!*text || strncmp(text, "--", 2) == 0)
            options_fail(option, "expected a file's name, found '%s'", text);
        *(const char **)field = text;
        break;
    case BLOCK_MASK:
        (void)block_mask_source(option, text);
        options->block_mask = text;
        break;
    case CAUSAL:
        if (text && strcmp(text, "bottom-right") != 0 && strcmp(text, "top-left") != 0)
            options_fail(option, "expected bottom-right or top-left, found '%s'", text);
        options->causal = true;
        options->top_left = text && strcmp(text, "top-left") == 0;
        break;
    case VERIFY:
        if (text && strcmp(text, "all") != 0)
            options_fail(option, "expected all, found '%s'", text);
        options->verify_all = true;
        break;
    case TRACE:
        if (text && strcmp(text, "csv") != 0)
            options_fail(option, "expected csv, found '%s'", text);
        options->trace = true;
        options->trace_csv = text != NULL;
        break;
    case DEVICE:
        if (strcmp(text, "cpu") != 0 && strcmp(text, "gpu") != 0 && strcmp(text, "auto") != 0)
            options_fail(option, "expected cpu, gpu or auto, found '%s'", text);
        options->device = text;
        break;
    case DTYPE:
        options->dtype = dtype_named(text);
        if (options->dtype == DTYPES)
            options_fail(option, "expected f32, bf16 or f16, found '%s'", text);
        break;
    default:
        take_number(options, row, option, text);
    }
}
