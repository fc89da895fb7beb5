/* standard_softmax.c once more, with its accesses to slow memory counted (common/measure/traffic.h). */
#define COUNT_TRAFFIC
#define standard_softmax standard_softmax_counted
#include "01_standard_softmax/standard_softmax.c"
