#include "stages.h"

#include "memory.h"

#include <stdlib.h>

struct problem problem_load(const struct options *options)
{
    struct problem problem = { .input = attention_input_load(options) };
    problem.dO = attention_input_dO(&problem.input, options);
    return problem;
}

void problem_forward(struct problem *problem)
{
    problem->kept = kept_by_forward(&problem->input);
}

struct problem problem_random(struct attention p, uint64_t seed)
{
    const struct options made = { .seed = seed };
    struct problem problem = { .input = attention_input_random(p, seed) };
    problem.dO = attention_input_dO(&problem.input, &made);
    problem.kept = kept_by_forward(&problem.input);
    return problem;
}

void problem_free(struct problem *problem)
{
    kept_free(&problem->kept);
    free(problem->dO);
    attention_input_free(&problem->input);
}

const char *step_lacks(const struct step *step, const struct attention *p)
{
    if (p->dropout_threshold > 0 && !step->dropout)
        return "--dropout";
    return p->Hkv != p->H && !step->grouped_heads ? "--kv-heads" : NULL;
}

struct tile_size step_size(const struct step *step, const struct options *options, size_t d)
{
    struct tile_size size = step->usual;
    if (options->sram || size.Br == 0)
        size = step->size(options->sram ? options->sram : USUAL_M, d);
    if (options->br)
        size.Br = options->br;
    if (options->bc)
        size.Bc = options->bc;
    return size;
}

struct result result_new(const struct attention *p)
{
    const size_t queries = attention_query_elements(p), keys = attention_key_elements(p);
    struct result r = { { allocate(queries, sizeof(float), "dQ"),
                          allocate(keys, sizeof(float), "dK"),
                          allocate(keys, sizeof(float), "dV") } };
    tolerance_poison(r.of[DQ], queries);
    tolerance_poison(r.of[DK], keys);
    tolerance_poison(r.of[DV], keys);
    return r;
}

struct gradients result_gradients(const struct result *r)
{
    return (struct gradients){ r->of[DQ], r->of[DK], r->of[DV] };
}

struct result step_run(const struct step *step, const struct problem *problem,
                       struct tile_size size)
{
    const struct attention_input *input = &problem->input;
    struct result r = result_new(&input->p);
    step->run(&input->p, size, backward_input_of(input, &problem->kept, problem->dO),
              result_gradients(&r));
    return r;
}

void result_free(struct result *r)
{
    for (size_t g = 0; g < GRADIENTS; g++)
        free(r->of[g]);
    *r = (struct result){ { NULL } };
}

static const struct step *step_before(const struct step *step, const struct attention *p)
{
    while (step-- > steps)
        if (!step_lacks(step, p))
            return step;
    return NULL;
}

struct verdict step_check(const struct step *step, const struct problem *problem,
                          const struct gradient_check *check, const struct options *options,
                          const struct result *r, bool tell)
{
    const struct attention *p = &problem->input.p;
    const struct step *earlier = step_before(step, p);
    if (!earlier)
        return (struct verdict){ gradient_check_errors(check, r->of, NULL, NULL, tell), NULL };
    struct result before = step_run(earlier, problem, step_size(earlier, options, p->d));
    const struct verdict v = { gradient_check_errors(check, r->of, earlier->name, before.of, tell),
                               earlier->name };
    result_free(&before);
    return v;
}
