/*
 * OpenMP threads, or one thread if the compiler has no OpenMP.
 *
 *     PARALLEL(omp parallel for)
 *     for (…)
 */
#ifndef COMMON_THREADS_H
#define COMMON_THREADS_H

#include <stddef.h>

#if defined(_OPENMP)
#include <omp.h>
#define PARALLEL(directive) _Pragma(#directive)
#else
#define PARALLEL(directive)
#endif

static inline void threads_use(size_t count)
{
#if defined(_OPENMP)
    omp_set_num_threads((int)count);
#else
    (void)count;
#endif
}

static inline size_t thread_number(void)
{
#if defined(_OPENMP)
    return (size_t)omp_get_thread_num();
#else
    return 0;
#endif
}

static inline size_t threads_in_use(void)
{
#if defined(_OPENMP)
    return (size_t)omp_get_max_threads();
#else
    return 1;
#endif
}

#endif
