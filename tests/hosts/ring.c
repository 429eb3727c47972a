/* SPDX-License-Identifier: BSD-3-Clause
 * ring HOSTS: every rank greets from one of HOSTS hosts, and a token goes around a ring of messages over all ranks,
 * which adds each rank's number. Proves the laboratory, with nothing of peercoll. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int different_names(const char* names, int count, int length) {
    int different = 0;
    for (int i = 0; i < count; ++i) {
        int seen = 0;
        for (int j = 0; j < i; ++j) seen |= strcmp(names + i * length, names + j * length) == 0;
        different += !seen;
    }
    return different;
}

int main(int argc, char** argv) {
    enum { name_length = 64 };
    char name[name_length] = "";
    int rank, size, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    gethostname(name, sizeof name - 1);
    printf("rank %d of %d greets from %s\n", rank, size, name);

    char* names = calloc((size_t)size, name_length);
    MPI_Allgather(name, name_length, MPI_CHAR, names, name_length, MPI_CHAR, MPI_COMM_WORLD);
    const int hosts = different_names(names, size, name_length);
    const int expected_hosts = argc > 1 ? atoi(argv[1]) : 0;
    if (hosts != expected_hosts) {
        fprintf(stderr, "%d hosts, expected %d\n", hosts, expected_hosts);
        wrong = 1;
    }
    free(names);

    /* Small and large: the token is the first of `words`, and each rank adds itself to all of them. */
    for (int words = 1; words <= 1 << 18; words <<= 6) {
        long* token = calloc((size_t)words, sizeof *token);
        const int left = (rank + size - 1) % size, right = (rank + 1) % size;
        if (rank == 0) {
            MPI_Send(token, words, MPI_LONG, right, words, MPI_COMM_WORLD);
            MPI_Recv(token, words, MPI_LONG, left, words, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < words; ++i) wrong |= token[i] != (long)size * (size - 1) / 2;
        } else {
            MPI_Recv(token, words, MPI_LONG, left, words, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < words; ++i) token[i] += rank;
            MPI_Send(token, words, MPI_LONG, right, words, MPI_COMM_WORLD);
        }
        free(token);
    }
    if (wrong) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
