/* safe_softmax.c once more, with its accesses to slow memory counted (common/measure/traffic.h). */
#define COUNT_TRAFFIC
#define safe_softmax safe_softmax_counted
#include "02_safe_softmax/safe_softmax.c"
