/*
 * The table of the chapter's steps in C, in order: STEP(constant, function, what a struct step says of it); the function's name
 * in C begins with backward_. It is included where STEP has a meaning: steps.h declares each function, the program
 * its watched build and the rows.
 */
// clang-format off

STEP(STANDARD, standard,
     .idea = "S, P, dP and dS stored, five products",
     .run = backward_standard,
     .watched = WATCHED(backward_standard),
     .formula = "14 Nq Nk + …",
     .predict = predict_standard,
     .size = standard_size,
     .supports = SUPPORTS_MASKS,
     .stores = STORES_SCORES)

STEP(RECOMPUTE, recompute,
     .idea = "P recomputed from lse, nothing of size N^2",
     .run = backward_recompute,
     .watched = WATCHED(backward_recompute),
     .formula = "6 d / pair + …",
     .predict = predict_recompute,
     .size = one_pair,
     .supports = SUPPORTS_MASKS)

STEP(FA1, fa1,
     .idea = "tiles, outer loop over K, V; dropout drawn again",
     .run = backward_fa1,
     .watched = WATCHED(backward_fa1),
     .formula = "5 Tc Nq d + …",
     .predict = predict_fa1,
     .size = fa1_size,
     .supports = SUPPORTS_MASKS | SUPPORTS_DROPOUT)

STEP(FA2, fa2,
     .idea = "each query needs only lse and D",
     .run = backward_fa2,
     .watched = WATCHED(backward_fa2),
     .formula = "4 Tc Nq d + …",
     .predict = predict_fa2,
     .size = fa1_size,
     .supports = SUPPORTS_MASKS)

STEP(SPLIT, split,
     .idea = "dK, dV and dQ in two passes, nothing shared",
     .run = backward_split,
     .watched = WATCHED(backward_split),
     .formula = "2 Tc Nq d + 2 Tr Nk d + …",
     .predict = predict_split,
     .size = fa1_size,
     .supports = SUPPORTS_MASKS)

STEP(SOFTCAP, softcap,
     .idea = "a changed score: its slope times dS",
     .run = backward_softcap,
     .watched = WATCHED(backward_softcap),
     .formula = "4 Tc Nq d + …",
     .predict = predict_fa2,
     .size = fa1_size,
     .supports = SUPPORTS_MASKS | SUPPORTS_SCORE)

STEP(COMPLETE, complete,
     .idea = "every option, vectors, threads in a fixed order",
     .run = backward_complete,
     .size = fa1_size,
     .usual = { 64, 128 },
     .supports = SUPPORTS_EVERYTHING | SUPPORTS_SCORE | SUPPORTS_THREADS)
