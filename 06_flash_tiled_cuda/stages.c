#include "stages.h"

#include "../05_flash_tiled_cpu/steps/steps.h"
#include "kernels/queue.h"
#include "kernels/tiles.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- devices ------------------------------------------------------------------------------------

enum { TENSOR_MAJOR = 8 };  // compute capability from which mma, ldmatrix and cp.async are there

const char *device_lacks(const struct device *device, enum dtype type)
{
    static char text[200];
    struct device_facts facts;
    if (type == DTYPE_F32 || device == &device_cpu || device == &device_watched)
        return NULL;
    device->facts(&facts);
    if (facts.major >= TENSOR_MAJOR)
        return NULL;
    snprintf(text, sizeof text,
             "--dtype %s needs a GPU of compute capability 8.0 or later, and %s has %d.%d",
             dtype_name(type), facts.name, facts.major, facts.minor);
    return text;
}

const struct device *device_among(const struct options *o, const struct device *gpu,
                                  const char *why_none)
{
    if (o->device && strcmp(o->device, "cpu") == 0)
        return &device_cpu;
    const char *const lacks = gpu ? device_lacks(gpu, o->dtype) : NULL;
    if (gpu && !lacks)
        return gpu;
    if (!o->device || strcmp(o->device, "gpu") != 0)
        return &device_cpu;
    if (lacks)
        fprintf(stderr, "06_flash_tiled_cuda: SKIPPED: %s\n", lacks);
    else
        fprintf(stderr, "06_flash_tiled_cuda: SKIPPED: no GPU (%s)\n", why_none);
    exit(EXIT_SKIPPED);
}

const struct device *device_choose(const struct options *o)
{
#ifdef WITH_GPU
    return device_among(o, device_gpu.is_there() ? &device_gpu : NULL,
                        "the CUDA runtime finds none");
#else
    return device_among(o, NULL,
                        "this program was built without nvcc; make cuda builds one with it");
#endif
}

bool device_holds(const struct device *device, const struct tile *tile)
{
    struct device_facts facts;
    device->facts(&facts);
    return tile_bytes(tile) <= facts.shared_at_most;
}

const char *device_text(const struct device *device)
{
    static char text[140];
    struct device_facts facts;
    if (device == &device_cpu)
        return "on the CPU, standing in for a GPU";
    device->facts(&facts);
    snprintf(text, sizeof text, "on a GPU: %s", facts.name);
    return text;
}

// ---- what a kernel can do -----------------------------------------------------------------------

enum { MOST_HEADS = 65535, MOST_D = 128, MOST_D_16 = 256, MOST_N = 1000000 };

bool kernel_knows_type(const struct kernel *kernel, enum dtype type)
{
    return kernel->options || kernel->tensor == (type != DTYPE_F32);
}

static bool is_one_of_five(size_t d)
{
    return d == 16 || d == 32 || d == 64 || d == 96 || d == 128;
}

const char *kernel_lacks(const struct kernel *kernel, const struct attention *p)
{
    static char text[60];
    if (p->B * p->H > MOST_HEADS)
        return "more than 65 535 heads";
    if (p->Nq > MOST_N || p->Nk > MOST_N)
        return "more than 1 000 000 queries or keys";
    if (!kernel_knows_type(kernel, p->dtype)) {
        snprintf(text, sizeof text, "--dtype %s", dtype_name(p->dtype));
        return text;
    }
    if (kernel->tensor && p->d != 64 && p->d != 128) {
        snprintf(text, sizeof text, "d = %zu (d is 64 or 128)", p->d);
        return text;
    }
    if (kernel->options && p->dtype != DTYPE_F32) {
        const size_t d = p->d;
        if (d == 32 || d == 64 || d == 96 || d == 128 || d == MOST_D_16)
            return NULL;
        snprintf(text, sizeof text, "d = %zu (d is 32, 64, 96, 128 or 256 with --dtype %s)", d,
                 dtype_name(p->dtype));
        return text;
    }
    if (p->d > MOST_D || (!kernel->options && !is_one_of_five(p->d))) {
        snprintf(text, sizeof text, "d = %zu (%s)", p->d,
                 kernel->options ? "d is at most 128" : "d is 16, 32, 64, 96 or 128");
        return text;
    }
    if (kernel->options)
        return NULL;
    if (p->dropout_threshold > 0)
        return "--dropout";
    if (p->window_left >= 0 || p->window_right >= 0)
        return "--window";
    if (p->block_mask)
        return "--block-mask";
    return p->key_mask ? "--key-mask" : NULL;
}

enum { HOPPER_MAJOR = 9 };

const char *kernel_lacks_device(const struct kernel *kernel, const struct device *device)
{
    static char text[180];
    struct device_facts facts;
    device->facts(&facts);
    if (!kernel->hopper || device == &device_cpu || device == &device_watched ||
        (facts.major == HOPPER_MAJOR && facts.minor == 0))
        return NULL;
    snprintf(text, sizeof text, "%s, of compute capability %d.%d (it is for 9.0)", facts.name,
             facts.major, facts.minor);
    return text;
}

