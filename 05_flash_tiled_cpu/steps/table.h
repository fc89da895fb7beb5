/*
 * The table of the chapter's steps, in order: STEP(constant, function, what a struct step says of it). It is included where
 * STEP has a meaning: steps.h declares each function, the program its watched build and the rows.
 */
// clang-format off

STEP(STANDARD, standard,
     .idea = "S and P stored, matrix products by tiles",
     .formula = "2 Tr Nk d + 6 Nq Nk + …",
     .runs = RUNS(standard, WATCHED(standard)),
     .predict = predict_standard,
     .size = standard_size,
     .supports = SHAPES | SUPPORTS_BR,
     .stores = STORES_SCORES)

STEP(BLOCK_MATMUL, block_matmul,
     .idea = "(Q K^T) V by tiles, no softmax",
     .formula = "2 Tr Nk d + 2 Nq d",
     .runs = RUNS(block_matmul, WATCHED(block_matmul)),
     .predict = predict_block_matmul,
     .size = fa2_size,
     .supports = SHAPES | SUPPORTS_BR,
     .is_product = true)

STEP(FA1, fa1,
     .idea = "tiles and the recurrence, outer loop over K, V",
     .formula = "Tc (3 Nq d + 4 Nq) + …",
     .runs = RUNS(fa1, WATCHED(fa1)),
     .predict = predict_fa1,
     .size = fa1_size,
     .supports = ANY_TILE | SUPPORTS_TRACE,
     .stores = STORES_STATISTICS)

STEP(FA2, fa2,
     .idea = "outer loop over Q, O divided once",
     .formula = "2 Tr Nk d + 2 Nq d + Nq",
     .runs = RUNS(fa2, WATCHED(fa2)),
     .predict = predict_fa2,
     .size = fa2_size,
     .supports = ANY_TILE | SUPPORTS_TRACE)

STEP(MASKS, masks,
     .idea = "fully masked tiles are skipped",
     .formula = "2 d / key + …",
     .runs = RUNS(masks, WATCHED(masks)),
     .predict = predict_masks,
     .size = fa2_size,
     .supports = ANY_TILE | SUPPORTS_TRACE | SUPPORTS_MASKS)

STEP(DROPOUT, dropout,
     .idea = "random weights dropped, whatever the tiles",
     .formula = "2 d / key + …",
     .runs = RUNS(dropout, WATCHED(dropout)),
     .predict = predict_masks,
     .size = fa2_size,
     .supports = ANY_TILE | SUPPORTS_TRACE | SUPPORTS_EVERYTHING)

STEP(SPLIT_KV, split_kv,
     .idea = "keys in splits, combined at the end",
     .formula = "2 d / key + splits …",
     .runs = RUNS(split_kv, WATCHED(split_kv)),
     .predict = predict_split_kv,
     .size = fa2_size,
     .supports = ANY_TILE | SUPPORTS_TRACE | SUPPORTS_EVERYTHING,
     .stores = STORES_SPLITS)

STEP(SOFTCAP, softcap,
     .idea = "a changed score, before the mask",
     .formula = "2 d / key + …",
     .runs = RUNS(softcap, WATCHED(softcap)),
     .predict = predict_masks,
     .size = fa2_size,
     .supports = ANY_TILE | SUPPORTS_TRACE | SUPPORTS_EVERYTHING | SUPPORTS_SCORE)

// ---- fast/ --------------------------------------------------------------------------------------

STEP(LOOPS, loops,
     .idea = "loops over queries, vectorized by the compiler",
     .runs = RUNS(loops, NULL),
     .size = fa2_size,
     .usual = { 32, 64 },
     .supports = SHAPES | SUPPORTS_LSE)

STEP(POLYNOMIAL, polynomial,
     .idea = "2^x by a polynomial",
     .runs = RUNS(polynomial, NULL),
     .size = fa2_size,
     .usual = { 32, 64 },
     .supports = SHAPES | SUPPORTS_LSE)

STEP(REGISTERS, registers,
     .idea = "sums in registers",
     .runs = RUNS(registers, NULL),
     .size = fa2_size,
     .usual = { 32, 64 },
     .supports = SHAPES | SUPPORTS_LSE)

STEP(BLOCK, block,
     .idea = "8 keys x 2 vectors at once, 2^x in vectors",
     .runs = RUNS(block, NULL),
     .size = fa2_size,
     .usual = { 32, 64 },
     .supports = SHAPES | SUPPORTS_LSE)

STEP(SKIP, skip,
     .idea = "causal: masked keys are skipped",
     .runs = RUNS(skip, NULL),
     .size = fa2_size,
     .usual = { 32, 64 },
     .supports = SHAPES | SUPPORTS_LSE | SUPPORTS_CAUSAL)

STEP(OVERLAP, overlap,
     .idea = "softmax interleaved with the products",
     .runs = RUNS(overlap, NULL),
     .size = fa2_size,
     .usual = { 32, 128 },
     .supports = SHAPES | SUPPORTS_LSE | SUPPORTS_CAUSAL)

STEP(THREADS, threads,
     .idea = "all cores, longest tasks first",
     .runs = RUNS(threads, NULL),
     .size = fa2_size,
     .usual = { 32, 128 },
     .supports = SHAPES | SUPPORTS_LSE | SUPPORTS_CAUSAL | SUPPORTS_THREADS)

STEP(COMPLETE, complete,
     .idea = "every option, at the speed of the last step",
     .runs = RUNS(complete, NULL),
     .size = fa2_size,
     .usual = { 128, 128 },
     .supports = ANY_TILE | SUPPORTS_EVERYTHING | SUPPORTS_SCORE | SUPPORTS_THREADS,
     .stores = STORES_SPLITS)
