/*
 * Chapter 07's step LESSON: in/q.npy, k.npy, v.npy, do.npy and the forward pass's o.npy, lse.npy,
 * m.npy and l.npy to out/dq.npy, dk.npy and dv.npy.
 */
#include "07_backward/steps/steps.h"
#ifndef LESSON
#define LESSON backward_fa2
#endif

#include "common/classroom/student/student.h"
#include "common/problem/attention_input.h"

#include "common/measure/traffic.h"
#include "common/program/attention_load.h"

attention_step LESSON;

static const struct program program = { .chapter = 7, .name = "student" };

static float *counted(const char *file, const char *name)
{
    struct npy array = student_read(file);
    float *x = npy_floats(&array);
    traffic_watch(name, x, array.count);
    return x;
}

static float *result(const char *name, size_t n)
{
    float *x = student_output(n);
    traffic_watch(name, x, n);
    return x;
}

int main(int argc, char **argv)
{
    const struct options o = options_parse(&program, argc, argv);
    struct attention_input in = attention_input_load(&o);
    const struct attention *p = &in.p;
    const size_t n = attention_query_elements(p), keys = attention_key_elements(p);
    const size_t queries[4] = { p->B, p->H, p->Nq, p->d },
                 others[4] = { p->B, p->Hkv, p->Nk, p->d };
    const float *dO = attention_input_dO(&in, &o);
    traffic_reset();
    traffic_watch("Q", in.Q, n);
    traffic_watch("K", in.K, keys);
    traffic_watch("V", in.V, keys);
    traffic_watch("dO", dO, n);
    const struct tensors x = {
        .Q = in.Q,
        .K = in.K,
        .V = in.V,
        .dO = dO,
        .O = counted("o.npy", "O"),
        .lse = counted("lse.npy", "lse"),
        .m = counted("m.npy", "m"),
        .l = counted("l.npy", "l"),
        .dQ = result("dQ", n),
        .dK = result("dK", keys),
        .dV = result("dV", keys),
    };
    LESSON(p, (struct tile_size){ o.br ? o.br : 16, o.bc ? o.bc : 16 }, x);
    student_write_counts();
    student_write("dq.npy", 4, queries, x.dQ);
    student_write("dk.npy", 4, others, x.dK);
    student_write("dv.npy", 4, others, x.dV);
    return 0;
}
