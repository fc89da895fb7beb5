/*
 * The merge rule as an operation of MPI.
 *
 * A rank's state is a `struct split` of its own keys. Chapter 03's merge is a monoid, so
 * MPI_Allreduce may combine states along any tree.
 */
#include "05_flash_tiled_cpu/steps/split_kv.h"
#include "common/check/reference.h"
#include "common/program/options.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>

enum { D = 64, N = 1000 };

static void merge(void *a, void *b, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int n = 0; n < *count; n++)
        split_combine((struct split *)b + n, (struct split *)a + n, D);
}

static struct split state_of(const float *q, const float *K, const float *V, size_t begin,
                             size_t end)
{
    struct split all = { .m = -INFINITY };
    for (size_t j = begin; j < end; j++) {
        struct split one = { .l = 1.0f };
        for (size_t k = 0; k < D; k++) {
            one.m += q[k] * K[j * D + k] / 8.0f;  // 8 = sqrt(D)
            one.o[k] = V[j * D + k];
        }
        split_combine(&all, &one, D);
    }
    return all;
}

int main(int argc, char **argv)
{
    static const struct program program = { .name = "05_merge" };
    static float q[D], K[N * D], V[N * D];
    double right[D], worst = 0.0;
    int rank, ranks;
    MPI_Datatype state_type;
    MPI_Op merging;
    options_program(&program, argv[0]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Type_contiguous((int)(sizeof(struct split) / sizeof(float)), MPI_FLOAT, &state_type);
    MPI_Type_commit(&state_type);
    MPI_Op_create(merge, 1, &merging);

    random_normals(q, D, 1, 0);
    random_normals(K, (size_t)N * D, 1, 1);
    random_normals(V, (size_t)N * D, 1, 2);
    const size_t part = (size_t)rank, parts = (size_t)ranks;
    struct split state = state_of(q, K, V, part * N / parts, (part + 1) * N / parts);
    MPI_Allreduce(MPI_IN_PLACE, &state, 1, state_type, merging, MPI_COMM_WORLD);

    const struct attention p = attention_of(1, 1, 1, 1, N, D);
    reference_forward_row(&p, q, K, V, 0, 0, 0, right, NULL);
    for (int k = 0; k < D; k++)
        worst = fmax(worst, fabs((double)(state.o[k] / state.l) - right[k]));
    printf("rank %d of %d: had %zu of %d keys, now has the state of all; off by %.1e\n", rank,
           ranks, (part + 1) * N / parts - part * N / parts, N, worst);
    MPI_Op_free(&merging);
    MPI_Type_free(&state_type);
    MPI_Finalize();
    options_flush();
    return worst < 1e-6 ? 0 : 1;
}
