/*
 * The chapter's kernels, in order: STEP(constant, function, fields of struct step). Includers
 * define STEP, as program/table.c does.
 */
// clang-format off

STEP(NAIVE, naive,
     .idea = "three kernels, S and P in global memory",
     .formula = "(4 d + 5) / pair + …",
     .predict = predict_naive,
     .shape = shape_naive,
     .f32 = { .only = { 16, 32, 64, 96, 128 } },
     .supports = SHAPES,
     .stores = STORES_SCORES)

STEP(FA1, fa1,
     .idea = "tiles in shared memory, one block per head",
     .formula = "Tc (3 Nq d + 4 Nq) + …",
     .predict = predict_fa1,
     .shape = shape_fa1,
     .f32 = { .only = { 16, 32, 64, 96, 128 } },
     .supports = SHAPES,
     .stores = STORES_STATISTICS)

STEP(FA2, fa2,
     .idea = "one block per tile of queries, sums in registers",
     .formula = "2 d / key + …",
     .predict = predict_fa2,
     .shape = shape_fa2,
     .f32 = { .only = { 16, 32, 64, 96, 128 } },
     .supports = SHAPES)

STEP(AHEAD, ahead,
     .idea = "the next slice is loaded during the products",
     .formula = "2 d / key + …",
     .predict = predict_fa2,
     .shape = shape_fa2,
     .f32 = { .only = { 16, 32, 64, 96, 128 } },
     .supports = SHAPES)

STEP(TURING, turing,
     .idea = "tensor cores of a T4: float16 inputs, float32 sums",
     .formula = "d / key + …",
     .predict = predict_tensor,
     .shape = shape_turing,
     .f16 = { .only = { 64, 128 } },
     .float16_only = true,
     .supports = SHAPES,
     .compute_capability = 75)

STEP(MMA, mma,
     .idea = "Ampere: products twice as long, and bfloat16",
     .formula = "d / key + …",
     .predict = predict_tensor,
     .shape = shape_tensor,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES)

STEP(SWIZZLE, swizzle,
     .idea = "no bank conflicts in shared memory",
     .formula = "d / key + …",
     .predict = predict_tensor,
     .shape = shape_tensor,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES)

STEP(ASYNC, async,
     .idea = "two stages: the next tile is copied meanwhile",
     .formula = "d / key + …",
     .predict = predict_tensor,
     .shape = shape_tensor,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES)

STEP(EXP2, exp2,
     .idea = "the scale folded into a power of 2",
     .formula = "d / key + …",
     .predict = predict_tensor,
     .shape = shape_power,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES)

STEP(SKIP, skip,
     .idea = "masks only in tiles that need one",
     .formula = "d / key + …",
     .predict = predict_tensor,
     .shape = shape_power,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES)

STEP(RESCALE, rescale,
     .idea = "O rescaled only when the maximum grew a lot",
     .formula = "d / key + …",
     .predict = predict_tensor,
     .shape = shape_power,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES)

STEP(BUDGET, budget,
     .idea = "tile sizes that fit the registers: --br, --bc",
     .formula = "d / key + …",
     .predict = predict_tensor,
     .tiles = budget_tiles,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES)

STEP(WGMMA, wgmma,
     .idea = "Hopper: TMA copies and warpgroup MMA",
     .formula = "d / key + …",
     .predict = predict_wgmma,
     .shape = shape_hopper,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES,
     .compute_capability = 90)

STEP(ROLES, roles,
     .idea = "a producer loads tiles, consumers compute",
     .formula = "d / key + …",
     .predict = predict_boxes,
     .shape = shape_roles,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES,
     .compute_capability = 90)

STEP(OVERLAP, overlap,
     .idea = "softmax placed before the wait for a product",
     .formula = "d / key + …",
     .predict = predict_boxes,
     .shape = shape_roles,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES,
     .compute_capability = 90)

STEP(PINGPONG, pingpong,
     .idea = "two consumers alternate on the tensor cores",
     .formula = "d / key + …",
     .predict = predict_boxes,
     .shape = shape_roles,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES,
     .compute_capability = 90)

STEP(PERSISTENT, persistent,
     .idea = "persistent blocks take the longest tile left",
     .formula = "d / key + …",
     .predict = predict_boxes,
     .shape = shape_roles,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES,
     .stores = STORES_COUNTERS,
     .compute_capability = 90)

STEP(STORE, store,
     .idea = "O leaves by the TMA, from shared memory",
     .formula = "d / key + …",
     .predict = predict_boxes,
     .shape = shape_store,
     .f16 = { .only = { 64, 128 } },
     .supports = SHAPES,
     .stores = STORES_COUNTERS,
     .compute_capability = 90)

STEP(COMPLETE, complete,
     .idea = "every option but --softcap",
     .formula = "2 d / key + …",
     .formula_16 = "d / key + …",
     .predict = predict_complete,
     .shape = shape_fa2,
     .tiles = complete_tiles,
     .f32 = { .most = 128 },
     .f16 = { .only = { 32, 64, 96, 128, 256 } },
     .supports = SUPPORTS_EVERYTHING | SUPPORTS_LSE)
