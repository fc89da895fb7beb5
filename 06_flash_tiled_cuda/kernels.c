/*
 * The chapter's kernels, in order. A row describes a kernel completely (common/program/step.h): `run` copies the arrays to the current
 * device, launches the kernel and copies its output back (kernels/device/run.h); `watched` does so in the build that counts
 * accesses.
 */
#include "05_flash_tiled_cpu/steps/tile.h"
#include "06_flash_tiled_cuda/kernels/device/choice.h"
#include "06_flash_tiled_cuda/kernels/device/run.h"
#include "06_flash_tiled_cuda/kernels/parts/tiles.h"
#include "06_flash_tiled_cuda/program.h"

// ---- grids and tiles ----------------------------------------------------------------------------

/* Of naive_scores: 16 x 16 threads, one per element of S. It has no tiles. */
static struct kernel_shape shape_naive(const struct attention *p)
{
    return (struct kernel_shape){ 256, 1, 1,
                                  p->B * p->H * ceil_div(p->Nq, 16) * ceil_div(p->Nk, 16) };
}

/* One block per head. */
static struct kernel_shape shape_fa1(const struct attention *p)
{
    return (struct kernel_shape){ 256, FA1_BR, FA1_BC(p->d), p->B * p->H };
}

/* The others have a block per Br queries of a head. */
static struct kernel_shape shape_fa2(const struct attention *p)
{
    return (struct kernel_shape){ .threads = 128, .Br = FA2_BR(p->d), .Bc = FA2_BC };
}

static struct kernel_shape shape_turing(const struct attention *p)
{
    return (struct kernel_shape){ .threads = 128, .Br = TURING_BR, .Bc = TENSOR_BC(p->d) };
}

static struct kernel_shape shape_tensor(const struct attention *p)
{
    return (struct kernel_shape){ .threads = 128, .Br = TENSOR_BR, .Bc = TENSOR_BC(p->d) };
}

/* exp2 to rescale have fewer keys than mma for d = 128 (tiles.h). */
static struct kernel_shape shape_power(const struct attention *p)
{
    return (struct kernel_shape){ .threads = 128, .Br = TENSOR_BR, .Bc = POWER_BC(p->d) };
}

/* Two warpgroups of 64 queries; and with a producer. */
static struct kernel_shape shape_hopper(const struct attention *p)
{
    (void)p;
    return (struct kernel_shape){ .threads = 256, .Br = TENSOR_BR, .Bc = HOPPER_BC };
}

static struct kernel_shape shape_roles(const struct attention *p)
{
    (void)p;
    return (struct kernel_shape){ .threads = 256 + 128, .Br = TENSOR_BR, .Bc = HOPPER_BC };
}

/* A warpgroup of 128 threads per 64 queries, and the producer. */
static struct kernel_shape shape_store(const struct attention *p)
{
    const size_t Br = STORE_BR(p->d);
    return (
        struct kernel_shape){ .threads = 2 * Br + 128, .Br = Br, .Bc = STORE_BC(p->d, p->causal) };
}

// The first tile of each d is the default (tiles.h). A warp has M_tiles times 16 queries.
#define TILE(d, Br, Bc, M_tiles, blocks) { d, Br, Bc, 32 * (Br) / (16 * (M_tiles)) },
static const struct kernel_tile budget_tiles[] = { BUDGET_TILES(TILE){ 0 } };
static const struct kernel_tile complete_tiles[] = { COMPLETE16_TILES(TILE){ 0 } };

// ---- what runs them -----------------------------------------------------------------------------

