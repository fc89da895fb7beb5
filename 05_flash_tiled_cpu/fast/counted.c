/* complete once more, with its accesses counted, tile by tile. */
#define COUNT_TRAFFIC
#define complete complete_counted
#define parts_keep parts_keep_counted
#define parts_finish parts_finish_counted
#include "05_flash_tiled_cpu/fast/complete.c"
