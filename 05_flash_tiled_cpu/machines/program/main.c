/* Chapter 05 on several ranks: mpirun -n 4 build/05_ring. */
#include "05_flash_tiled_cpu/machines/program/ranks.h"
#include "05_flash_tiled_cpu/steps/steps.h"
#include "common/cpu/memory.h"
#include "common/program/attention_load.h"
#include "common/program/attention_report.h"
#include "common/program/report.h"

#include <stdlib.h>

static const struct program program = {
    .chapter = 8,
    .name = "05_ring",
    .summary = "attention across machines: mpirun -n RANKS build/05_ring [options]",
    .example = "--n-q 203 --n-k 113 --d 40 --causal",
};

static struct expected expected_of(const struct ring *at)
{
    const struct attention *p = &at->p;
    const struct part mine = part_of(p->Nk, at->rank, at->ranks),
                      next = part_of(p->Nk, ring_after(at, 1), at->ranks), all = { .rows = p->Nk },
                      largest = { .rows = part_max_rows(p->Nk, at->ranks) };
    const size_t rows = p->B * p->H * at->queries.rows;
    return (struct expected){
        .messages = at->ranks - 1,
        .in_turn = at->ranks - 1,
        .bytes = at->ranks > 1 ? ring_keys_bytes(at, &all) - ring_keys_bytes(at, &next) : 0,
        .held = ring_keys_bytes(at, &mine) + 2 * ring_keys_bytes(at, &largest) +
                sizeof(float) * (rows * (2 * p->d + 1) + at->queries.rows * (p->d + 1)),
    };
}

static void check_and_write(const struct ranks *ranks, const float *O, const float *lse)
{
    const struct attention_input *input = &ranks->input;
    const struct options *o = &ranks->options;
    const struct attention *p = &input->p;
    float *const one = allocate(attention_query_elements(p), sizeof *one, "O of one process");
    struct attention_check check = attention_check_begin(input, o->verify_all);
    complete(p, ranks->ring.size, tensors_of(input, one, NULL));
    float *const rows = attention_check_rows(&check, O, p->d),
                 *const statistics = attention_check_rows(&check, lse, 1),
                 *const before = attention_check_rows(&check, one, p->d);
    if (attention_check_report(&check, rows, statistics, "one process", before).right)
        attention_write(o, input, O, lse);
    attention_check_end(&check);
    free(rows);
    free(statistics);
    free(before);
    free(one);
}

int main(int argc, char **argv)
{
    struct ranks ranks = ranks_begin(&program, false, argc, argv);
    const struct ring *const r = &ranks.ring;
    const struct attention *p = &r->p;
    const struct part mine = part_of(p->Nk, r->rank, r->ranks),
                      largest = { .rows = part_max_rows(p->Nk, r->ranks) };
    const size_t rows = p->B * p->H * r->queries.rows, travels = ring_keys_bytes(r, &largest);
    float *const Q = ranks_allocate(&ranks, rows * p->d, sizeof *Q, "Q");
    float *const O = ranks_allocate(&ranks, rows * p->d, sizeof *O, "O");
    float *const lse = ranks_allocate(&ranks, rows, sizeof *lse, "lse");
    float *const block = ranks_allocate(&ranks, r->queries.rows * (p->d + 1), sizeof *block, "O");
    void *const keys = ranks_allocate(&ranks, ring_keys_bytes(r, &mine), 1, "K and V");
    unsigned char *const travelling[2] = { ranks_allocate(&ranks, travels, 1, "K and V"),
                                           ranks_allocate(&ranks, travels, 1, "K and V") };
    const uint64_t sum = ranks_read(&ranks, Q, NULL, keys);

    const struct options *o = &ranks.options;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = MPI_Wtime();
    wire_begin(1e-6 * (double)o->latency, 1e3 * (double)o->bandwidth);
    ring_forward(r, Q, keys, (unsigned char **)travelling, block, O, lse);
    const struct wire wire = wire_end();
    const double seconds = MPI_Wtime() - begun;

    float *const whole_O = ranks_gather(&ranks, p->B * p->H, p->Nq, p->d, O);
    float *const whole_lse = ranks_gather(&ranks, p->B * p->H, p->Nq, 1, lse);
    if (r->rank == 0) {
        report_start("05", "Ring attention", "chapter 03's merge, across machines", o->quiet);
        attention_describe(&ranks.input);
    }
    ranks_check_sums(&ranks, sum);
    ranks_print(&ranks, &wire, seconds, expected_of);
    int status = EXIT_VERIFIED;
    if (r->rank == 0) {
        check_and_write(&ranks, whole_O, whole_lse);
        status = report_finish();
    }
    void *const all[] = {
        Q, O, lse, block, keys, travelling[0], travelling[1], whole_O, whole_lse
    };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        free(all[k]);
    return ranks_end(&ranks, status);
}
