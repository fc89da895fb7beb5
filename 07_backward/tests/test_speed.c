/*
 * The ladder of --bench, small, and the pieces.
 */
#include "07_backward/fast/pieces.h"
#include "07_backward/program/speed.h"
#include "common/tests/ladder_output.h"
#include "common/tests/test.h"

#include <math.h>
#include <string.h>

static void run_ladder(const struct options *o)
{
    bench_ladder(16, 0.0, o);
}

TEST(ladder, has_every_step_in_every_case_and_ends_with_the_machine)
{
    const struct command c = ladder_output(run_ladder);
    const char *const parts[] = {
        "Ladder",
        "one head, N = 16;",
        "d 64           causal            d 128           causal\n",
        "1 standard        1 ",
        "4 fa2             1 ",
        "complete        1 ",
        "complete        ",
        "Pieces",
        "d 64      d 128\n",
        "five products out of the first cache ",
        "with N = 128\n",
        "complete, of the peak ",
        "chapter,kernel,dtype,batch,heads,n,d,causal,direction,threads\n",
        "07,standard,f32,1,1,16,64,0,backward,1\n07,fa2,f32,1,1,16,64,0,backward,1\n",
        "07,complete,f32,1,1,16,64,0,backward,1\n07,complete,f32,1,1,16,64,0,backward,",
        "07,complete,f32,1,1,16,64,1,backward,1\n07,complete,f32,1,1,16,64,1,backward,",
        "07,complete,f32,1,1,16,128,0,backward,1\n07,complete,f32,1,1,16,128,0,backward,",
        "07,complete,f32,1,1,16,128,1,backward,1\n07,complete,f32,1,1,16,128,1,backward,",
        NULL,
    };
    assert_ladder_output(&c, parts);
}

TEST(pieces, take_time_and_leave_gradients_as_complete_has_them)
{
    struct layer layer = layer_random(attention_of(1, 1, 1, 130, 130, 72), 1);
    const struct attention *p = &layer.input.p;
    struct result r = result_new(p),
                  expected = step_run(&steps[COMPLETE], &layer, (struct tile_size){ 64, 128 });
    double share[BACKWARD_PIECES];
    for (int k = 0; k < BACKWARD_PIECES; k++)
        share[k] = (double)NAN;
    backward_pieces_measure(p, backward_input_of(&layer.input, &layer.kept, layer.dO),
                            result_gradients(&r), 0.0, share);
    for (int k = 0; k < BACKWARD_PIECES; k++)
        cr_assert(share[k] > 0.0 && isfinite(share[k]), "%s: %g", backward_piece_names[k],
                  share[k]);
    for (int k = 0; k < GRADIENTS; k++)
        cr_assert(memcmp(r.of[k], expected.of[k], 130 * 72 * sizeof(float)) == 0, "gradient %d", k);
    result_free(&expected);
    result_free(&r);
    layer_free(&layer);
}

/* The first number behind the words. */
static double number_behind(const char *text, const char *words)
{
    const char *at = strstr(text, words);
    cr_assert(at, "%s: not in\n%s", words, text);
    return strtod(at + strlen(words), NULL);
}

TEST(pieces, add_up)
{
    const struct command c = ladder_output(run_ladder);
    const char *const pieces = strstr(c.out, "Pieces"), *const whole =
                                                            strstr(c.out, "with N = 128");
    cr_assert(pieces && whole, "%s", c.out);
    const double sum = number_behind(pieces, "S, P, dP, dS, dV, dK ") +
                       number_behind(pieces, " dQ ") +
                       number_behind(pieces, "dK, dV back ") / 2.0;  // 2 tiles of queries
    const double told = number_behind(whole, "one after the other "),
                 took = number_behind(whole, "complete ");
    cr_assert(fabs(told - sum) < 0.2, "%g, not %g", told, sum);
    const double of_peak = number_behind(whole, "of the peak ");
    cr_assert(fabs(of_peak - 1e4 / took) <= 0.01 * 1e4 / took, "%g, not %g", of_peak, 1e4 / took);
}
