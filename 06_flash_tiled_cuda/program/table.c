/* The table of the chapter's kernels. */
#include "06_flash_tiled_cuda/kernels/parts/tiles.h"
#include "06_flash_tiled_cuda/program/chapter.h"

static size_t tiles_in(size_t n, size_t size)
{
    return (n - 1) / size + 1;
}

static struct shape shape_naive(const struct attention *p)
{
    return (struct shape){ p->B * p->H * tiles_in(p->Nq, 16) * tiles_in(p->Nk, 16), 256, 1, 1 };
}

static struct shape shape_fa1(const struct attention *p)
{
    return (struct shape){ p->B * p->H, 256, FA1_BR, FA1_BC(p->d) };
}

static struct shape shape_fa2(const struct attention *p)
{
    const size_t Br = FA2_BR(p->d);
    return (struct shape){ p->B * p->H * tiles_in(p->Nq, Br), 128, Br, FA2_BC };
}

static struct shape shape_tensor(const struct attention *p)
{
    const size_t blocks = p->B * p->H * tiles_in(p->Nq, TENSOR_BR);
    return (struct shape){ blocks, 128, TENSOR_BR, TENSOR_BC(p->d) };
}

static struct shape shape_hopper(const struct attention *p)
{
    const size_t blocks = p->B * p->H * tiles_in(p->Nq, TENSOR_BR);
    return (struct shape){ blocks, 256, TENSOR_BR, HOPPER_BC };
}

static struct shape shape_roles(const struct attention *p)
{
    struct shape shape = shape_hopper(p);
    shape.threads += 128;  // who ask for tiles
    return shape;
}

static struct shape shape_power(const struct attention *p)
{
    struct shape shape = shape_tensor(p);
    shape.Bc = POWER_BC(p->d);
    return shape;
}

// The first tile of each d is the kernel's own: tiles.h.
#define TILE(d, Br, Bc, bands, blocks) { d, Br, Bc, 32 * (Br) / (16 * (bands)) },
static const struct tile budget_tiles[] = { BUDGET_TILES(TILE){ 0 } };
static const struct tile complete_tiles[] = { COMPLETE16_TILES(TILE){ 0 } };

const struct tile *kernel_tile(const struct kernel *kernel, const struct attention *p, size_t Br,
                               size_t Bc)
{
    const bool has_some = kernel->tiles && p->dtype != DTYPE_F32;
    for (const struct tile *tile = kernel->tiles; has_some && tile->d; tile++)
        if (tile->d == p->d && (!Br || tile->Br == Br) && (!Bc || tile->Bc == Bc))
            return tile;
    return NULL;
}

size_t tile_bytes(const struct tile *tile)
{
    return (tile->Br + 4 * tile->Bc) * tile->d * sizeof(uint16_t);
}

struct shape kernel_shape_of(const struct kernel *kernel, const struct attention_input *input)
{
    const struct attention *p = &input->p;
    const struct tile *tile = kernel_tile(kernel, p, input->Br, input->Bc);
    if (!tile)
        tile = kernel_tile(kernel, p, 0, 0);
    if (!tile)
        return kernel->shape(p);
    return (struct shape){ p->B * p->H * tiles_in(p->Nq, tile->Br), tile->threads, tile->Br,
                           tile->Bc };
}

const struct kernel kernels[KERNELS] = {
    [NAIVE] = {
        .name = "naive",
        .idea = "three kernels, S and P in global memory",
        .shape = shape_naive,
        .predict = predict_naive,
        .formula = "(4 d + 5) a pair + …",
        .scores = true,
    },
    [FA1] = {
        .name = "fa1",
        .idea = "tiles in shared memory, a block a head",
        .shape = shape_fa1,
        .predict = predict_fa1,
        .formula = "Tc (3 Nq d + 4 Nq) + …",
        .statistics = true,
    },
    [FA2] = {
        .name = "fa2",
        .idea = "a block a tile of queries, sums in registers",
        .shape = shape_fa2,
        .predict = predict_fa2,
        .formula = "2 d a key + …",
    },
    [MMA] = {
        .name = "mma",
        .idea = "tensor cores: 16-bit inputs, sums in float32",
        .shape = shape_tensor,
        .predict = predict_tensor,
        .formula = "d a key + …",
        .tensor = true,
    },
    [SWIZZLE] = {
        .name = "swizzle",
        .idea = "no two lanes wait for a bank",
        .shape = shape_tensor,
        .predict = predict_tensor,
        .formula = "d a key + …",
        .tensor = true,
    },
    [ASYNC] = {
        .name = "async",
        .idea = "two stages: the next tile is on its way",
        .shape = shape_tensor,
        .predict = predict_tensor,
        .formula = "d a key + …",
        .tensor = true,
    },
    [EXP2] = {
        .name = "exp2",
        .idea = "the scale folded into a power of 2",
        .shape = shape_power,
        .predict = predict_tensor,
        .formula = "d a key + …",
        .tensor = true,
    },
    [SKIP] = {
        .name = "skip",
        .idea = "a mask only where tiles need one",
        .shape = shape_power,
        .predict = predict_tensor,
        .formula = "d a key + …",
        .tensor = true,
    },
    [RESCALE] = {
        .name = "rescale",
        .idea = "O moves only when the maximum moved far",
        .shape = shape_power,
        .predict = predict_tensor,
        .formula = "d a key + …",
        .tensor = true,
    },
    [BUDGET] = {
        .name = "budget",
        .idea = "a tile that registers hold: --br, --bc",
        .predict = predict_tensor,
        .formula = "d a key + …",
        .tensor = true,
        .tiles = budget_tiles,
    },
    [WGMMA] = {
        .name = "wgmma",
        .idea = "Hopper: units beside the threads",
        .shape = shape_hopper,
        .predict = predict_boxes,
        .formula = "d a key + …",
        .tensor = true,
        .hopper = true,
    },
    [ROLES] = {
        .name = "roles",
        .idea = "a producer asks for tiles, consumers compute",
        .shape = shape_roles,
        .predict = predict_boxes,
        .formula = "d a key + …",
        .tensor = true,
        .hopper = true,
    },
    [OVERLAP] = {
        .name = "overlap",
        .idea = "weights are made before a product is awaited",
        .shape = shape_roles,
        .predict = predict_boxes,
        .formula = "d a key + …",
        .tensor = true,
        .hopper = true,
    },
    [PINGPONG] = {
        .name = "pingpong",
        .idea = "two consumers take turns at the tensor cores",
        .shape = shape_roles,
        .predict = predict_boxes,
        .formula = "d a key + …",
        .tensor = true,
        .hopper = true,
    },
    [PERSISTENT] = {
        .name = "persistent",
        .idea = "blocks stay, and take the longest tile that is left",
        .shape = shape_roles,
        .predict = predict_boxes,
        .formula = "d a key + …",
        .tensor = true,
        .hopper = true,
        .stays = true,
    },
    [COMPLETE] = {
        .name = "complete",
        .idea = "every option",
        .shape = shape_fa2,
        .predict = predict_complete,
        .formula = "2 d a key + …",
        .options = true,
        .tiles = complete_tiles,
    },
};
