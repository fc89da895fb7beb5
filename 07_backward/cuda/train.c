/*
 * Forward and backward on one device: chapter 06's complete, and this chapter's.
 */
#include "memory.h"
#include "program.h"
#include "run.h"

static const struct backward_device *device;

static void forward(struct layer *layer)
{
    const struct attention *p = &layer->input.p;
    layer->kept = (struct kept){
        .O = allocate(attention_query_elements(p), sizeof(float), "O"),
        .lse = allocate(attention_rows(p), sizeof(float), "lse"),
    };
    cuda_forward(device, layer);
}

static struct result backward(const struct layer *layer)
{
    return cuda_run(&cuda_kernels[CUDA_COMPLETE], device, layer);
}

struct trainer cuda_trainer(const struct options *options)
{
    device = backward_device_choose(options);
    return (struct trainer){ cuda_kernels[CUDA_COMPLETE].name, forward, backward };
}
