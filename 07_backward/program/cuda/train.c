/*
 * Forward and backward on one device: chapter 06's complete, and this chapter's.
 *
 * With 16 bits what descends stays float32, and what the passes get is a rounded copy: a step is often smaller than the
 * distance of two neighbours in 16 bits, and would be lost.
 */
#include "07_backward/program/cuda/program.h"
#include "07_backward/program/cuda/run.h"
#include "common/cpu/memory.h"

static const struct device *device;
static enum dtype type;

/* The layer as the passes are to take it. */
static struct layer in_type(const struct layer *layer)
{
    struct layer narrow = *layer;
    narrow.input.p.dtype = type;
    return narrow;
}

static void forward(struct layer *layer)
{
    const struct attention *p = &layer->input.p;
    layer->kept = (struct kept){
        .O = allocate(attention_query_elements(p), sizeof(float), "O"),
        .lse = allocate(attention_rows(p), sizeof(float), "lse"),
    };
    const struct layer narrow = in_type(layer);
    cuda_forward(device, &narrow);
}

static struct result backward(const struct layer *layer)
{
    const struct layer narrow = in_type(layer);
    return cuda_run(&cuda_kernels[CUDA_COMPLETE], device, &narrow);
}

struct trainer cuda_trainer(const struct options *options)
{
    device = device_choose(options);
    type = options->dtype;
    return (struct trainer){ cuda_kernels[CUDA_COMPLETE].name, forward, backward };
}
