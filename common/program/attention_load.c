#include "common/program/attention_load.h"

#include <stdio.h>

enum { USUAL_N = 128, USUAL_D = 64 };

static size_t or_else(size_t given, size_t usual)
{
    return given ? given : usual;
}

static struct attention attention_shape(const struct options *o)
{
    const size_t H = or_else(o->heads, or_else(o->kv_heads, 1)), Hkv = or_else(o->kv_heads, H);
    const size_t Nq = or_else(o->n_q, or_else(o->n_k, USUAL_N));
    if (H % Hkv != 0)
        options_fail("--kv-heads", "expected a number that divides the %zu query heads, found %zu",
                     H, Hkv);
    return attention_of(or_else(o->batch, 1), H, Hkv, Nq, or_else(o->n_k, Nq),
                        or_else(o->d, USUAL_D));
}

struct attention_input attention_input_load(const struct options *options)
{
    struct attention_input input;
    struct attention *const p = &input.p;
    if (options->q) {
        input = attention_files(options->q, options->k, options->v);
        snprintf(input.origin, sizeof input.origin, "%.120s, %.120s, %.120s", options->q,
                 options->k, options->v);
    } else {
        input = options_generated(options)
                    ? attention_input_random(attention_shape(options), options->seed)
                    : attention_usual();
    }
    p->dtype = options->dtype;
    if (options->scale_given)
        p->scale = options->scale;
    p->softcap = options->softcap;
    p->causal = options->causal;
    p->top_left = options->top_left;
    p->window_left = options->window_left;
    p->window_right = options->window_right;
    if (options->dropout_given)
        attention_set_dropout(p, options->dropout, options->dropout_seed);
    if (options->key_mask)
        attention_take_key_mask(&input, options->key_mask);
    if (options->dtype != DTYPE_F32)
        attention_round(&input);
    if (options->block_mask)
        attention_take_block_mask(&input, options);
    if (options->scale_given || options->q)
        attention_expect_scores(&input, options);
    return input;
}
