/*
 * Runs one step for a simulated cache (common/tools/tables.py).
 *
 *     cachegrind STEP N D M RUNS     runs the step RUNS times, on random numbers
 *     cachegrind STEP N D M count    prints its counted accesses
 *
 * Tiles suit a fast memory of M elements. Nothing is checked here.
 */
#include "04_flash_no_tiling/standard_attention.h"
#include "05_flash_tiled_cpu/steps/steps.h"
#include "common/cpu/memory.h"
#include "common/measure/traffic.h"
#include "common/measure/watch.h"
#include "common/problem/attention_input.h"
#include "common/program/option_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

DECLARE_WATCHED(standard_attention);
attention_step standard;
DECLARE_WATCHED(standard);
DECLARE_WATCHED(fa1);
DECLARE_WATCHED(fa2);

static void chapter_04(const struct attention *p, struct tile_size size, struct tensors x)
{
    (void)size;
    standard_attention(x.Q, x.K, x.V, x.O, p->Nq, p->Nk, p->d, p->scale);
}

static void chapter_04_watched(const struct attention *p, struct tile_size size, struct tensors x)
{
    (void)size;
    WATCHED(standard_attention)(x.Q, x.K, x.V, x.O, p->Nq, p->Nk, p->d, p->scale);
}

static const struct candidate {
    const char *name;
    attention_step *run, *watched;
    struct tile_size (*size)(size_t M, size_t d);
} candidates[] = {
    { "row_by_row", chapter_04, chapter_04_watched, standard_size },
    { "standard", standard, WATCHED(standard), standard_size },
    { "fa1", fa1, WATCHED(fa1), fa1_size },
    { "fa2", fa2, WATCHED(fa2), fa2_size },
};

static const struct candidate *find(const char *name)
{
    for (size_t k = 0; k < sizeof candidates / sizeof candidates[0]; k++)
        if (strcmp(candidates[k].name, name) == 0)
            return &candidates[k];
    options_fail("STEP", "expected row_by_row, standard, fa1 or fa2, found '%s'", name);
}

static size_t number(const char *what, const char *text)
{
    return (size_t)option_whole_number(what, text, 1, 65536);
}

static void count(const struct candidate *who, const struct attention_input *input,
                  struct tile_size size, float *O)
{
    const struct attention *p = &input->p;
    traffic_watch("Q", input->Q, attention_query_elements(p));
    traffic_watch("K", input->K, attention_key_elements(p));
    traffic_watch("V", input->V, attention_key_elements(p));
    traffic_watch("O", O, attention_query_elements(p));
    who->watched(p, size, tensors_of(input, O, NULL));
    const struct traffic all = traffic_total();
    printf("%zu\n", all.loads + all.stores);
}

int main(int argc, char **argv)
{
    static const struct program program = { .name = "cachegrind" };
    options_program(&program, argv[0]);
    if (argc != 6)
        options_fail("usage", "cachegrind STEP N D M RUNS, or count instead of RUNS");
    const struct candidate *who = find(argv[1]);
    const size_t N = number("N", argv[2]), d = number("D", argv[3]), M = number("M", argv[4]);
    const bool counting = strcmp(argv[5], "count") == 0;
    const size_t runs = counting ? 0 : number("RUNS", argv[5]);
    struct attention_input input = attention_input_random(attention_of(1, 1, 1, N, N, d), 1);
    float *O = allocate(N * d, sizeof *O, "O");
    if (counting)
        count(who, &input, who->size(M, d), O);
    for (size_t k = 0; k < runs; k++)
        who->run(&input.p, who->size(M, d), tensors_of(&input, O, NULL));
    free(O);
    attention_input_free(&input);
    options_flush();
    return EXIT_VERIFIED;
}
