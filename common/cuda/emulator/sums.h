/*
 * Eight columns of a product at once: CPU tests spend much time here, and a sanitizer checks a
 * vector of two as one object, but each element of an array.
 */
#ifndef COMMON_CUDA_SUMS_H
#define COMMON_CUDA_SUMS_H

namespace cpu
{

typedef double two_doubles __attribute__((vector_size(2 * sizeof(double))));

struct eight {
    two_doubles of[4];

    void set(unsigned column, double x)
    {
        of[column / 2][column % 2] = x;
    }

    double get(unsigned column) const
    {
        return of[column / 2][column % 2];
    }

    /* Unrolled, so that the sums stay in registers. */
    void add(double a, const eight &b)
    {
        of[0] += a * b.of[0];
        of[1] += a * b.of[1];
        of[2] += a * b.of[2];
        of[3] += a * b.of[3];
    }
};

}  // namespace cpu

#endif
