/*
 * The table of chapters 04 and 05. A chapter's options before "--" describe the input. Among the
 * outputs after it, --cannot O.npy REASON is a stage that refused the input. Without outputs we
 * only check that the input is usable.
 */
#include "common/check/attention_check.h"
#include "common/cpu/memory.h"
#include "common/program/attention_load.h"
#include "common/tools/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct program program = {
    .chapter = 5,
    .name = "compare",
    .summary = "outputs of attention for one input; these options say which",
    .example = "--attention --q q.npy --k k.npy --v v.npy --causal -- o.npy",
};

static struct options input_options(int end, char **argv)
{
    argv[1] = argv[0];
    argv[end] = NULL;
    const struct options o = options_parse(&program, end - 1, argv + 1);
    const char *other = o.output    ? "--output"
                        : o.lse     ? "--lse"
                        : o.csv     ? "--csv"
                        : o.trace   ? "--trace"
                        : o.traffic ? "--traffic"
                        : o.bench   ? "--bench"
                        : o.quiet   ? "--quiet"
                                    : NULL;
    if (other)
        options_fail(other, "expected only options that say what the input is");
    return o;
}

/* The coordinates of element `index` of the rows `rows` in the whole result. */
static const char *place_in(const struct attention_check *check, const size_t *rows, size_t index,
                            char place[100])
{
    const size_t d = check->shape[3];
    return coordinates_of(rows[index / d] * d + index % d, 4, check->shape, place, 100);
}

/* Prints the row of an output, and keeps its checked rows in `before`. Is the output right? */
static bool judge(const char *path, const struct attention_input *input,
                  const struct attention_check *check, struct exact *before, bool first)
{
    const struct attention *p = &input->p;
    const size_t n = check->count * p->d;
    char error_place[100], step_place[100], fault_place[100];
    float *whole = compare_output(path, input->dims, check->shape + 4 - input->dims);
    float *O = attention_check_rows(check, whole, p->d);
    free(whole);
    const struct comparison c = attention_verdict_of(check, O, NULL, NULL, NULL).reference;
    struct compare_row row = {
        .path = path,
        .first = first,
        .error = c.difference,
        .error_place = place_in(check, c.axes.rows, c.difference.worst, error_place),
    };
    const size_t fault = c.difference.mismatched ? c.difference.worst : c.difference.farthest;
    row.fault_place = place_in(check, c.axes.rows, fault, fault_place);
    row.fault_got = (double)c.got[fault];
    row.fault_expected = c.expected[fault].value;
    if (!first)
        row.step = difference_between(O, before, check->count, p->d);
    row.step_place = place_in(check, check->rows, row.step.worst, step_place);
    const bool right = compare_print(&row);
    for (size_t k = 0; k < n; k++)
        before[k] = rounding_between(check->O[k], O[k]);
    free(O);
    return right;
}

static void describe(const struct attention_input *input, const struct attention_check *check)
{
    const struct attention *p = &input->p;
    printf("%s\nB %zu, H %zu (%zu for K and V), Nq %zu, Nk %zu, d %zu, scale %.4g\n", input->origin,
           p->B, p->H, p->Hkv, p->Nq, p->Nk, p->d, (double)p->scale);
    if (check->count < attention_rows(p))
        printf("checked at %zu of %zu rows; --verify=all checks every row\n", check->count,
               attention_rows(p));
    compare_heading("b, h, i, c");
}

int compare_attention(int argc, char **argv)
{
    int end = 2, judged = 0, wrong = 0;
    while (end < argc && strcmp(argv[end], "--") != 0)
        end++;
    if (end == argc)
        options_fail("--attention", "expected -- between the input's options and the outputs");
    const struct options options = input_options(end, argv);
    struct attention_input input = attention_input_load(&options);
    if (end + 1 == argc) {
        attention_input_free(&input);
        return EXIT_VERIFIED;
    }
    struct attention_check check = attention_check_begin(&input, options.verify_all);
    struct exact *before = allocate(check.count * input.p.d, sizeof *before, "the stage before");
    describe(&input, &check);
    for (int k = end + 1; k < argc; k++) {
        if (strcmp(argv[k], "--cannot") != 0) {
            wrong += !judge(argv[k], &input, &check, before, judged++ == 0);
        } else if (k + 2 < argc) {
            compare_print_unable(argv[k + 1], argv[k + 2]);
            k += 2;
        } else {
            options_fail("--cannot", "expected an output and a reason after it");
        }
    }
    free(before);
    attention_check_end(&check);
    attention_input_free(&input);
    if (judged == 0)
        options_fail("outputs", "expected one, but no stage can do what is asked");
    options_flush();
    return wrong ? EXIT_DISAGREES : EXIT_VERIFIED;
}
