/*
 * The merge rule as an operation of MPI.
 *
 * A text's keys are spread over the ranks, and one query attends to all of them. Each rank has the query's state for its own
 * keys: the maximum m of their scores, the sum l of e^{x - m}, and the sum o of e^{x - m} v. The states are a monoid (chapter
 * 03), so MPI may merge them in any order, along any tree. One MPI_Allreduce leaves every rank with the state of all keys.
 */
#include "03_online_softmax/softmax_state.h"
#include "common/check/reference.h"

#include <mpi.h>
#include <stdio.h>

enum { D = 64, N = 1000 };

struct state {
    float m, l, o[D];
};

/* b = a merged with b, for `count` queries. */
static void merge(void *a_states, void *b_states, int *count, MPI_Datatype *type)
{
    (void)type;
    const struct state *a = a_states;
    for (struct state *b = b_states; b < (struct state *)b_states + *count; a++, b++) {
        const struct softmax_state both = softmax_merge((struct softmax_state){ a->m, a->l },
                                                        (struct softmax_state){ b->m, b->l });
        for (int k = 0; k < D; k++)
            b->o[k] = a->o[k] * exp_minus(a->m, both.m) + b->o[k] * exp_minus(b->m, both.m);
        b->m = both.m;
        b->l = both.l;
    }
}

/* The state of the query for keys `begin` … end - 1: each key is merged into those before it. */
static struct state state_of(const float *q, const float *K, const float *V, size_t begin,
                             size_t end)
{
    struct state all = { .m = -INFINITY };
    for (size_t j = begin; j < end; j++) {
        struct state one = { .m = 0.0f, .l = 1.0f };
        for (size_t k = 0; k < D; k++) {
            one.m += q[k] * K[j * D + k] / 8.0f;  // 8 = sqrt(D)
            one.o[k] = V[j * D + k];
        }
        merge(&one, &all, &(int){ 1 }, NULL);
    }
    return all;
}

int main(int argc, char **argv)
{
    static float q[D], K[N * D], V[N * D];
    double right[D], worst = 0.0;
    int rank, ranks;
    MPI_Datatype state_type;
    MPI_Op merging;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Type_contiguous(2 + D, MPI_FLOAT, &state_type);
    MPI_Type_commit(&state_type);
    MPI_Op_create(merge, 1, &merging);

    random_normals(q, D, 1, 0);
    random_normals(K, (size_t)N * D, 1, 1);
    random_normals(V, (size_t)N * D, 1, 2);
    const size_t part = (size_t)rank, parts = (size_t)ranks;
    struct state state = state_of(q, K, V, part * N / parts, (part + 1) * N / parts);
    MPI_Allreduce(MPI_IN_PLACE, &state, 1, state_type, merging, MPI_COMM_WORLD);

    const struct attention p = attention_of(1, 1, 1, 1, N, D);
    reference_forward_row(&p, q, K, V, 0, 0, 0, right, NULL);
    for (int k = 0; k < D; k++)
        worst = fmax(worst, fabs((double)(state.o[k] / state.l) - right[k]));
    printf("rank %d of %d: had %zu of %d keys, now has all; off by %.1e\n", rank, ranks,
           (part + 1) * N / parts - part * N / parts, N, worst);
    MPI_Op_free(&merging);
    MPI_Type_free(&state_type);
    MPI_Finalize();
    return worst < 1e-6 ? 0 : 1;
}