const char *kernel_lacks_on(const struct kernel *kernel, const struct attention *p,
                            const struct device *device)
{
    const char *lacks = kernel_lacks(kernel, p);
    return lacks ? lacks : kernel_lacks_device(kernel, device);
}

const struct device *device_for(const struct kernel *kernel, const struct device *chosen,
                                const struct options *o)
{
    const char *lacks = kernel_lacks_device(kernel, chosen);
    if (!lacks)
        return chosen;
    if (!o->device || strcmp(o->device, "gpu") != 0)
        return &device_cpu;
    fprintf(stderr, "06_flash_tiled_cuda: SKIPPED: --kernel %s does not know %s\n", kernel->name,
            lacks);
    exit(EXIT_SKIPPED);
}

// ---- runs ---------------------------------------------------------------------------------------

/* A copy of an array in the device's memory; NULL of NULL. Masks have no name: they are not counted. */
static void *copy_of(const struct device *device, const void *host, size_t bytes, const char *name)
{
    if (!host)
        return NULL;
    void *array = device->allocate(bytes, name);
    device->upload(array, host, bytes);
    return array;
}

static float *poisoned(const struct device *device, size_t n, const char *name)
{
    float *poison = allocate(n, sizeof *poison, name);
    tolerance_poison(poison, n);
    float *array = copy_of(device, poison, n * sizeof *poison, name);
    free(poison);
    return array;
}

/* A copy of numbers rounded to 16 bits. */
static void *narrow_copy_of(const struct device *device, const float *host, size_t n,
                            enum dtype type, const char *name)
{
    uint16_t *narrow = allocate(n, sizeof *narrow, name);
    for (size_t k = 0; k < n; k++)
        narrow[k] = dtype_bits(type, host[k]);
    void *array = copy_of(device, narrow, n * sizeof *narrow, name);
    free(narrow);
    return array;
}

/* A NaN that no kernel makes: in either type of 16 bits. */
static const uint16_t NARROW_POISON = 0x7fde;

static uint16_t *narrow_poisoned(const struct device *device, size_t n, const char *name)
{
    uint16_t *poison = allocate(n, sizeof *poison, name);
    for (size_t k = 0; k < n; k++)
        poison[k] = NARROW_POISON;
    uint16_t *array = copy_of(device, poison, n * sizeof *poison, name);
    free(poison);
    return array;
}

static size_t blocks_of(size_t n, size_t size)
{
    return (n - 1) / size + 1;
}

void kernel_take(struct loaded *l, const struct kernel *kernel, const struct attention_input *input)
{
    const struct shape shape = kernel_shape_of(kernel, input);
    l->kernel = kernel;
    l->arrays.Br = shape.Br;
    l->arrays.Bc = shape.Bc;
}

struct loaded kernel_load_for(const struct kernel *const *some, size_t count,
                              const struct device *device, const struct attention_input *input)
{
    struct loaded l = { .device = device, .p = input->p };
    struct attention *p = &l.p;
    const size_t n = attention_query_elements(p), keys = attention_key_elements(p);
    const size_t rows = attention_rows(p), size = sizeof(float);
    if (p->dtype == DTYPE_F32) {
        l.arrays.Q = copy_of(device, input->Q, n * size, "Q");
        l.arrays.K = copy_of(device, input->K, keys * size, "K");
        l.arrays.V = copy_of(device, input->V, keys * size, "V");
        l.arrays.O = poisoned(device, n, "O");
    } else {
        l.arrays.Q16 = narrow_copy_of(device, input->Q, n, p->dtype, "Q");
        l.arrays.K16 = narrow_copy_of(device, input->K, keys, p->dtype, "K");
        l.arrays.V16 = narrow_copy_of(device, input->V, keys, p->dtype, "V");
        l.arrays.O16 = narrow_poisoned(device, n, "O");
    }
    l.arrays.lse = poisoned(device, rows, "lse");
    bool scores = false, statistics = false, counter = false;
    for (size_t k = 0; k < count; k++) {
        scores = scores || some[k]->scores;
        statistics = statistics || some[k]->statistics;
        counter = counter || some[k]->stays;
    }
    if (scores) {
        l.arrays.S = device->allocate(rows * p->Nk * size, "S");
        l.arrays.P = device->allocate(rows * p->Nk * size, "P");
    }
    if (statistics) {
        l.arrays.m = device->allocate(rows * size, "m");
        l.arrays.l = device->allocate(rows * size, "l");
    }
    if (counter)
        l.arrays.next = device->allocate(sizeof *l.arrays.next, NULL);
    p->key_mask = copy_of(device, p->key_mask, p->B * p->Nk, NULL);
    if (p->block_mask)
        p->block_mask =
            copy_of(device, p->block_mask,
                    blocks_of(p->Nq, p->mask_rows) * blocks_of(p->Nk, p->mask_cols), NULL);
    kernel_take(&l, some[0], input);
    return l;
}

