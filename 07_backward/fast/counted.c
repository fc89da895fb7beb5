/* complete once more, with its accesses counted, tile by tile. */
#define COUNT_TRAFFIC
#define backward_complete backward_complete_counted
#include "07_backward/fast/complete.c"
