/*
 * Chapter 04, where it starts from. Attention as its formula says, with S and P stored whole.
 */
#ifndef STANDARD_ATTENTION_H
#define STANDARD_ATTENTION_H

#include <stddef.h>

/*
 * O = softmax(scale Q K^T) V for one head: Q and O (Nq, d), K and V (Nk, d), d at most 256. O may be
 * Q. Needs 2 Nq Nk elements of extra memory; without them the program ends with exit status 2.
 */
void standard_attention(const float *Q, const float *K, const float *V, float *O, size_t Nq,
                        size_t Nk, size_t d, float scale);

#endif