struct loaded kernel_load(const struct kernel *kernel, const struct device *device,
                          const struct attention_input *input)
{
    return kernel_load_for(&kernel, 1, device, input);
}

void kernel_launch(const struct loaded *l)
{
    l->device->launch[l->kernel - kernels](&l->p, &l->arrays);
}

size_t kernel_blocks(const struct kernel *kernel, struct shape shape, const struct device *device)
{
    struct device_facts facts;
    device->facts(&facts);
    const size_t most = (size_t)facts.processors;
    return kernel->stays && most < shape.blocks ? most : shape.blocks;
}

bool kernel_takes(const struct attention *p, size_t n, size_t *head, size_t *i0)
{
    if (n >= queue_length(p, TENSOR_BR))
        return false;
    const struct queued tile = queue_at(p, TENSOR_BR, (unsigned)n);
    *head = tile.head;
    *i0 = tile.i0;
    return true;
}

static void release(const struct device *device, const void *array)
{
    if (array)
        device->release((void *)array);
}

void kernel_unload(struct loaded *l)
{
    const void *const arrays[] = { l->arrays.Q,   l->arrays.K,    l->arrays.V,   l->arrays.O,
                                   l->arrays.lse, l->arrays.S,    l->arrays.P,   l->arrays.m,
                                   l->arrays.l,   l->arrays.Q16,  l->arrays.K16, l->arrays.V16,
                                   l->arrays.O16, l->arrays.next, l->p.key_mask, l->p.block_mask };
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        release(l->device, arrays[k]);
    l->arrays = (struct device_arrays){ 0 };
}

void kernel_output(const struct loaded *l, float *O)
{
    const size_t n = attention_query_elements(&l->p);
    if (l->p.dtype == DTYPE_F32) {
        l->device->download(O, l->arrays.O, n * sizeof *O);
        return;
    }
    uint16_t *narrow = allocate(n, sizeof *narrow, "O");
    l->device->download(narrow, l->arrays.O16, n * sizeof *narrow);
    for (size_t k = 0; k < n; k++)
        if (narrow[k] == NARROW_POISON)
            tolerance_poison(&O[k], 1);
        else
            O[k] = dtype_number(l->p.dtype, narrow[k]);
    free(narrow);
}

struct result kernel_run(const struct kernel *kernel, const struct device *device,
                         const struct attention_input *input)
{
    const size_t n = attention_query_elements(&input->p), rows = attention_rows(&input->p);
    struct result r = { allocate(n, sizeof(float), "O"), allocate(rows, sizeof(float), "lse") };
    struct loaded l = kernel_load(kernel, device, input);
    kernel_launch(&l);
    kernel_output(&l, r.O);
    device->download(r.lse, l.arrays.lse, rows * sizeof *r.lse);
    kernel_unload(&l);
    return r;
}

void result_free(struct result *r)
{
    free(r->O);
    free(r->lse);
    *r = (struct result){ NULL, NULL };
}

// ---- comparisons --------------------------------------------------------------------------------

/* The nearest earlier kernel that can do the problem; NULL: none. */
static const struct kernel *kernel_before(const struct kernel *kernel, const struct attention *p,
                                          const struct device *device)
{
    for (const struct kernel *k = kernel; k-- > kernels;)
        if (!kernel_lacks_on(k, p, device))
            return k;
    return NULL;
}

/* The checked rows of chapter 05's complete. */
static float *rows_of_chapter_05(const struct attention_input *input,
                                 const struct attention_check *check)
{
    const struct attention *p = &input->p;
    float *O = allocate(attention_query_elements(p), sizeof *O, "chapter 05's O");
    complete(p, (struct tile_size){ 64, 128 }, input->Q, input->K, input->V, O, NULL);
    float *rows = attention_check_rows(check, O, p->d);
    free(O);
    return rows;
}

struct verdict kernel_check(const struct kernel *kernel, const struct device *device,
                            const struct attention_input *input, struct attention_check *check,
                            const struct result *r, bool tell)
{
    const struct attention *p = &input->p;
    const struct kernel *earlier = kernel_before(kernel, p, device);
    struct verdict v = { .before = earlier ? earlier->name : "05" };
    float *O = attention_check_rows(check, r->O, p->d), *before = NULL;
    float *lse = attention_check_rows(check, r->lse, 1), *other = rows_of_chapter_05(input, check);
    if (earlier) {
        struct result of_earlier = kernel_run(earlier, device, input);
        before = attention_check_rows(check, of_earlier.O, p->d);
        result_free(&of_earlier);
    }
    check->other_name = "05 complete";
    check->other = other;
    v.errors = tell ? attention_check_report(check, p, O, lse, earlier ? v.before : NULL, before)
                    : attention_check_errors(check, p, O, lse, before);
    v.previous = earlier ? v.errors.previous : v.errors.other;
    check->other_name = NULL;
    check->other = NULL;
    free(before);
    free(other);
    free(lse);
    free(O);
    return v;
}
