/* The table of the chapter's steps. */
#include "chapter.h"

const struct step steps[STEPS] = {
    [STANDARD] = { "standard", "S and P stored, products by tiles", standard, standard_counted,
                   standard_size, predict_standard, true, false, false, "2 Tr Nk d + 6 Nq Nk + …" },
    [BLOCK_MATMUL] = { "block_matmul", "(Q K^T) V by tiles, no softmax", block_matmul,
                       block_matmul_counted, fa2_size, predict_block_matmul, false, false, false,
                       "2 Tr Nk d + 2 Nq d" },
    [FA1] = { "fa1", "tiles and the recurrence, K and V outside", fa1, fa1_counted, fa1_size,
              predict_fa1, true, false, false, "Tc (3 Nq d + 4 Nq) + …" },
    [FA2] = { "fa2", "Q outside, O divided once", fa2, fa2_counted, fa2_size, predict_fa2, true,
              false, false, "2 Tr Nk d + 2 Nq d + Nq" },
    [MASKS] = { "masks", "tiles that nobody sees are skipped", masks, masks_counted, fa2_size,
                predict_masks, true, true, false, "2 d a key + …" },
    [DROPOUT] = { "dropout", "a random choice that no tile can change", dropout, dropout_counted,
                  fa2_size, predict_masks, true, true, true, "2 d a key + …" },
    [SPLIT_KV] = { "split_kv", "keys in parts, merged at the end", split_kv, split_kv_counted,
                   fa2_size, predict_split_kv, true, true, true, "2 d a key + parts …" },
    [COMPLETE] = { "complete", "all of it, and threads", complete, complete_counted, fa2_size,
                   predict_complete, true, true, true, "2 d a key + …" },
};
