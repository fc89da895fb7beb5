/* The table of the chapter's kernels. */
#include "chapter.h"
#include "kernels/tiles.h"

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

static struct shape shape_power(const struct attention *p)
{
    struct shape shape = shape_tensor(p);
    shape.Bc = POWER_BC(p->d);
    return shape;
}

static struct shape shape_complete(const struct attention *p)
{
    if (p->dtype == DTYPE_F32)
        return shape_fa2(p);
    const size_t warps = COMPLETE16_WARPS(p->d), Br = 16 * warps * COMPLETE16_BANDS(p->d);
    return (struct shape){ p->B * p->H * tiles_in(p->Nq, Br), 32 * warps, Br, COMPLETE16_BC(p->d) };
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
    [ASYNC3] = {
        .name = "async3",
        .idea = "three stages: two tiles are",
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
    [COMPLETE] = {
        .name = "complete",
        .idea = "every option",
        .shape = shape_complete,
        .predict = predict_complete,
        .formula = "2 d a key + …",
        .options = true,
    },
};
