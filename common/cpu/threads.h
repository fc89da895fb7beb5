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

enum { MAX_THREADS = 1024 };

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

/*
 * The thread count of --threads, or OpenMP's for 0. It is capped, because OMP_NUM_THREADS can be
 * any number, and OpenMP's list of a million threads would overflow the stack.
 */
static inline void threads_begin(size_t requested)
{
    if (requested)
        threads_use(requested);
    else if (threads_in_use() > MAX_THREADS)
        threads_use(MAX_THREADS);
}

#endif
