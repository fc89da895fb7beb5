/*
 * The threads of `complete` under ThreadSanitizer: a plain program, because that does not go with
 * Criterion. Ends with 0 if the results are those of one thread; races are the sanitizer's to report.
 */
#include "05_flash_tiled_cpu/steps/steps.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/problem/attention_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* O and then lse, computed by `threads` threads; free() it. */
static float *run(const struct attention_input *input, struct tile_size size, size_t threads)
{
    const struct attention *p = &input->p;
    const size_t n = attention_query_elements(p);
    float *O = allocate(n + attention_rows(p), sizeof *O, "O and lse");
    threads_use(threads);
    complete(p, size, tensors_of(input, O, O + n));
    return O;
}

static int differs(struct attention p, struct tile_size size)
{
    struct attention_input input = attention_input_random(p, 1);
    const size_t bytes = (attention_query_elements(&p) + attention_rows(&p)) * sizeof(float);
    float *one = run(&input, size, 1);
    int wrong = 0;
    for (int repeat = 0; repeat < 5; repeat++) {
        float *several = run(&input, size, 4);
        wrong |= memcmp(one, several, bytes) != 0;
        free(several);
    }
    free(one);
    attention_input_free(&input);
    return wrong;
}

int main(void)
{
    struct attention many = attention_of(2, 4, 2, 53, 41, 8);  // tiles of many heads
    struct attention few = attention_of(1, 1, 1, 3, 1000, 8);  // splits of the keys
    many.causal = true;
    attention_set_dropout(&many, 0.1, 1);
    const int wrong =
        differs(many, (struct tile_size){ 8, 8 }) | differs(few, (struct tile_size){ 2, 16 });
    printf("%s\n", wrong ? "the result depends on the number of threads" : "1 and 4 threads agree");
    return wrong;
}
