/* Chapter 07 on several ranks: mpirun -n 4 build/07_ring. */
#include "05_flash_tiled_cpu/machines/program/ranks.h"
#include "07_backward/machines/ring.h"
#include "common/cpu/memory.h"
#include "common/program/attention_load.h"
#include "common/program/attention_report.h"
#include "common/program/report.h"

#include <stdlib.h>

static const struct program program = {
    .chapter = 9,
    .name = "07_ring",
    .summary = "gradients across machines: mpirun -n RANKS build/07_ring [options]",
    .example = "--n-q 203 --n-k 113 --d 40 --causal",
};

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

static struct expected expected_of(const struct ring *at)
{
    const struct attention *p = &at->p;
    const struct part mine = part_of(p->Nk, at->rank, at->ranks),
                      next = part_of(p->Nk, ring_after(at, 1), at->ranks), all = { .rows = p->Nk },
                      largest = { .rows = part_max_rows(p->Nk, at->ranks) };
    const size_t rows = p->B * p->H * at->queries.rows, d = p->d;
    const size_t block =
        most(at->queries.rows * (d + 1), (at->queries.rows + 2 * largest.rows) * d);
    return (struct expected){
        .messages = 2 * at->ranks - 1,
        .in_turn = at->ranks,
        .bytes = (at->ranks > 1 ? ring_keys_bytes(at, &all) - ring_keys_bytes(at, &next) : 0) +
                 sizeof(float) * ring_sums(at, &all),
        .held = ring_keys_bytes(at, &mine) + 2 * ring_keys_bytes(at, &largest) +
                sizeof(float) * (rows * (4 * d + 1) + block + ring_sums(at, &mine) +
                                 3 * ring_sums(at, &largest)),
    };
}

struct mine {
    float *Q, *O, *lse, *dO, *dQ, *dK_and_dV;
    void *keys;
    struct ring_room room;
};

static float *floats(struct ranks *ranks, size_t count, const char *what)
{
    return ranks_allocate(ranks, count, sizeof(float), what);
}

static struct mine mine_new(struct ranks *ranks)
{
    const struct ring *const r = &ranks->ring;
    const struct part mine = part_of(r->p.Nk, r->rank, r->ranks),
                      largest = { .rows = part_max_rows(r->p.Nk, r->ranks) };
    const size_t rows = r->p.B * r->p.H * r->queries.rows, d = r->p.d;
    const size_t keys = ring_keys_bytes(r, &largest), sums = ring_sums(r, &largest);
    return (struct mine){
        .Q = floats(ranks, rows * d, "Q"),
        .O = floats(ranks, rows * d, "O"),
        .lse = floats(ranks, rows, "lse"),
        .dO = floats(ranks, rows * d, "dO"),
        .dQ = floats(ranks, rows * d, "dQ"),
        .dK_and_dV = floats(ranks, ring_sums(r, &mine), "dK and dV"),
        .keys = ranks_allocate(ranks, ring_keys_bytes(r, &mine), 1, "K and V"),
        .room = { .keys = { ranks_allocate(ranks, keys, 1, "K and V"),
                            ranks_allocate(ranks, keys, 1, "K and V") },
                  .sums = { floats(ranks, sums, "dK and dV"), floats(ranks, sums, "dK and dV") },
                  .mine = floats(ranks, sums, "dK and dV"),
                  .block = floats(
                      ranks,
                      most(r->queries.rows * (d + 1), (r->queries.rows + 2 * largest.rows) * d),
                      "a block") },
    };
}

static void mine_free(struct mine *m)
{
    void *const all[] = { m->Q,
                          m->O,
                          m->lse,
                          m->dO,
                          m->dQ,
                          m->dK_and_dV,
                          m->keys,
                          m->room.keys[0],
                          m->room.keys[1],
                          m->room.sums[0],
                          m->room.sums[1],
                          m->room.mine,
                          m->room.block };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        free(all[k]);
}

/* On rank 0. */
struct whole {
    float *O, *lse, *gradients[GRADIENTS];
};

