/*
 * The threads of `complete` under ThreadSanitizer: a plain program, because that does not go with Criterion. Ends
 * with 0 if the results are those of one thread; races are the sanitizer's to report.
 */
#include "07_backward/program.h"
#include "07_backward/steps/forward.h"
#include "07_backward/steps/steps.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* dQ, dK and dV one after the other, computed by `threads` threads; free() them. */
static float *run(const struct attention *p, struct tile_size size, struct tensors in,
                  size_t threads)
{
    const size_t queries = attention_query_elements(p), keys = attention_key_elements(p);
    float *x = allocate(queries + 2 * keys, sizeof *x, "gradients");
    threads_use(threads);
    in.dQ = x;
    in.dK = x + queries;
    in.dV = x + queries + keys;
    backward_complete(p, size, in);
    return x;
}

static int differs(struct attention p, struct tile_size size)
{
    struct attention_input input = attention_input_random(p, 1);
    struct tensors in = tensors_of(&input, NULL, NULL);
    in.dO = input.Q;  // any will do
    forward_pass(&p, &in);
    const size_t n = attention_query_elements(&p) + 2 * attention_key_elements(&p);
    float *one = run(&p, size, in, 1);
    int wrong = 0;
    for (int repeat = 0; repeat < 5; repeat++) {
        float *several = run(&p, size, in, 4);
        wrong |= memcmp(one, several, n * sizeof *one) != 0;
        free(several);
    }
    free(one);
    forward_free(&in);
    attention_input_free(&input);
    return wrong;
}

int main(void)
{
    struct attention many = attention_of(2, 4, 2, 53, 41, 8);  // keys that heads share
    const struct attention one = attention_of(1, 1, 1, 150, 150, 8);
    many.causal = true;
    attention_set_dropout(&many, 0.1, 1);
    const int wrong =
        differs(many, (struct tile_size){ 8, 8 }) | differs(one, (struct tile_size){ 16, 32 });
    printf("%s\n", wrong ? "the result depends on the number of threads" : "1 and 4 threads agree");
    return wrong;
}
