/* The chapter's steps once more, with their accesses to slow memory and their operations counted. */
#define COUNT_TRAFFIC
#define safe_softmax safe_softmax_counted
#define standard standard_counted
#define block_matmul block_matmul_counted
#define fa1 fa1_counted
#define fa1_size fa1_size_counted
#define fa2 fa2_counted
#define fa2_size fa2_size_counted
#define fa2_begin fa2_begin_counted
#define fa2_softmax fa2_softmax_counted
#define fa2_end fa2_end_counted
#define masks masks_counted
#define masks_hide masks_hide_counted
#define masks_add_product masks_add_product_counted
#define dropout dropout_counted
#define dropout_weigh dropout_weigh_counted
#define dropout_see dropout_see_counted
#define softcap softcap_counted
#define split_kv split_kv_counted
#define split_combine split_combine_counted
#define splits_keep splits_keep_counted
#define splits_finish splits_finish_counted
#define standard_size standard_size_counted
#include "05_flash_tiled_cpu/steps/block_matmul.c"
#include "05_flash_tiled_cpu/steps/dropout.c"
#include "05_flash_tiled_cpu/steps/fa1.c"
#include "05_flash_tiled_cpu/steps/fa2.c"
#include "05_flash_tiled_cpu/steps/masks.c"
#include "05_flash_tiled_cpu/steps/softcap.c"
#include "05_flash_tiled_cpu/steps/split_kv.c"
#include "05_flash_tiled_cpu/steps/standard.c"