/* Defines run_NAME and watch_NAME, which start the kernel called NAME by its launchers. */
#define KERNEL(name)                                                                             \
    DECLARE_LAUNCHERS(kernel_launcher, name)                                                     \
    static kernel_launcher *const name##_launchers[BUILDS] = LAUNCHERS(name);                    \
    static void run_##name(const struct attention *p, struct tile_size size, struct tensors x)   \
    {                                                                                            \
        kernel_run(step_named(&table, #name), name##_launchers, p, size, x);                     \
    }                                                                                            \
    static void watch_##name(const struct attention *p, struct tile_size size, struct tensors x) \
    {                                                                                            \
        kernel_instrumented(run_##name, CUDA_WATCH_TRAFFIC, p, size, x);                         \
    }
// clang-format off
KERNEL(naive)
KERNEL(fa1)
KERNEL(fa2)
KERNEL(ahead)
KERNEL(turing)
KERNEL(mma)
KERNEL(swizzle)
KERNEL(async)
KERNEL(exp2)
KERNEL(skip)
KERNEL(rescale)
KERNEL(budget)
KERNEL(wgmma)
KERNEL(roles)
KERNEL(overlap)
KERNEL(pingpong)
KERNEL(persistent)
KERNEL(store)
KERNEL(complete)
// clang-format on

#define RUNS(name) .is_kernel = true, .run = run_##name, .watched = watch_##name

// ---- the rows -----------------------------------------------------------------------------------

/* What every kernel supports. */
enum { SHAPES = SUPPORTS_CAUSAL | SUPPORTS_GROUPED_HEADS | SUPPORTS_LSE };

/* A kernel in float32, and on tensor cores: the same d, and on tensor cores the same formula. */
#define FLOAT32 .f32 = { .only = { 16, 32, 64, 96, 128 } }, .supports = SHAPES
#define TENSOR_CORES .formula = "d / key + …", .f16 = { .only = { 64, 128 } }, .supports = SHAPES

static const struct step kernels[] = {
    {
        .name = "naive",
        .idea = "three kernels, S and P in global memory",
        RUNS(naive),
        .formula = "(4 d + 5) / pair + …",
        .predict = predict_naive,
        .shape = shape_naive,
        FLOAT32,
        .stores = STORES_SCORES,
    },
    {
        .name = "fa1",
        .idea = "tiles in shared memory, one block per head",
        RUNS(fa1),
        .formula = "Tc (3 Nq d + 4 Nq) + …",
        .predict = predict_fa1,
        .shape = shape_fa1,
        FLOAT32,
        .stores = STORES_STATISTICS,
    },
    {
        .name = "fa2",
        .idea = "one block per tile of queries, sums in registers",
        RUNS(fa2),
        .formula = "2 d / key + …",
        .predict = predict_fa2,
        .shape = shape_fa2,
        FLOAT32,
    },
    {
        .name = "ahead",
        .idea = "the next slice is loaded during the products",
        RUNS(ahead),
        .formula = "2 d / key + …",
        .predict = predict_fa2,
        .shape = shape_fa2,
        FLOAT32,
    },
    {
        .name = "turing",
        .idea = "tensor cores of a T4: float16 inputs, float32 sums",
        RUNS(turing),
        .predict = predict_fa2,
        .shape = shape_turing,
        TENSOR_CORES,
        .float16_only = true,
        .compute_capability = 75,
    },
    {
        .name = "mma",
        .idea = "Ampere: products twice as long, and bfloat16",
        RUNS(mma),
        .predict = predict_fa2,
        .shape = shape_tensor,
        TENSOR_CORES,
    },
    {
        .name = "swizzle",
        .idea = "no bank conflicts in shared memory",
        RUNS(swizzle),
        .predict = predict_fa2,
        .shape = shape_tensor,
        TENSOR_CORES,
    },
    {
        .name = "async",
        .idea = "two stages: the next tile is copied meanwhile",
        RUNS(async),
        .predict = predict_fa2,
        .shape = shape_tensor,
        TENSOR_CORES,
    },
    {
        .name = "exp2",
        .idea = "the scale folded into a power of 2",
        RUNS(exp2),
        .predict = predict_fa2,
        .shape = shape_power,
        TENSOR_CORES,
    },
    {
        .name = "skip",
        .idea = "masks only in tiles that need one",
        RUNS(skip),
        .predict = predict_fa2,
        .shape = shape_power,
        TENSOR_CORES,
    },
    {
        .name = "rescale",
        .idea = "O rescaled only when the maximum grew a lot",
        RUNS(rescale),
        .predict = predict_fa2,
        .shape = shape_power,
        TENSOR_CORES,
    },
    {
        .name = "budget",
        .idea = "tile sizes that fit the registers: --br, --bc",
        RUNS(budget),
        .predict = predict_fa2,
        .tiles = budget_tiles,
        TENSOR_CORES,
    },
    {
        .name = "wgmma",
        .idea = "Hopper: TMA copies and warpgroup MMA",
        RUNS(wgmma),
        .predict = predict_wgmma,
        .shape = shape_hopper,
        TENSOR_CORES,
        .compute_capability = 90,
    },
    {
        .name = "roles",
        .idea = "a producer loads tiles, consumers compute",
        RUNS(roles),
        .predict = predict_boxes,
        .shape = shape_roles,
        TENSOR_CORES,
        .compute_capability = 90,
    },
    {
        .name = "overlap",
        .idea = "softmax placed before the wait for a product",
        RUNS(overlap),
        .predict = predict_boxes,
        .shape = shape_roles,
        TENSOR_CORES,
        .compute_capability = 90,
    },
    {
        .name = "pingpong",
        .idea = "two consumers alternate on the tensor cores",
        RUNS(pingpong),
        .predict = predict_boxes,
        .shape = shape_roles,
        TENSOR_CORES,
        .compute_capability = 90,
    },
    {
        .name = "persistent",
        .idea = "persistent blocks take the longest tile left",
        RUNS(persistent),
        .predict = predict_boxes,
        .shape = shape_roles,
        TENSOR_CORES,
        .stores = STORES_COUNTERS,
        .compute_capability = 90,
    },
    {
        .name = "store",
        .idea = "O leaves by the TMA, from shared memory",
        RUNS(store),
        .predict = predict_boxes,
        .shape = shape_store,
        TENSOR_CORES,
        .stores = STORES_COUNTERS,
        .compute_capability = 90,
    },
    {
        .name = "complete",
        .idea = "every option but --softcap",
        RUNS(complete),
        .formula = "2 d / key + …",
        .formula_16 = "d / key + …",
        .predict = predict_complete,
        .shape = shape_fa2,
        .tiles = complete_tiles,
        .f32 = { .most = 128 },
        .f16 = { .only = { 32, 64, 96, 128, 256 } },
        .supports = SUPPORTS_EVERYTHING | SUPPORTS_LSE,
    },
};

const struct step_table table = { kernels, sizeof kernels / sizeof kernels[0], .first = 1,
                                  .width = 10 };

const struct chapter chapter = {
    .program = {
        .chapter = 6,
        .name = "06_flash_tiled_cuda",
        .summary = "attention by tiles in CUDA, on a GPU or on a CPU that stands in for one",
        .example = "--n-q 203 --n-k 113 --d 64 --heads 4 --kv-heads 2 --causal --step all",
    },
    .number = "06",
    .title = "Flash attention, tiled",
    .idea = "in CUDA: a thread for every row and key",
    .next = "07_backward: gradients, by computing again instead of storing",
    .table = &table,
    .unsupported = step_unsupported_here,
};
