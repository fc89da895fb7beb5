#include "common/program/step.h"

#include "common/cpu/memory.h"
#include "common/measure/traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct step *step_named(const struct step_table *table, const char *name)
{
    for (const struct step *step = table->steps; step < table->steps + table->count; step++)
        if (strcmp(step->name, name) == 0)
            return step;
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
    const char *const unsupported = step_unsupported(step, p);
    if (unsupported)
        step_refuse(step, p, options, unsupported);
    return step;
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
    const bool is_usual = !step->is_kernel && p->dtype == DTYPE_F32 && p->d <= ATTENTION_MAX_D;
    const char *const size = is_usual ? NULL : step_unsupported_size(step, p);
    return size ? size : unsupported_option(step, p);
}

struct tile_size step_size(const struct step *step, const struct options *options,
                           const struct attention *p)
{
    struct tile_size size = step->usual;
    if (step->is_kernel) {
        const struct kernel_shape shape =
            step_shape(step, p, (struct tile_size){ options->br, options->bc });
        return (struct tile_size){ shape.Br, shape.Bc };
    }
    if (options->sram || size.Br == 0)
        size = step->size(options->sram ? options->sram : USUAL_M, p->d);
    return (struct tile_size){ options->br ? options->br : size.Br,
                               options->bc ? options->bc : size.Bc };
}

const char *step_formula(const struct step *step, const struct attention *p)
{
    return step->formula_16 && p->dtype != DTYPE_F32 ? step->formula_16 : step->formula;
}

// ---- running it ---------------------------------------------------------------------------------

static float *poisoned(size_t n, const char *name)
{
    float *const array = allocate(n, sizeof *array, name);
    poison_fill(array, n);
    return array;
}

struct tensors outputs_new(const struct attention *p, struct tensors x)
{
    const size_t queries = attention_query_elements(p), keys = attention_key_elements(p);
    if (x.dO) {
        x.dQ = poisoned(queries, "dQ");
        x.dK = poisoned(keys, "dK");
        x.dV = poisoned(keys, "dV");
    } else {
        x.O = poisoned(queries, "O");
        x.lse = poisoned(attention_rows(p), "lse");
    }
    return x;
}

void outputs_free(struct tensors *x)
{
    float **const outputs[] = { &x->dQ, &x->dK, &x->dV, &x->O, &x->lse };
    for (size_t k = 0; k < (x->dO ? 3 : 5); k++) {
        free(*outputs[k]);
        *outputs[k] = NULL;
    }
}

struct tensors step_run(const struct step *step, const struct attention *p, struct tile_size size,
                        struct tensors x)
{
    x = outputs_new(p, x);
    step->run(p, size, x);
    return x;
}

static void watch_arrays(const struct attention *p, struct tensors x)
{
    const size_t queries = attention_query_elements(p), keys = attention_key_elements(p),
                 rows = attention_rows(p);
    const struct {
        const char *name;
        const float *array;
        size_t n;
    } arrays[] = { { "Q", x.Q, queries }, { "K", x.K, keys },      { "V", x.V, keys },
                   { "O", x.O, queries }, { "lse", x.lse, rows },  { "m", x.m, rows },
                   { "l", x.l, rows },    { "dO", x.dO, queries }, { "dQ", x.dQ, queries },
                   { "dK", x.dK, keys },  { "dV", x.dV, keys } };
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        if (arrays[k].array)
            traffic_watch(arrays[k].name, arrays[k].array, arrays[k].n);
}

struct count count_step(const struct step *step, const struct attention *p, struct tile_size size,
                        struct tensors x)
{
    struct count c = { .pairs = attention_pairs(p) };
    x = outputs_new(p, x);
    step->predict(p, size, &c.accesses);
    traffic_reset();
    if (!step->is_kernel)  // a kernel accesses its device's arrays
        watch_arrays(p, x);
    step->watched(p, size, x);
    c.as_predicted = accesses_sum(&c.accesses, step_formula(step, p), &c.total);
    c.slow_bytes = step->is_kernel ? kernel_stored(step, p) : extra_slow_peak();
    c.fast_bytes = step->is_kernel ? 0 : extra_fast_peak();
    traffic_reset();  // its arrays are forgotten
    outputs_free(&x);
    return c;
}
