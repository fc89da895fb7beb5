#include "common/tests/softmax_witness.h"

#include "common/measure/traffic.h"
#include "common/problem/random.h"
#include "common/tests/test.h"
#include "common/tests/witness.h"

void assert_accesses(softmax_row *softmax, softmax_row *counted, size_t loads)
{
    enum { EVERY_SIZE = 300, LARGEST = 5000 };
    static float x[LARGEST], y[LARGEST];
    random_normals(x, LARGEST, 1, 0);
    for (size_t n = 1; n <= LARGEST; n += n < EVERY_SIZE ? 1 : 941) {
        traffic_reset();
        traffic_watch("x", x, n);
        traffic_watch("y", y, n);
        counted(x, y, n);
        witness_start();
        softmax(x, y, n);
        const struct traffic of_x = traffic_of("x"), of_y = traffic_of("y");
        const struct witnessed saw_x = witness_of("x"), saw_y = witness_of("y");
        cr_assert(of_x.loads == loads * n && of_x.stores == 0 && of_y.loads == 0 &&
                      of_y.stores == n,
                  "n = %zu: the formula gives %zu loads of x and %zu stores of y, counted were %zu "
                  "and %zu (and %zu stores of x, %zu loads of y)",
                  n, loads * n, n, of_x.loads, of_y.stores, of_x.stores, of_y.loads);
        cr_assert(saw_x.loads == loads * n && saw_x.stores == 0 && saw_y.loads == 0 &&
                      saw_y.stores == n,
                  "n = %zu: counted were %zu loads of x and %zu stores of y, the machine made %zu "
                  "and %zu (and %zu stores of x, %zu loads of y)",
                  n, of_x.loads, of_y.stores, saw_x.loads, saw_y.stores, saw_x.stores, saw_y.loads);
    }
}
