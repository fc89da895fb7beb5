/* The table of the chapter's kernels, made of the rows of kernels/table.h, and the shapes of their grids. */
#include "05_flash_tiled_cpu/steps/tile.h"
#include "06_flash_tiled_cuda/kernels/parts/tiles.h"
#include "06_flash_tiled_cuda/program/chapter.h"

static struct kernel_shape shape_naive(const struct attention *p)
{
    return (struct kernel_shape){ p->B * p->H * ceil_div(p->Nq, 16) * ceil_div(p->Nk, 16), 256, 1,
                                  1 };
}

static struct kernel_shape shape_fa1(const struct attention *p)
{
    return (struct kernel_shape){ p->B * p->H, 256, FA1_BR, FA1_BC(p->d) };
}

static struct kernel_shape shape_fa2(const struct attention *p)
{
    const size_t Br = FA2_BR(p->d);
    return (struct kernel_shape){ p->B * p->H * ceil_div(p->Nq, Br), 128, Br, FA2_BC };
}

static struct kernel_shape shape_turing(const struct attention *p)
{
    const size_t blocks = p->B * p->H * ceil_div(p->Nq, TURING_BR);
    return (struct kernel_shape){ blocks, 128, TURING_BR, TENSOR_BC(p->d) };
}

static struct kernel_shape shape_tensor(const struct attention *p)
{
    const size_t blocks = p->B * p->H * ceil_div(p->Nq, TENSOR_BR);
    return (struct kernel_shape){ blocks, 128, TENSOR_BR, TENSOR_BC(p->d) };
}

static struct kernel_shape shape_hopper(const struct attention *p)
{
    const size_t blocks = p->B * p->H * ceil_div(p->Nq, TENSOR_BR);
    return (struct kernel_shape){ blocks, 256, TENSOR_BR, HOPPER_BC };
}

static struct kernel_shape shape_roles(const struct attention *p)
{
    struct kernel_shape shape = shape_hopper(p);
    shape.threads += 128;  // who ask for tiles
    return shape;
}

static struct kernel_shape shape_store(const struct attention *p)
{
    const size_t Br = STORE_BR(p->d), blocks = p->B * p->H * ceil_div(p->Nq, Br);
    return (struct kernel_shape){ blocks, 2 * Br + 128, Br, STORE_BC(p->d, p->causal) };
}

static struct kernel_shape shape_power(const struct attention *p)
{
    struct kernel_shape shape = shape_tensor(p);
    shape.Bc = POWER_BC(p->d);
    return shape;
}

// The first tile of each d is the kernel's own: tiles.h.
#define TILE(d, Br, Bc, bands, blocks) { d, Br, Bc, 32 * (Br) / (16 * (bands)) },
static const struct kernel_tile budget_tiles[] = { BUDGET_TILES(TILE){ 0 } };
static const struct kernel_tile complete_tiles[] = { COMPLETE16_TILES(TILE){ 0 } };

size_t tile_bytes(const struct kernel_tile *tile)
{
    return (tile->Br + 4 * tile->Bc) * tile->d * sizeof(uint16_t);
}

struct kernel_shape kernel_shape_of(const struct step *kernel, const struct attention_input *input)
{
    const struct attention *p = &input->p;
    const struct kernel_tile *tile = step_tile(kernel, p, input->Br, input->Bc);
    if (!tile)
        tile = step_tile(kernel, p, 0, 0);
    if (!tile)
        return kernel->shape(p);
    return (struct kernel_shape){ p->B * p->H * ceil_div(p->Nq, tile->Br), tile->threads, tile->Br,
                                  tile->Bc };
}

/* What every kernel supports. */
enum { SHAPES = SUPPORTS_CAUSAL | SUPPORTS_GROUPED_HEADS | SUPPORTS_LSE };

#define STEP(constant, function, ...)                                         \
    [constant] = { .name = #function,                                         \
                   .is_kernel = true,                                         \
                   .runs = &(const struct runs){ .on = LAUNCHERS(function) }, \
                   __VA_ARGS__ },

const struct step kernels[KERNELS] = {
#include "06_flash_tiled_cuda/kernels/table.h"
};

const struct step_table table = { kernels, KERNELS, .first = 1, .width = 10 };
