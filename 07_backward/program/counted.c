/* The chapter's steps once more, with their accesses to slow memory and their operations counted. */
#define COUNT_TRAFFIC
#define backward_standard backward_standard_counted
#define backward_recompute backward_recompute_counted
#define backward_fa1 backward_fa1_counted
#define backward_fa2 backward_fa2_counted
#define backward_split backward_split_counted
#define backward_softcap backward_softcap_counted
#define fa2_D fa2_D_counted
#define fa2_load_queries fa2_load_queries_counted
#define fa2_pairs fa2_pairs_counted
#include "07_backward/steps/fa1.c"
#include "07_backward/steps/fa2.c"
#include "07_backward/steps/recompute.c"
#include "07_backward/steps/softcap.c"
#include "07_backward/steps/split.c"
#include "07_backward/steps/standard.c"
