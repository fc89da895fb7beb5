/*
 * The table of the chapter's kernels, in order: STEP(constant, function, what a struct step says of it). Each is a .cu file with
 * one idea more than the one before. The table is included where STEP has a meaning, as in program/table.c.
 */
// clang-format off

STEP(NAIVE, naive,
     .idea = "three kernels, S and P in global memory",
     .formula = "(4 d + 5) a pair + …",
     .predict = predict_naive,
     .shape = shape_naive,
     .f32 = { .only = { 16, 32, 64, 96, 128 } },
     .supports = SHAPES,
     .stores = STORES_SCORES)

STEP(FA1, fa1,
     .idea = "tiles in shared memory, a block a head",
     .formula = "Tc (3 Nq d + 4 Nq) + …",
     .predict = predict_fa1,
     .shape = shape_fa1,
     .f32 = { .only = { 16, 32, 64, 96, 128 } },
     .supports = SHAPES,
     .stores = STORES_STATISTICS)

STEP(FA2, fa2,
     .idea = "a block a tile of queries, sums in registers",
     .formula = "2 d a key + …",
     .predict = predict_fa2,
     .shape = shape_fa2,
     .f32 = { .only = { 16, 32, 64, 96, 128 } },
     .supports = SHAPES)

STEP(MMA, mma,
     .idea = "tensor cores: 16-bit inputs, sums in float32",
     .formula = "d a key + …",
     .predict = predict_tensor,
     .shape = shape_tensor,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES)

STEP(SWIZZLE, swizzle,
     .idea = "no two lanes wait for a bank",
     .formula = "d a key + …",
     .predict = predict_tensor,
     .shape = shape_tensor,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES)

STEP(ASYNC, async,
     .idea = "two stages: the next tile is on its way",
     .formula = "d a key + …",
     .predict = predict_tensor,
     .shape = shape_tensor,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES)

STEP(EXP2, exp2,
     .idea = "the scale folded into a power of 2",
     .formula = "d a key + …",
     .predict = predict_tensor,
     .shape = shape_power,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES)

STEP(SKIP, skip,
     .idea = "a mask only where tiles need one",
     .formula = "d a key + …",
     .predict = predict_tensor,
     .shape = shape_power,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES)

STEP(RESCALE, rescale,
     .idea = "O moves only when the maximum moved far",
     .formula = "d a key + …",
     .predict = predict_tensor,
     .shape = shape_power,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES)

STEP(BUDGET, budget,
     .idea = "a tile that registers hold: --br, --bc",
     .formula = "d a key + …",
     .predict = predict_tensor,
     .tiles = budget_tiles,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES)

STEP(WGMMA, wgmma,
     .idea = "Hopper: units beside the threads",
     .formula = "d a key + …",
     .predict = predict_boxes,
     .shape = shape_hopper,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES,
     .compute_capability = 90)

STEP(ROLES, roles,
     .idea = "a producer asks for tiles, consumers compute",
     .formula = "d a key + …",
     .predict = predict_boxes,
     .shape = shape_roles,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES,
     .compute_capability = 90)

STEP(OVERLAP, overlap,
     .idea = "weights are made before a product is awaited",
     .formula = "d a key + …",
     .predict = predict_boxes,
     .shape = shape_roles,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES,
     .compute_capability = 90)

STEP(PINGPONG, pingpong,
     .idea = "two consumers take turns at the tensor cores",
     .formula = "d a key + …",
     .predict = predict_boxes,
     .shape = shape_roles,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES,
     .compute_capability = 90)

STEP(PERSISTENT, persistent,
     .idea = "blocks stay, and take the longest tile that is left",
     .formula = "d a key + …",
     .predict = predict_boxes,
     .shape = shape_roles,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES,
     .stores = STORES_COUNTERS,
     .compute_capability = 90)

STEP(COMPLETE, complete,
     .idea = "every option",
     .formula = "2 d a key + …",
     .formula_16 = "d a key + …",
     .predict = predict_complete,
     .shape = shape_fa2,
     .tiles = complete_tiles,
     .f32 = { .most = 128 },
     .f16 = { .only = { 32, 64, 96, 128, 256 } },
     .supports = SUPPORTS_EVERYTHING | SUPPORTS_LSE)
