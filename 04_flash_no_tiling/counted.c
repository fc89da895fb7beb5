/* The chapter's algorithms once more, with their accesses to slow memory counted. */
#define COUNT_TRAFFIC
#define safe_softmax safe_softmax_counted
#define standard_attention standard_attention_counted
#define flash_row_begin flash_row_begin_counted
#define flash_row_see flash_row_see_counted
#define flash_row_end flash_row_end_counted
#define flash_row flash_row_counted
#define flash_no_tiling_row flash_no_tiling_row_counted
#define flash_no_tiling flash_no_tiling_counted
#define unfused unfused_counted
#define fused fused_counted
#include "04_flash_no_tiling/flash_no_tiling.c"
#include "04_flash_no_tiling/flash_row.c"
#include "04_flash_no_tiling/fusion.c"
#include "04_flash_no_tiling/standard_attention.c"
