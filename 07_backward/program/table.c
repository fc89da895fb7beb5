/* The table of the chapter's steps. */
#include "07_backward/program/chapter.h"

static struct tile_size one_pair(size_t M, size_t d)
{
    (void)M, (void)d;
    return (struct tile_size){ 1, 1 };
}

const struct step steps[STEPS] = {
    [STANDARD] = {
        .name = "standard",
        .idea = "S, P, dP and dS stored, five products",
        .formula = "14 Nq Nk + …",
        .run = backward_standard,
        .counted = backward_standard_counted,
        .size = standard_size,
        .predict = predict_standard,
    },
    [RECOMPUTE] = {
        .name = "recompute",
        .idea = "P again from L, nothing of size N^2",
        .formula = "6 d a pair + …",
        .run = backward_recompute,
        .counted = backward_recompute_counted,
        .size = one_pair,
        .predict = predict_recompute,
    },
    [FA1] = {
        .name = "fa1",
        .idea = "tiles, K and V outside; dropout drawn again",
        .formula = "5 Tc Nq d + …",
        .run = backward_fa1,
        .counted = backward_fa1_counted,
        .size = fa1_size,
        .predict = predict_fa1,
        .dropout = true,
    },
    [FA2] = {
        .name = "fa2",
        .idea = "L and D are all a query needs",
        .formula = "4 Tc Nq d + …",
        .run = backward_fa2,
        .counted = backward_fa2_counted,
        .size = fa1_size,
        .predict = predict_fa2,
    },
    [SPLIT] = {
        .name = "split",
        .idea = "dK, dV and dQ in two passes, nothing shared",
        .formula = "2 Tc Nq d + 2 Tr Nk d + …",
        .run = backward_split,
        .counted = backward_split_counted,
        .size = fa1_size,
        .predict = predict_split,
    },
    [COMPLETE] = {
        .name = "complete",
        .idea = "every option, vectors, threads in a fixed order",
        .formula = "4 Tc Nq d + …",
        .run = backward_complete,
        .counted = backward_complete_counted,
        .size = fa1_size,
        .usual = { 64, 128 },
        .predict = predict_fa2,
        .dropout = true,
        .grouped_heads = true,
        .threads = true,
    },
};