static void one_process(const struct ranks *ranks, float *one[GRADIENTS])
{
    const struct attention_input *input = &ranks->input;
    const struct attention *p = &input->p;
    const struct tile_size size = ranks->ring.size;
    float *const O = allocate(attention_query_elements(p), sizeof *O, "O of one process"),
                 *const lse = allocate(attention_rows(p), sizeof *lse, "lse of one process");
    complete(p, size, tensors_of(input, O, lse));
    for (size_t g = 0; g < GRADIENTS; g++)
        one[g] = allocate(g == DQ ? attention_query_elements(p) : attention_key_elements(p),
                          sizeof *one[g], "gradients of one process");
    struct tensors x = tensors_of(input, O, lse);
    x.dO = ranks->dO;
    x.dQ = one[DQ];
    x.dK = one[DK];
    x.dV = one[DV];
    backward_complete(p, size, x);
    free(O);
    free(lse);
}

static void check_and_write(const struct ranks *ranks, const struct whole *whole)
{
    float *one[GRADIENTS];
    struct gradient_check check =
        gradient_check_begin(&ranks->input, ranks->dO, ranks->options.verify_all);
    one_process(ranks, one);
    if (gradient_check_report(&check, whole->gradients, "one process", one).right) {
        attention_write(&ranks->options, &ranks->input, whole->O, whole->lse);
        attention_write_gradients(&ranks->options, &ranks->input, whole->gradients[DQ],
                                  whole->gradients[DK], whole->gradients[DV]);
    }
    gradient_check_end(&check);
    for (size_t g = 0; g < GRADIENTS; g++)
        free(one[g]);
}

static struct whole gather(const struct ranks *ranks, const struct mine *m)
{
    const struct ring *const r = &ranks->ring;
    const struct attention *p = &r->p;
    const struct part keys = part_of(p->Nk, r->rank, r->ranks);
    return (struct whole){
        .O = ranks_gather(ranks, p->B * p->H, p->Nq, p->d, m->O),
        .lse = ranks_gather(ranks, p->B * p->H, p->Nq, 1, m->lse),
        .gradients = { ranks_gather(ranks, p->B * p->H, p->Nq, p->d, m->dQ),
                       ranks_gather(ranks, p->B * p->Hkv, p->Nk, p->d, m->dK_and_dV),
                       ranks_gather(ranks, p->B * p->Hkv, p->Nk, p->d,
                                    m->dK_and_dV + ring_sums(r, &keys) / 2) },
    };
}

static void whole_free(struct whole *whole)
{
    free(whole->O);
    free(whole->lse);
    for (size_t g = 0; g < GRADIENTS; g++)
        free(whole->gradients[g]);
}

int main(int argc, char **argv)
{
    struct ranks ranks = ranks_begin(&program, true, argc, argv);
    const struct options *o = &ranks.options;
    const struct ring *const r = &ranks.ring;
    struct mine m = mine_new(&ranks);
    const uint64_t sum = ranks_read(&ranks, m.Q, m.dO, m.keys);
    ring_forward(r, m.Q, m.keys, m.room.keys, m.room.block, m.O, m.lse);

    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = MPI_Wtime();
    wire_begin(1e-6 * (double)o->latency, 1e3 * (double)o->bandwidth);
    ring_backward(r, (struct tensors){ .Q = m.Q, .O = m.O, .lse = m.lse, .dO = m.dO }, m.keys,
                  m.room, m.dQ, m.dK_and_dV);
    const struct wire wire = wire_end();
    const double seconds = MPI_Wtime() - begun;

    struct whole whole = gather(&ranks, &m);
    if (r->rank == 0) {
        report_start("07", "Ring attention", "backward: dK and dV travel after their keys",
                     o->quiet);
        attention_describe(&ranks.input);
    }
    ranks_check_sums(&ranks, sum);
    ranks_print(&ranks, &wire, seconds, expected_of);
    int status = EXIT_VERIFIED;
    if (r->rank == 0) {
        check_and_write(&ranks, &whole);
        status = report_finish();
    }
    whole_free(&whole);
    mine_free(&m);
    return ranks_end(&ranks, status);
}
