/*
 * Chapter 05's sink gradient: in/states.npy, per head its sink, and lse and D of its queries, to
 * out/y.npy.
 */
#include "05_flash_tiled_cpu/steps/sink.h"
#include "common/classroom/student/student.h"

int main(void)
{
    struct npy states = student_read("states.npy");
    const size_t heads = states.shape[0], length = states.shape[1], n = (length - 1) / 2;
    const float *x = npy_floats(&states);
    float *y = student_output(heads);
    for (size_t h = 0; h < heads; h++) {
        const float *const lse = x + h * length + 1;
        y[h] = sink_gradient(x[h * length], lse, lse + n, n);
    }
    student_write("y.npy", 1, &heads, y);
    return 0;
}
