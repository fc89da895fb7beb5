#include "common/program/step.h"

#include "common/program/report.h"

#include <stdio.h>
#include <string.h>

// ---- names --------------------------------------------------------------------------------------

/* " 3", or blanks where the step has no number. */
static void number_of(const struct step_table *table, const struct step *step, char text[16])
{
    const size_t k = (size_t)(step - table->steps);
    if (table->first < 0 || k + 1 == table->count)
        snprintf(text, 16, "  ");
    else
        snprintf(text, 16, "%2zu", k + (size_t)table->first);
}

const struct step *step_named(const struct step_table *table, const char *name)
{
    for (const struct step *step = table->steps; step < table->steps + table->count; step++) {
        char number[16];
        number_of(table, step, number);
        if (strcmp(step->name, name) == 0 || strcmp(number + strspn(number, " "), name) == 0)
            return step;
    }
    return NULL;
}

const struct step *step_chosen(const struct step_table *table, const struct options *options,
                               const char *usual, const struct attention *p)
{
    const char *const name = options->step ? options->step : usual;
    const struct step *step = step_named(table, name);
    if (!step)
        options_fail("--step",
                     "expected list, all or one of the steps that list prints, found '%s'", name);
    step_require(step, p, options);
    return step;
}

void step_label(const struct step_table *table, const struct step *step, char text[32])
{
    char number[16];
    number_of(table, step, number);
    snprintf(text, 32, "%s %-*s", number, table->width, step->name);
}

void step_list(const struct step_table *table, bool only_names, enum dtype type)
{
    for (const struct step *step = table->steps; step < table->steps + table->count; step++) {
        char number[16];
        number_of(table, step, number);
        if (!only_names)
            printf("%s  %-*s  %s\n", number, table->width, step->name, step->idea);
        else if (step_takes_type(step, type))
            printf("%s\n", step->name);
    }
}

// ---- what a step supports -----------------------------------------------------------------------

enum { MOST_HEADS = 65535, MOST_N = 1000000 };  // that a kernel's grid and its indices hold

static const struct dims *dims_of(const struct step *step, enum dtype type)
{
    static const struct dims in_C[] = { { .most = ATTENTION_MAX_D }, { .most = 0 } };
    if (!step->is_kernel)
        return &in_C[type != DTYPE_F32];
    return type == DTYPE_F32 ? &step->f32 : &step->f16;
}

bool step_takes_type(const struct step *step, enum dtype type)
{
    if (type == DTYPE_BF16 && step->float16_only)
        return false;
    return dims_of(step, type)->most > 0 || dims_of(step, type)->only[0] > 0;
}

/* NULL, or "d = 40 (d is 64 or 128)". */
static const char *unsupported_d(const struct step *step, const struct attention *p)
{
    static char text[100];
    const struct dims *dims = dims_of(step, p->dtype);
    const size_t *only = dims->only;
    char list[60] = "";
    for (size_t k = 0; only[k]; k++) {
        const size_t used = strlen(list);
        if (only[k] == p->d)
            return NULL;
        snprintf(list + used, sizeof list - used, "%s%zu",
                 k == 0        ? ""
                 : only[k + 1] ? ", "
                               : " or ",
                 only[k]);
    }
    if (p->d <= dims->most)
        return NULL;
    if (dims->most)
        snprintf(list, sizeof list, "at most %zu", dims->most);
    const bool narrow = p->dtype != DTYPE_F32 && step_takes_type(step, DTYPE_F32);
    snprintf(text, sizeof text, "d = %zu (d is %s%s%s)", p->d, list, narrow ? " with --dtype " : "",
             narrow ? dtype_name(p->dtype) : "");
    return text;
}

