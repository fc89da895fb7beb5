/*
 * The chapter's kernels, in order: STEP(constant, function, fields of struct step). The command
 * line prepends cuda_, because steps in C have the same names. Launchers are backward_standard_cpu,
 * …_instrumented and …_gpu.
 */
// clang-format off

STEP(CUDA_STANDARD, standard,
     .idea = "P and dS stored in global memory",
     .formula = "(10 d + 11) / pair + …",
     .predict = predict_cuda_standard,
     .f32 = { .most = 128 },
     .supports = SUPPORTS_CAUSAL,
     .stores = STORES_SCORES)

STEP(CUDA_RECOMPUTE, recompute,
     .idea = "P from lse, dQ by atomic additions",
     .formula = "5 Tc Nq d + 3 Tr Nk d + …",
     .predict = predict_cuda_recompute,
     .f32 = { .most = 128 },
     .supports = SUPPORTS_CAUSAL,
     .any_order = true)

STEP(CUDA_DETERMINISTIC, deterministic,
     .idea = "two kernels, the same bits every time",
     .formula = "5 Tc Nq d + 5 Tr Nk d + …",
     .predict = predict_cuda_deterministic,
     .f32 = { .most = 128 },
     .supports = SUPPORTS_CAUSAL)

STEP(CUDA_MMA_SPLIT, mma_split,
     .idea = "deterministic on tensor cores, in 16 bits",
     .formula = "Tc Nq d + Tr Nk d + …",
     .predict = predict_cuda_mma_split,
     .f16 = { .only = { 64, 128 } },
     .supports = SUPPORTS_CAUSAL)

STEP(CUDA_MMA, mma,
     .idea = "… in one kernel, dS through shared memory",
     .formula = "3 Tc Nq d + …",
     .predict = predict_cuda_mma,
     .f16 = { .only = { 64, 128 } },
     .supports = SUPPORTS_CAUSAL,
     .any_order = true)

STEP(CUDA_WGMMA, wgmma,
     .idea = "Hopper: TMA copies and warpgroup MMA",
     .formula = "3 Tc Nq d + …",
     .predict = predict_cuda_boxes,
     .f16 = { .only = { 64, 128 } },
     .supports = SUPPORTS_CAUSAL | SUPPORTS_GROUPED_HEADS,
     .compute_capability = 90,
     .any_order = true)

STEP(CUDA_BULK, bulk,
     .idea = "… and bulk additions to dQ, four boxes a tile",
     .formula = "3 Tc Nq d + …",
     .predict = predict_cuda_boxes,
     .f16 = { .only = { 64, 128 } },
     .supports = SUPPORTS_CAUSAL | SUPPORTS_GROUPED_HEADS,
     .compute_capability = 90,
     .any_order = true)

STEP(CUDA_ROLES, roles,
     .idea = "… and warps with roles, one barrier a round",
     .formula = "3 Tc Nq d + …",
     .predict = predict_cuda_boxes,
     .f16 = { .only = { 64, 128 } },
     .supports = SUPPORTS_CAUSAL | SUPPORTS_GROUPED_HEADS,
     .compute_capability = 90,
     .any_order = true)

STEP(CUDA_STORE, store,
     .idea = "… and gradients in 16 bits, stored by TMA",
     .formula = "3 Tc Nq d + …",
     .predict = predict_cuda_store,
     .f16 = { .only = { 64, 128 } },
     .supports = SUPPORTS_CAUSAL | SUPPORTS_GROUPED_HEADS,
     .stores = STORES_SUMS,
     .compute_capability = 90,
     .any_order = true)

STEP(CUDA_ORDERED, ordered,
     .idea = "roles in a fixed order: the same bits every time",
     .formula = "3 Tc Nq d + …",
     .predict = predict_cuda_boxes,
     .f16 = { .only = { 64, 128 } },
     .supports = SUPPORTS_CAUSAL | SUPPORTS_GROUPED_HEADS,
     .stores = STORES_COUNTERS,
     .compute_capability = 90)

STEP(CUDA_COMPLETE, complete,
     .idea = "every option but --softcap",
     .formula = "5 Tc Nq d + 5 Tr Nk d + …",
     .predict = predict_cuda_complete,
     .f32 = { .most = 128 },
     .f16 = { .only = { 32, 64, 96, 128, 256 } },
     .supports = SUPPORTS_EVERYTHING)
