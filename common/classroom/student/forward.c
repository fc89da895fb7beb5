/*
 * Chapter 04's function, or chapter 05's step LESSON: in/q.npy, k.npy and v.npy, with SINK also
 * x.npy, to out/o.npy and lse.npy.
 */
#if defined SINK
#include "05_flash_tiled_cpu/steps/sink.h"
#elif defined LESSON
#include "05_flash_tiled_cpu/steps/steps.h"
#else
#include "04_flash_no_tiling/flash_no_tiling.h"
#endif
#include "common/classroom/student/student.h"
#include "common/problem/attention_input.h"

#include "common/measure/traffic.h"
#include "common/program/attention_load.h"

#include <stdlib.h>

#ifdef LESSON
attention_step LESSON;
#endif

static const struct program program = { .chapter = 5, .name = "student" };

int main(int argc, char **argv)
{
    const struct options o = options_parse(&program, argc, argv);
    struct attention_input in = attention_input_load(&o);
    const struct attention *p = &in.p;
    const size_t n = attention_query_elements(p), keys = attention_key_elements(p);
    const size_t shape[4] = { p->B, p->H, p->Nq, p->d };
    float *O = student_output(n), *lse = student_output(attention_rows(p));
    traffic_reset();
    traffic_watch("Q", in.Q, n);
    traffic_watch("K", in.K, keys);
    traffic_watch("V", in.V, keys);
    traffic_watch("O", O, n);
    traffic_watch("lse", lse, attention_rows(p));
#if defined SINK
    struct npy sinks = student_read("x.npy");
    sink_attention(p, (struct tile_size){ o.br ? o.br : 16, o.bc ? o.bc : 16 }, npy_floats(&sinks),
                   tensors_of(&in, O, lse));
#elif defined LESSON
    LESSON(p, (struct tile_size){ o.br ? o.br : 16, o.bc ? o.bc : 16 }, tensors_of(&in, O, lse));
#else
    flash_no_tiling(p, in.Q, in.K, in.V, O, lse);
#endif
    student_write_counts();
    student_write("o.npy", 4, shape, O);
    student_write("lse.npy", 3, shape, lse);
    free(O);
    free(lse);
    attention_input_free(&in);
    return 0;
}
