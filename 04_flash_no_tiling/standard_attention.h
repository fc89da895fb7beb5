#ifndef STANDARD_ATTENTION_H
#define STANDARD_ATTENTION_H

#include <stddef.h>

/*
 * O = softmax(scale Q K^T) V for one head: Q and O (Nq, d), K and V (Nk, d), d at most 256. O may
 * be Q. Allocates 2 Nq Nk elements.
 */
void standard_attention(const float *Q, const float *K, const float *V, float *O, size_t Nq,
                        size_t Nk, size_t d, float scale);

#endif
