/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An unmodified MPI program: one allreduce, one broadcast, checked. Nothing here knows peercoll, but for the last
 * lines, which ask MPI's tool interface (MPI_T) whether the plugin served the calls.
 *
 *     mpicc hello.c -o hello && mpirun -n 2 ./hello
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* The value of a performance variable of this process, or -1 if there is none of that name. */
static long long performance_variable(const char* wanted) {
    int provided = 0;
    int variables = 0;
    long long value = -1;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_get_num(&variables);
    for (int index = 0; index < variables; ++index) {
        char name[256];
        int name_length = sizeof(name);
        int no_description = 0;
        int verbosity, class, binding, readonly, continuous, atomic;
        MPI_Datatype type;
        MPI_T_enum values;
        if (MPI_T_pvar_get_info(index, name, &name_length, &verbosity, &class, &type, &values, NULL, &no_description,
                                &binding, &readonly, &continuous, &atomic) != MPI_SUCCESS ||
            strcmp(name, wanted) != 0) {
            continue;
        }
        MPI_T_pvar_session session;
        MPI_T_pvar_handle handle;
        int count = 0;
        unsigned long long total = 0;
        MPI_T_pvar_session_create(&session);
        if (MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS && count == 1 &&
            MPI_T_pvar_read(session, handle, &total) == MPI_SUCCESS) {
            value = (long long)total;
        }
        MPI_T_pvar_session_free(&session);
    }
    MPI_T_finalize();
    return value;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    const int mine = rank + 1;
    int sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);

    double answer = rank == 0 ? 42.0 : 0.0;
    MPI_Bcast(&answer, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);

    const int right = sum == size * (size + 1) / 2 && answer == 42.0;
    const long long allreduces = performance_variable("coll_peercoll_allreduce_served");
    const long long broadcasts = performance_variable("coll_peercoll_broadcast_served");
    if (allreduces < 0) {
        printf("hello from rank %d of %d: sum %d, answer %.0f, %s; peercoll is not loaded\n", rank, size, sum, answer,
               right ? "right" : "WRONG");
    } else {
        printf("hello from rank %d of %d: sum %d, answer %.0f, %s; peercoll served %lld allreduce, %lld broadcast\n",
               rank, size, sum, answer, right ? "right" : "WRONG", allreduces, broadcasts);
    }
    MPI_Finalize();
    return right ? 0 : 1;
}
