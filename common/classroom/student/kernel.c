/*
 * Chapter 06's kernel LESSON, on the CPU: in/q.npy, k.npy and v.npy to out/o.npy and lse.npy. The
 * counting build reports shared memory's cycles, and the fewest possible.
 */
#include "06_flash_tiled_cuda/kernels/kernels.h"
#ifndef LESSON
#define LESSON fa2
#endif
#ifdef COUNTED
#define BUILT_AS(name) name##_instrumented
#else
#define BUILT_AS(name) name##_cpu
#endif
#define LAUNCH_OF(name) BUILT_AS(name)

#include "common/classroom/student/student.h"
#include "common/cpu/memory.h"
#include "common/cuda/cpu.h"
#include "common/problem/attention_input.h"
#include "common/program/attention_load.h"

#include <stdlib.h>

kernel_launcher LAUNCH_OF(LESSON);

/* device_memory.cpp: a device copy, named `name` in reports; and back, after all kernels. */
void *device_copy(const void *from, size_t bytes, const char *name);
void device_read(void *to, const void *array, size_t bytes);
void device_free(const void *array);

static const struct program program = { .chapter = 6, .name = "student" };

/* A NaN that no kernel produces, in both 16-bit types. */
static const uint16_t NARROW_POISON = 0x7fde;

static void *copy_of(const float *x, size_t n, const char *name)
{
    return device_copy(x, n * sizeof *x, name);
}

/* As 16-bit numbers, or poison if x is NULL. */
static void *narrow_copy_of(enum dtype type, const float *x, size_t n, const char *name)
{
    uint16_t *narrow = allocate(n, sizeof *narrow, name);
    for (size_t k = 0; k < n; k++)
        narrow[k] = x ? dtype_bits(type, x[k]) : NARROW_POISON;
    void *array = device_copy(narrow, n * sizeof *narrow, name);
    free(narrow);
    return array;
}

static void read_narrow(enum dtype type, float *O, const void *array, size_t n)
{
    uint16_t *narrow = allocate(n, sizeof *narrow, "O");
    device_read(narrow, array, n * sizeof *narrow);
    for (size_t k = 0; k < n; k++)
        if (narrow[k] != NARROW_POISON)  // else student_output's poison stays
            O[k] = dtype_number(type, narrow[k]);
    free(narrow);
}

static void write_cycles(void)
{
#ifdef COUNTED
    const struct cuda_line *lines;
    float cycles[2] = { 0.0f, 0.0f };
    const size_t n = cuda_cpu_profile(&lines);
    for (size_t k = 0; k < n; k++)
        if (lines[k].shared) {
            cycles[0] += (float)lines[k].cost;
            cycles[1] += (float)lines[k].least;
        }
    student_write("counts.npy", 1, (const size_t[]){ 2 }, cycles);
#endif
}

int main(int argc, char **argv)
{
    const struct options o = options_parse(&program, argc, argv);
    struct attention_input in = attention_input_load(&o);
    const struct attention *p = &in.p;
    const size_t n = attention_query_elements(p), keys = attention_key_elements(p);
    const size_t rows = attention_rows(p), shape[4] = { p->B, p->H, p->Nq, p->d };
    float *O = student_output(n), *lse = student_output(rows);
    const bool wide = p->dtype == DTYPE_F32;
    struct device_arrays a = {
        .lse = copy_of(lse, rows, "lse"),
        .m = copy_of(lse, rows, "m"),
        .l = copy_of(lse, rows, "l"),
    };
    if (wide) {
        a.Q = copy_of(in.Q, n, "Q");
        a.K = copy_of(in.K, keys, "K");
        a.V = copy_of(in.V, keys, "V");
        a.O = copy_of(O, n, "O");
    } else {
        a.Q16 = narrow_copy_of(p->dtype, in.Q, n, "Q");
        a.K16 = narrow_copy_of(p->dtype, in.K, keys, "K");
        a.V16 = narrow_copy_of(p->dtype, in.V, keys, "V");
        a.O16 = narrow_copy_of(p->dtype, NULL, n, "O");
    }
    cuda_cpu_threads(1);  // no more threads are allowed
#ifdef COUNTED
    cuda_cpu_watch(CUDA_WATCH_PROFILE);
#endif
    LAUNCH_OF(LESSON)(p, &a, NULL);
    if (wide)
        device_read(O, a.O, n * sizeof *O);
    else
        read_narrow(p->dtype, O, a.O16, n);
    device_read(lse, a.lse, rows * sizeof *lse);
    student_write("o.npy", 4, shape, O);
    student_write("lse.npy", 3, shape, lse);
    write_cycles();
    const void *const arrays[] = {
        a.Q, a.K, a.V, a.O, a.Q16, a.K16, a.V16, a.O16, a.lse, a.m, a.l
    };
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        if (arrays[k])
            device_free(arrays[k]);
    attention_input_free(&in);
    free(O);
    free(lse);
    return 0;
}
