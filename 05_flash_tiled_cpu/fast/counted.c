/* complete once more, with its accesses counted, tile by tile. */
#define COUNT_TRAFFIC
#define complete complete_counted
#define splits_keep splits_keep_counted
#define splits_finish splits_finish_counted
#include "05_flash_tiled_cpu/fast/complete.c"
