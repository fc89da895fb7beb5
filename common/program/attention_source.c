/*
 * A problem of which a program holds only a part.
 */
#include "common/cpu/memory.h"
#include "common/files/npy.h"
#include "common/program/attention_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The given file, or the course's own. */
static struct attention_array open_array(struct attention_source *s, enum source which,
                                         const char *given, const char *usual)
{
    static char path[SOURCES][4096];
    snprintf(path[which], sizeof path[which], "%s", given ? given : options_data(usual));
    s->path[which] = path[which];
    return attention_array_open(path[which], &s->of[which]);
}

static void open_mask(struct attention_source *s, const char *path)
{
    static char kept[4096];
    snprintf(kept, sizeof kept, "%s", path);
    s->path[SOURCE_MASK] = kept;
    attention_mask_open(kept, s->p.B, s->p.Nk, "(B, Nk)", &s->of[SOURCE_MASK]);
}

struct attention_source attention_source_open(const struct options *options)
{
    const bool usual = !options->q && !attention_is_shaped(options);
    struct attention_source s = { .seed = options->seed, .dims = 4 };
    if (options->q || usual) {
        const struct attention_array Q = open_array(&s, SOURCE_Q, options->q, "q.npy"),
                                     K = open_array(&s, SOURCE_K, options->k, "k.npy"),
                                     V = open_array(&s, SOURCE_V, options->v, "v.npy");
        s.p = attention_of_arrays(&Q, &K, &V);
        s.dims = Q.dims;
    } else {
        s.p = attention_shape(options);
    }
    attention_take_options(&s.p, options);
    if (options->key_mask || usual)
        open_mask(&s, options->key_mask ? options->key_mask : options_data("key_mask.npy"));
    if (options->dO) {
        const struct attention_array dO = open_array(&s, SOURCE_DO, options->dO, NULL);
        attention_check_dO(&dO, &s.p, s.dims, options);
    }
    return s;
}

void attention_source_close(struct attention_source *s)
{
    for (size_t k = 0; k < SOURCES; k++)
        npy_parts_close(&s->of[k]);
}

void attention_source_floats(const struct attention_source *s, enum source which, size_t first,
                             size_t count, float *x)
{
    const struct npy_parts *const file = &s->of[which];
    struct file_error error;
    if (!file->file) {
        for (size_t k = 0; k < count; k++)
            x[k] = (float)random_normal(s->seed, (uint32_t)which, first + k);
        return;
    }
    struct npy read = { .type = file->array.type, .count = count };
    read.data = allocate(count, npy_element_size(read.type), "a part of a file");
    if (!npy_parts_read(file, first, count, read.data, &error))
        options_fail(s->path[which], "%s", error.text);
    float *const floats = npy_floats(&read);
    memcpy(x, floats, count * sizeof *x);
    free(floats);
    npy_free(&read);
}

void attention_source_mask(const struct attention_source *s, size_t first, size_t count,
                           uint8_t *mask)
{
    struct file_error error;
    if (!npy_parts_read(&s->of[SOURCE_MASK], first, count, mask, &error))
        options_fail(s->path[SOURCE_MASK], "%s", error.text);
}
