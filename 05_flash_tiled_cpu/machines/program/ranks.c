#include "05_flash_tiled_cpu/machines/program/ranks.h"

#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/program/report.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_TILE = 128, ROWS_TAG = 2 };

// ---- start --------------------------------------------------------------------------------------

static bool has_begun;  // rank 0 accepted the command line and files

/* Rank 0's `may`, on all ranks. */
static int may_begin(int may)
{
    MPI_Bcast(&may, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return may;
}

/* At exit before ranks_end: waiting ranks exit with rank 0, running ones are aborted. */
static void end_the_others(void)
{
    int rank, ended;
    MPI_Finalized(&ended);
    if (ended)
        return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (has_begun || rank > 0)
        MPI_Abort(MPI_COMM_WORLD, EXIT_USAGE);
    may_begin(0);
    MPI_Finalize();
}

static void describe(const struct ranks *ranks, char text[400])
{
    const struct attention *p = &ranks->ring.p;
    const struct options *const o = &ranks->options;
    snprintf(text, 400,
             "%s, B %zu, H %zu (%zu for K and V), Nq %zu, Nk %zu, d %zu, scale %.9g, causal %d%s, "
             "window "
             "%td,%td, %s mask, tiles of %zu by %zu, seed %llu, latency %zu, bandwidth %zu",
             program_name, p->B, p->H, p->Hkv, p->Nq, p->Nk, p->d, (double)p->scale, p->causal,
             p->top_left ? " top-left" : "", p->window_left, p->window_right,
             ranks->ring.masked ? "a" : "no", ranks->ring.size.Br, ranks->ring.size.Bc,
             (unsigned long long)o->seed, o->latency, o->bandwidth);
}

static void check_problems(const struct ranks *ranks)
{
    char mine[400] = "", first[400], name[32];
    const int rank = (int)ranks->ring.rank;
    int other = INT_MAX;
    describe(ranks, mine);
    memcpy(first, mine, sizeof first);
    MPI_Bcast(first, (int)sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    const int differs = strcmp(first, mine) != 0 ? rank : INT_MAX;
    MPI_Allreduce(&differs, &other, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "rank %d", rank);
    if (other == rank)
        options_fail(name, "expected the problem of rank 0, %s; found %s", first, mine);
    if (other != INT_MAX)
        MPI_Barrier(MPI_COMM_WORLD);  // until that rank aborts all
}

/* MPI counts in int. */
static void check_sizes(const struct ring *r)
{
    const struct attention *p = &r->p;
    const size_t queries = p->B * p->H * part_max_rows(p->Nq, r->ranks);
    const struct part keys = { .rows = part_max_rows(p->Nk, r->ranks) };
    if (ring_keys_bytes(r, &keys) > INT_MAX || queries * p->d > INT_MAX)
        options_fail("mpirun", "expected more ranks than %zu: MPI counts a part in int", r->ranks);
}

static void load(struct ranks *ranks, const struct program *program, bool backward, int argc,
                 char **argv)
{
    const struct options *o = &ranks->options;
    ranks->options = options_parse(program, argc, argv);
    threads_use(o->threads ? o->threads : 1);
    ranks->input = attention_input_load(o);
    ranks->dO = backward ? attention_input_dO(&ranks->input, o) : NULL;
    ranks->ring.p = ranks->input.p;
    ranks->ring.p.key_mask = NULL;  // a rank has the part of its keys
    ranks->ring.masked = ranks->input.key_mask != NULL;
    ranks->ring.size = (struct tile_size){ o->br ? o->br : USUAL_TILE, o->bc ? o->bc : USUAL_TILE };
    ranks->ring.queries = part_of(ranks->ring.p.Nq, ranks->ring.rank, ranks->ring.ranks);
    check_sizes(&ranks->ring);
}

struct ranks ranks_begin(const struct program *program, bool backward, int argc, char **argv)
{
    struct ranks ranks = { .ring = { .comm = MPI_COMM_WORLD } };
    int rank, count;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    ranks.ring.rank = (size_t)rank;
    ranks.ring.ranks = (size_t)count;
    atexit(end_the_others);
    if (rank == 0)
        load(&ranks, program, backward, argc, argv);
    if (!may_begin(1)) {
        MPI_Finalize();
        exit(EXIT_VERIFIED);  // rank 0 returns the status
    }
    has_begun = true;
    if (rank > 0)
        load(&ranks, program, backward, argc, argv);
    check_problems(&ranks);
    return ranks;
}

static void release(struct ranks *ranks)
{
    attention_input_free(&ranks->input);
    free(ranks->dO);
    ranks->dO = NULL;
}

int ranks_end(struct ranks *ranks, int status)
{
    release(ranks);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return status;
}

void *ranks_allocate(struct ranks *ranks, size_t count, size_t size, const char *what)
{
    ranks->held += count * size;
    return allocate(count, size, what);
}

// ---- parts --------------------------------------------------------------------------------------

/* Rows of `bytes` bytes of a part, from or to the whole (heads, n). */
static void copy_part(const struct part *part, size_t heads, size_t n, size_t bytes, void *whole,
                      void *rows, bool to_whole)
{
    char *at = rows;
    for (size_t head = 0; head < heads; head++)
        for (size_t c = 0; c < 2; at += part->of[c++].count * bytes) {
            char *const in_whole = (char *)whole + (head * n + part->of[c].first) * bytes;
            memcpy(to_whole ? in_whole : at, to_whole ? at : in_whole, part->of[c].count * bytes);
        }
}

float *ranks_gather(const struct ranks *ranks, size_t heads, size_t n, size_t length,
                    const float *rows)
{
    const size_t mine = ranks->ring.rank, count = ranks->ring.ranks;
    const size_t most = heads * part_max_rows(n, count) * length;
    const struct part part = part_of(n, mine, count);
    if (mine > 0) {
        MPI_Send(rows, (int)(heads * part.rows * length), MPI_FLOAT, 0, ROWS_TAG, MPI_COMM_WORLD);
        return NULL;
    }
    float *const whole = allocate(heads * n * length, sizeof *whole, "the whole result");
    float *const room = allocate(most, sizeof *room, "a part of the result");
    poison_fill(whole, heads * n * length);
    copy_part(&part, heads, n, length * sizeof *rows, whole, (void *)rows, true);
    for (size_t rank = 1; rank < count; rank++) {
        const struct part other = part_of(n, rank, count);
        MPI_Recv(room, (int)most, MPI_FLOAT, (int)rank, ROWS_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        copy_part(&other, heads, n, length * sizeof *rows, whole, room, true);
    }
    free(room);
    return whole;
}

// ---- checksums ----------------------------------------------------------------------------------

/* FNV-1a. */
static uint64_t sum_of(uint64_t before, const void *bytes, size_t count)
{
    uint64_t sum = before ^ 0xCBF29CE484222325u;
    for (const unsigned char *at = bytes; at < (const unsigned char *)bytes + count; at++)
        sum = (sum ^ *at) * 0x100000001B3u;
    return sum;
}

/* Copies a rank's part; returns its checksum. */
static uint64_t copy_mine(const struct ring *at, const struct ranks *ranks, float *Q, float *dO,
                          void *bytes)
{
    const struct attention *p = &at->p;
    const struct attention_input *input = &ranks->input;
    const struct part part = part_of(p->Nk, at->rank, at->ranks);
    const struct keys keys = ring_keys(at, at->rank, bytes);
    const size_t row = p->d * sizeof(float), queries = p->B * p->H * at->queries.rows * row;
    copy_part(&at->queries, p->B * p->H, p->Nq, row, input->Q, Q, false);
    copy_part(&part, p->B * p->Hkv, p->Nk, row, input->K, keys.K, false);
    copy_part(&part, p->B * p->Hkv, p->Nk, row, input->V, keys.V, false);
    if (keys.mask)
        copy_part(&part, p->B, p->Nk, 1, input->key_mask, keys.mask, false);
    const uint64_t sum = sum_of(sum_of(0, Q, queries), bytes, ring_keys_bytes(at, &part));
    if (!ranks->dO)
        return sum;
    copy_part(&at->queries, p->B * p->H, p->Nq, row, ranks->dO, dO, false);
    return sum_of(sum, dO, queries);
}

uint64_t ranks_read(struct ranks *ranks, float *Q, float *dO, void *bytes)
{
    const uint64_t sum = copy_mine(&ranks->ring, ranks, Q, dO, bytes);
    if (ranks->ring.rank > 0)
        release(ranks);
    return sum;
}

static struct ring ring_at(const struct ranks *ranks, size_t rank)
{
    struct ring at = ranks->ring;
    at.rank = rank;
    at.queries = part_of(at.p.Nq, rank, at.ranks);
    return at;
}

void ranks_check_sums(struct ranks *ranks, uint64_t sum)
{
    const size_t count = ranks->ring.ranks;
    uint64_t *const sums = allocate(count, sizeof *sums, "the sums of the ranks");
    MPI_Gather(&sum, 1, MPI_UINT64_T, sums, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (size_t rank = 0; rank < count && ranks->ring.rank == 0; rank++) {
        const struct ring at = ring_at(ranks, rank);
        const struct attention *p = &at.p;
        const struct part part = part_of(p->Nk, rank, count);
        const size_t queries = p->B * p->H * at.queries.rows * p->d;
        float *const Q = allocate(queries, sizeof *Q, "a part of Q"), *const dO = allocate(
                                                                          queries, sizeof *dO,
                                                                          "a part of dO");
        void *const keys = allocate(ring_keys_bytes(&at, &part), 1, "a part of the keys");
        char name[32];
        snprintf(name, sizeof name, "rank %zu", rank);
        if (sums[rank] != copy_mine(&at, ranks, Q, dO, keys))
            options_fail(name, "expected the same numbers in its input as rank 0, found others");
        free(Q);
        free(dO);
        free(keys);
    }
    free(sums);
}

// ---- table --------------------------------------------------------------------------------------

struct row {
    struct wire wire;
    size_t held;
    double seconds;
};

static size_t pairs_of(const struct ring *at)
{
    size_t pairs = 0;
    struct block block[BLOCKS];
    for (size_t owner = 0; owner < at->ranks; owner++) {
        const struct part keys = part_of(at->p.Nk, owner, at->ranks);
        for (size_t n = blocks_of(&at->p, &at->queries, &keys, block); n-- > 0;)
            pairs += attention_pairs(&block[n].p);
    }
    return pairs * at->p.B * at->p.H;
}

/* The slowest rank, and the model's time: latency + bytes / bandwidth. */
static void print_times(const struct ranks *ranks, const struct row *rows,
                        struct expected (*formula)(const struct ring *at))
{
    const struct options *o = &ranks->options;
    double seconds = 0.0, waited = 0.0, model = 0.0;
    char text[24];
    for (size_t rank = 0; rank < ranks->ring.ranks; rank++) {
        const struct ring at = ring_at(ranks, rank);
        const struct expected e = formula(&at);
        const double bytes = o->bandwidth ? 1e-3 * (double)e.bytes / (double)o->bandwidth : 0.0;
        model = fmax(model, 1e-6 * (double)(e.in_turn * o->latency) + bytes);
        seconds = fmax(seconds, rows[rank].seconds);
        waited = fmax(waited, rows[rank].wire.waited);
    }
    report_part("Time");
    report_line("messages, by the model  %10s", report_milliseconds(model, text));
    report_line("waited for messages     %10s", report_milliseconds(waited, text));
    report_line("the ring, measured      %10s", report_milliseconds(seconds, text));
}

void ranks_print(const struct ranks *ranks, const struct wire *wire, double seconds,
                 struct expected (*formula)(const struct ring *at))
{
    const size_t count = ranks->ring.ranks;
    const struct row mine = { *wire, ranks->held, seconds };
    struct row *const rows = allocate(count, sizeof *rows, "the table of the ranks");
    MPI_Gather(&mine, (int)sizeof mine, MPI_BYTE, rows, (int)sizeof mine, MPI_BYTE, 0,
               MPI_COMM_WORLD);
    if (ranks->ring.rank == 0) {
        bool right = true;
        report_part("Ranks");
        report_line("rank  queries    keys  query-key pairs  messages    bytes sent    bytes held");
        for (size_t rank = 0; rank < count; rank++) {
            const struct ring at = ring_at(ranks, rank);
            const struct expected e = formula(&at);
            const struct row *row = &rows[rank];
            char pairs[32], bytes[32], held[32];
            const bool same = row->wire.messages == e.messages && row->wire.bytes == e.bytes &&
                              row->held == e.held;
            report_line("%4zu  %7zu %7zu %16s  %8zu %13s %13s%s", rank, at.queries.rows,
                        part_of(at.p.Nk, rank, count).rows, report_number(pairs_of(&at), pairs),
                        row->wire.messages, report_number(row->wire.bytes, bytes),
                        report_number(row->held, held), same ? "" : "  WRONG");
            if (!same)
                report_wrong("rank %zu: by the formulas %zu messages, %zu bytes sent, %zu held",
                             rank, e.messages, e.bytes, e.held);
            right = right && same;
        }
        if (right)
            report_line("messages and bytes are those of the formulas, on every rank");
        if (ranks->options.latency || ranks->options.bandwidth)
            print_times(ranks, rows, formula);
    }
    free(rows);
}
