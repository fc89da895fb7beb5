#ifndef BACKWARD_TRACE_H
#define BACKWARD_TRACE_H

#include "07_backward/steps/forward.h"

/* Exits if the problem is too large to print, or modifies scores. */
void backward_trace_check(const struct attention *p);

/*
 * S, P, O, dP, D and dS per query, then dQ, dK and dV. S of masked pairs is -inf; P and dP
 * include dropout.
 */
void backward_trace(const struct lab *lab, bool csv);

#endif
