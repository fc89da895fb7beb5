#include "07_backward/program/stages.h"

#include "common/cpu/memory.h"
#include "common/program/attention_load.h"
#include "common/program/attention_report.h"

#include <stdlib.h>

struct layer layer_load(const struct options *options)
{
    // P = e^{S - lse} of a larger score is off by a factor of e or more, and may overflow: its rounding alone is 6.
    const double most = 1e8;
    struct layer layer = { .input = attention_input_load(options) };
    if (layer.input.p.softcap == 0.0f || (double)layer.input.p.softcap > most)
        attention_expect_scores(&layer.input, options, most);
    layer.dO = attention_input_dO(&layer.input, options);
    return layer;
}

void layer_forward(struct layer *layer)
{
    layer->kept = kept_by_forward(&layer->input);
}

struct layer layer_random(struct attention p, uint64_t seed)
{
    const struct options made = { .seed = seed };
    struct layer layer = { .input = attention_input_random(p, seed) };
    layer.dO = attention_input_dO(&layer.input, &made);
    layer.kept = kept_by_forward(&layer.input);
    return layer;
}

void layer_free(struct layer *layer)
{
    kept_free(&layer->kept);
    free(layer->dO);
    attention_input_free(&layer->input);
}

struct result result_new(const struct attention *p)
{
    const size_t queries = attention_query_elements(p), keys = attention_key_elements(p);
    struct result r = { { allocate(queries, sizeof(float), "dQ"),
                          allocate(keys, sizeof(float), "dK"),
                          allocate(keys, sizeof(float), "dV") },
                        DTYPE_F32 };
    poison_fill(r.of[DQ], queries);
    poison_fill(r.of[DK], keys);
    poison_fill(r.of[DV], keys);
    return r;
}

struct tensors layer_tensors(const struct layer *layer, const struct result *r)
{
    struct tensors x = backward_tensors(&layer->input, &layer->kept, layer->dO);
    x.dQ = r->of[DQ];
    x.dK = r->of[DK];
    x.dV = r->of[DV];
    return x;
}

struct result layer_run(const struct step *step, const struct layer *layer, struct tile_size size)
{
    const struct attention_input *input = &layer->input;
    struct result r = result_new(&input->p);
    step->run(&input->p, size, layer_tensors(layer, &r));
    return r;
}

void result_free(struct result *r)
{
    for (size_t g = 0; g < GRADIENTS; g++)
        free(r->of[g]);
    *r = (struct result){ .of = { NULL } };
}

const struct step *step_before(const struct step *step, const struct attention *p)
{
    while (step > steps) {
        step--;
        if (step_comes_before(step, p))
            return step;
    }
    return NULL;
}

struct previous previous_run(const struct step *step, const struct layer *layer,
                             const struct options *options)
{
    if (!step)
        return (struct previous){ .name = NULL };
    const struct tile_size size = step_size(step, options, layer->input.p.d);
    return (struct previous){ step->name, layer_run(step, layer, size) };
}

void previous_keep(struct previous *previous, const char *name, struct result *r)
{
    result_free(&previous->result);
    *previous = (struct previous){ name, *r };
    *r = (struct result){ .of = { NULL } };
}

struct attention_errors step_check(const struct gradient_check *check,
                                   const struct previous *previous, const struct result *r,
                                   bool tell)
{
    float *const *others = previous->name ? previous->result.of : NULL;
    return tell ? gradient_check_report(check, r->of, previous->name, others)
                : gradient_check_errors(check, r->of, others);
}
