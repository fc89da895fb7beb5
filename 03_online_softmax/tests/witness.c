/*
 * The counter, the formula and the machine agree on every access to slow memory.
 */
#include "witness.h"

#include "../online_softmax.h"
#include "random.h"
#include "test.h"
#include "traffic.h"

enum { LARGEST = 300 };

TEST(witness, counter_formula_and_machine_agree)
{
    static float x[LARGEST], y[LARGEST];
    random_normals(x, LARGEST, 1, 0);
    for (size_t n = 1; n <= LARGEST; n++) {
        traffic_reset();
        traffic_watch("x", x, n);
        traffic_watch("y", y, n);
        online_softmax_counted(x, y, n);
        witness_start();
        online_softmax(x, y, n);
        const struct traffic counted_x = traffic_of("x"), counted_y = traffic_of("y");
        const struct witnessed seen_x = witness_of("x"), seen_y = witness_of("y");
        cr_assert(counted_x.loads == 2 * n && counted_x.stores == 0 && counted_y.loads == 0 &&
                      counted_y.stores == n,
                  "n = %zu: the formula gives %zu loads of x and %zu stores of y, counted were %zu "
                  "and %zu",
                  n, 2 * n, n, counted_x.loads, counted_y.stores);
        cr_assert(seen_x.loads == 2 * n && seen_x.stores == 0 && seen_y.loads == 0 &&
                      seen_y.stores == n,
                  "n = %zu: counted were %zu loads of x and %zu stores of y, the machine made %zu "
                  "and %zu (and %zu stores of x, %zu loads of y)",
                  n, counted_x.loads, counted_y.stores, seen_x.loads, seen_y.stores, seen_x.stores,
                  seen_y.loads);
    }
}
