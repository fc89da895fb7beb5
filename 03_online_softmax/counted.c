/* online_softmax.c once more, with its accesses to slow memory counted (common/measure/traffic.h). */
#define COUNT_TRAFFIC
#define online_statistics online_statistics_counted
#define online_softmax online_softmax_counted
#include "03_online_softmax/online_softmax.c"