static const char *unsupported_option(const struct step *step, const struct attention *p)
{
    const char *const score = score_option(p);
    const struct {
        const char *name;
        bool wanted;
        unsigned flag;
    } options[] = {
        { score, score != NULL, SUPPORTS_SCORE },
        { "--dropout", p->dropout_threshold > 0, SUPPORTS_DROPOUT },
        { "--kv-heads", p->Hkv != p->H, SUPPORTS_GROUPED_HEADS },
        { "--causal", p->causal, SUPPORTS_CAUSAL },
        { "--window", p->window_left >= 0 || p->window_right >= 0, SUPPORTS_WINDOW },
        { "--block-mask", p->block_mask != NULL, SUPPORTS_BLOCK_MASK },
        { "--key-mask", p->key_mask != NULL, SUPPORTS_KEY_MASK },
    };
    for (size_t k = 0; k < sizeof options / sizeof options[0]; k++)
        if (options[k].wanted && !(step->supports & options[k].flag))
            return options[k].name;
    return NULL;
}

const char *step_unsupported(const struct step *step, const struct attention *p)
{
    static char text[40];
    if (step->is_kernel && p->B * p->H > MOST_HEADS)
        return "more than 65 535 heads";
    if (step->is_kernel && (p->Nq > MOST_N || p->Nk > MOST_N))
        return "more than 1 000 000 queries or keys";
    if (!step_takes_type(step, p->dtype)) {
        snprintf(text, sizeof text, "--dtype %s", dtype_name(p->dtype));
        return text;
    }
    const char *const d = unsupported_d(step, p);
    return d ? d : unsupported_option(step, p);
}

bool step_comes_before(const struct step *step, const struct attention *p)
{
    return !step_unsupported(step, p) && (score_option(p) || !(step->supports & SUPPORTS_SCORE));
}

/* What a step takes that does not take the type it was given. */
static const char *types_instead(const struct step *step)
{
    if (step_takes_type(step, DTYPE_F32))
        return "; it takes f32";
    return step->float16_only ? "; it takes f16" : "; it takes bf16 and f16";
}

void step_require(const struct step *step, const struct attention *p, const struct options *options)
{
    const char *const unsupported = step_unsupported(step, p);
    if (!unsupported)
        return;
    const bool made_up = !options->key_mask && strcmp(unsupported, "--key-mask") == 0;
    const bool usual_d =
        !options->q && !options->d && strncmp(unsupported, "d = ", strlen("d = ")) == 0;
    options_fail("--step", "expected a %s that supports %s%s, and %s does not%s",
                 step->is_kernel ? "kernel" : "step", unsupported,
                 made_up ? " (the course's input has one)" : "", step->name,
                 !step_takes_type(step, p->dtype) ? types_instead(step)
                 : usual_d ? "; the course's input has this d, and --d draws another input"
                           : "");
}

// ---- tiles --------------------------------------------------------------------------------------

struct tile_size step_size(const struct step *step, const struct options *options, size_t d)
{
    struct tile_size size = step->usual;
    if (options->sram || size.Br == 0)
        size = step->size(options->sram ? options->sram : USUAL_M, d);
    if (options->br)
        size.Br = options->br;
    if (options->bc)
        size.Bc = options->bc;
    return size;
}

const struct kernel_tile *step_tile(const struct step *step, const struct attention *p, size_t Br,
                                    size_t Bc)
{
    const bool has_some = step->tiles && p->dtype != DTYPE_F32;
    for (const struct kernel_tile *tile = step->tiles; has_some && tile->d; tile++)
        if (tile->d == p->d && (!Br || tile->Br == Br) && (!Bc || tile->Bc == Bc))
            return tile;
    return NULL;
}

// ---- what a step did ----------------------------------------------------------------------------

void step_report_count(const struct count *count)
{
    report_counted("Counted", count->accesses.line, count->accesses.n, "pair",
                   count->pairs ? count->pairs : 1, "");
}

void step_write_csv(const char *path, const char *formula, const struct count *count,
                    double seconds, const char *previous, struct attention_errors errors)
{
    report_summary(path, &(struct summary){
                             .accesses = formula,
                             .counted = count->total,
                             .extra_bytes = count->slow_bytes + count->fast_bytes,
                             .milliseconds = 1e3 * seconds,
                             .error = errors.reference,
                             .previous = errors.has_previous ? previous : NULL,
                             .previous_error = errors.previous,
                         });
}
