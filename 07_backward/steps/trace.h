/*
 * The gradients of a small problem step by step: every matrix of the derivation, printed.
 */
#ifndef BACKWARD_TRACE_H
#define BACKWARD_TRACE_H

#include "07_backward/steps/forward.h"

/* Ends the program unless the problem is small enough to be printed. */
void backward_trace_check(const struct attention *p);

/*
 * S, P, O, dP, D and dS of each query, then dQ, dK and dV; as comma-separated values, with a header, if `csv`.
 * Of pairs that do not count S is -inf. With dropout P is as the forward pass used it.
 */
void backward_trace(const struct lab *lab, bool csv);

#endif
