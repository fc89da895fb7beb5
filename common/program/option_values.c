/*
 * The values that options take, read strictly: a number has nothing before or after it, and is in
 * its range.
 */
#include "common/program/option_table.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(bool right, const char *option, const char *expected, const char *text)
{
    if (!right)
        options_fail(option, "expected %s, found '%s'", expected, text);
}

static double number(const char *option, const char *expected, const char *text)
{
    char *end;
    const double value = strtod(text, &end);
    expect(*text && !isspace((unsigned char)*text) && !*end, option, expected, text);
    return value;
}

/* A finite number, rounded to float32, but not to 0. */
static float finite_number(const char *option, const char *text)
{
    static const char finite[] = "a finite number that float32 has";
    const double value = number(option, finite, text);
    expect(isfinite((float)value) && ((float)value != 0.0f || value == 0.0), option, finite, text);
    return (float)value;
}

/* A number from 0 to `most`. */
static double fraction(const char *option, const char *expected, const char *text, double most)
{
    const double value = number(option, expected, text);
    expect(value >= 0.0 && value <= most, option, expected, text);
    return value;
}

/* Two values with a separator between them, neither longer than a number needs. */
struct pair {
    char left[24], right[24];
};

static struct pair pair_of(const char *option, const char *expected, const char *text,
                           char separator)
{
    struct pair pair;
    const char *const gap = strchr(text, separator);
    expect(gap && gap - text < (ptrdiff_t)sizeof pair.left && strlen(gap) <= sizeof pair.right,
           option, expected, text);
    snprintf(pair.left, sizeof pair.left, "%.*s", (int)(gap - text), text);
    snprintf(pair.right, sizeof pair.right, "%s", gap + 1);
    return pair;
}

struct block_mask_source block_mask_source(const char *text)
{
    static const char option[] = "--block-mask", band[] = "band:", random[] = "random:";
    struct block_mask_source source = { .kind = BLOCK_MASK_FILE };
    if (strncmp(text, band, sizeof band - 1) == 0) {
        source.kind = BLOCK_MASK_BAND;
        source.width = (size_t)option_whole_number(option, text + sizeof band - 1, 0, OPTION_MOST);
    } else if (strncmp(text, random, sizeof random - 1) == 0) {
        const struct pair pair =
            pair_of(option, "DENSITY:SEED after random:", text + sizeof random - 1, ':');
        source.kind = BLOCK_MASK_RANDOM;
        source.density = fraction(option, "a density from 0 to 1", pair.left, 1.0);
        source.seed = option_whole_number(option, pair.right, 0, UINT64_MAX);
    } else {
        expect(*text && strncmp(text, "--", 2) != 0, option,
               "a file's name, band:W or random:DENSITY:SEED", text);
    }
    return source;
}

/* A number of keys; -1 for all. */
static ptrdiff_t width_of(const char *option, const char *text)
{
    return strcmp(text, "-1") == 0 ? -1
                                   : (ptrdiff_t)option_whole_number(option, text, 0, OPTION_MOST);
}

/* In place of the same option's file, if it was given before. */
static void add_output(const char *before, const char *path)
{
    size_t k = 0;
    while (options_outputs[k] && options_outputs[k] != before)
        k++;
    options_outputs[k] = path;
}

void option_take_other(struct options *options, const struct option_row *row, const char *option,
                       const char *text)
{
    void *field = (char *)options + row->field;
    struct pair pair;
    switch (row->kind) {
    case OUTPUT:
        add_output(*(const char **)field, text);
        // fall through
    case INPUT:
        expect(*text && strncmp(text, "--", 2) != 0, option, "a file's name", text);
        *(const char **)field = text;
        break;
    case BLOCK_MASK:
        (void)block_mask_source(text);
        options->block_mask = text;
        break;
    case CAUSAL:
        options->top_left = text && strcmp(text, "top-left") == 0;
        expect(!text || options->top_left || strcmp(text, "bottom-right") == 0, option,
               "bottom-right or top-left", text);
        options->causal = true;
        break;
    case VERIFY:
        expect(!text || strcmp(text, "all") == 0, option, "all", text);
        options->verify_all = true;
        break;
    case TRACE:
        expect(!text || strcmp(text, "csv") == 0, option, "csv", text);
        options->trace = true;
        options->trace_csv = text != NULL;
        break;
    case DEVICE:
        expect(strcmp(text, "cpu") == 0 || strcmp(text, "gpu") == 0 || strcmp(text, "auto") == 0,
               option, "cpu, gpu or auto", text);
        options->device = text;
        break;
    case DTYPE:
        options->dtype = dtype_named(text);
        expect(options->dtype != DTYPES, option, "f32, bf16 or f16", text);
        break;
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
        expect(options->softcap > 0.0f, option, "a number above 0", text);
        break;
    case DROPOUT:
        options->dropout =
            fraction(option, "a number from 0 to less than 1", text, nextafter(1, 0));
        options->dropout_given = true;
        break;
    case WINDOW:
        pair = pair_of(option, "LEFT,RIGHT, two numbers of keys or -1", text, ',');
        options->window_left = width_of(option, pair.left);
        options->window_right = width_of(option, pair.right);
        break;
    case MASK_BLOCK:
        pair = pair_of(option, "R,C, the queries and keys of a block", text, ',');
        options->mask_rows = (size_t)option_whole_number(option, pair.left, 1, OPTION_MOST);
        options->mask_cols = (size_t)option_whole_number(option, pair.right, 1, OPTION_MOST);
        break;
    default:
        break;
    }
}
