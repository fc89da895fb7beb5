#include "common/program/attention_load.h"

#include <math.h>

/* The length of the longest of n rows of d numbers, of those that are finite. */
static double longest_row(const float *x, size_t n, size_t d)
{
    double longest = 0.0;
    for (size_t i = 0; i < n; i++) {
        double squares = 0.0;
        for (size_t c = 0; c < d; c++)
            squares += (double)x[i * d + c] * (double)x[i * d + c];
        if (isfinite(squares))
            longest = fmax(longest, sqrt(squares));
    }
    return longest;
}

void attention_expect_scores(const struct attention_input *input, const struct options *options,
                             double most)
{
    const struct attention *p = &input->p;
    const double largest = fmax(1.0, fabs((double)p->scale)) *
                           longest_row(input->Q, attention_rows(p), p->d) *
                           longest_row(input->K, p->B * p->Hkv * p->Nk, p->d);
    if (largest > most)
        options_fail(options->q && !options->scale_given ? options->q : "--scale",
                     "expected scores scale q.k of at most %.2g, found up to %.2g", most, largest);
}
