/* Chapter 06 as libflash.so shows it: its kernels on the CPU, standing in for a GPU. */
#include "common/python/binding.h"

#include "06_flash_tiled_cuda/program/stages.h"

#include <stdio.h>
#include <string.h>

static struct binding_step step(size_t n)
{
    return (struct binding_step){ .name = kernels[n].name,
                                  .idea = kernels[n].idea,
                                  .lse = kernels[n].supports & SUPPORTS_LSE };
}

/* A kernel is compiled with its tiles; most have one, which is not asked for. */
static const char *unsupported(size_t n, const struct attention *p, const struct binding_call *call)
{
    static char text[60];
    const char *const option = step_unsupported(&kernels[n], p);
    if (option || !call->br || step_tile(&kernels[n], p, call->br, call->bc))
        return option;
    snprintf(text, sizeof text, "--tile %zu, %zu", call->br, call->bc);
    return text;
}

/* All arrays once more in the device's memory and once on their way; naive's S and P; the masks. */
static double room(size_t n, const struct attention *p, const struct binding_call *call,
                   size_t threads)
{
    (void)call, (void)threads;
    const double queries = (double)attention_query_elements(p), rows = (double)attention_rows(p);
    const double arrays = 2.0 * queries + 2.0 * (double)attention_key_elements(p) + 4.0 * rows;
    const double scores = kernels[n].stores & STORES_SCORES ? 2.0 * rows * (double)p->Nk : 0.0;
    const double masks = (double)(p->B * p->Nk) + (double)p->Nq * (double)p->Nk;
    return sizeof(float) * (2.0 * arrays + scores) + masks + 1e8;
}

static void run(size_t n, const struct attention *p, const struct binding_call *call)
{
    struct attention_input input = { .p = *p, .Br = call->br, .Bc = call->bc };
    memcpy(&input.Q, &call->Q, sizeof input.Q);  // it is only read, though its type does not say so
    memcpy(&input.K, &call->K, sizeof input.K);
    memcpy(&input.V, &call->V, sizeof input.V);
    struct result r = kernel_run(&kernels[n], &device_cpu, &input);
    memcpy(call->O, r.O, attention_query_elements(p) * sizeof *r.O);
    if (call->lse)
        memcpy(call->lse, r.lse, attention_rows(p) * sizeof *r.lse);
    result_free(&r);
}

const struct binding binding_06 = BINDING(&table.count);
