/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions on device memory, staged: all that peercoll does not serve itself.
 */
#include "plugin/openmpi/staged_call.h"

static struct peercoll_openmpi_argument input(const void* sendbuf, size_t count, struct ompi_datatype_t* datatype) {
    return sendbuf == MPI_IN_PLACE ? peercoll_openmpi_unused(sendbuf)
                                   : peercoll_openmpi_read(sendbuf, peercoll_openmpi_elements(count, datatype));
}

/* The same number of elements in and out on every rank. */
static struct peercoll_openmpi_call all_alike(const void* sendbuf, void* recvbuf, int count,
                                              struct ompi_datatype_t* datatype, bool result_keeps_something) {
    return (struct peercoll_openmpi_call){
        .send = input(sendbuf, (size_t)count, datatype),
        .receive = peercoll_openmpi_written(recvbuf, sendbuf == MPI_IN_PLACE || result_keeps_something,
                                            peercoll_openmpi_elements((size_t)count, datatype)),
    };
}

#define REDUCTION_PARAMETERS \
    (const void* sendbuf, void* recvbuf, int count, struct ompi_datatype_t* datatype, struct ompi_op_t* op)
#define REDUCTION_ARGUMENTS (sendbuf, recvbuf, count, datatype, op)

/* ---- MPI_Allreduce, MPI_Scan, MPI_Exscan ------------------------------------------------------------------------- */

static struct peercoll_openmpi_call describe_allreduce(struct ompi_communicator_t* comm, const void* sendbuf,
                                                       void* recvbuf, int count, struct ompi_datatype_t* datatype,
                                                       struct ompi_op_t* op) {
    (void)comm;
    (void)op;
    return all_alike(sendbuf, recvbuf, count, datatype, false);
}
PEERCOLL_OPENMPI_STAGED(allreduce, REDUCTION_PARAMETERS, REDUCTION_ARGUMENTS, PEERCOLL_OPENMPI_REPLACE_BUFFERS);

static struct peercoll_openmpi_call describe_scan(struct ompi_communicator_t* comm, const void* sendbuf, void* recvbuf,
                                                  int count, struct ompi_datatype_t* datatype, struct ompi_op_t* op) {
    (void)comm;
    (void)op;
    return all_alike(sendbuf, recvbuf, count, datatype, false);
}
PEERCOLL_OPENMPI_STAGED(scan, REDUCTION_PARAMETERS, REDUCTION_ARGUMENTS, PEERCOLL_OPENMPI_REPLACE_BUFFERS);

/* Rank 0 gets nothing, and many programs count on it: what they wrote there before must stay. */
static struct peercoll_openmpi_call describe_exscan(struct ompi_communicator_t* comm, const void* sendbuf,
                                                    void* recvbuf, int count, struct ompi_datatype_t* datatype,
                                                    struct ompi_op_t* op) {
    (void)op;
    return all_alike(sendbuf, recvbuf, count, datatype, ompi_comm_rank(comm) == 0);
}
PEERCOLL_OPENMPI_STAGED(exscan, REDUCTION_PARAMETERS, REDUCTION_ARGUMENTS, PEERCOLL_OPENMPI_REPLACE_BUFFERS);

/* ---- MPI_Reduce -------------------------------------------------------------------------------------------------- */

static struct peercoll_openmpi_call describe_reduce(struct ompi_communicator_t* comm, const void* sendbuf,
                                                    void* recvbuf, int count, struct ompi_datatype_t* datatype,
                                                    struct ompi_op_t* op, int root) {
    (void)op;
    struct peercoll_openmpi_call call = {.send = peercoll_openmpi_unused(sendbuf),
                                         .receive = peercoll_openmpi_unused(recvbuf)};
    if (peercoll_openmpi_is_with_root(comm, root)) {
        call.send = input(sendbuf, (size_t)count, datatype);
    }
    if (peercoll_openmpi_is_root(comm, root)) {
        call.receive = peercoll_openmpi_written(recvbuf, sendbuf == MPI_IN_PLACE,
                                                peercoll_openmpi_elements((size_t)count, datatype));
    }
    return call;
}
PEERCOLL_OPENMPI_STAGED(reduce,
                        (const void* sendbuf, void* recvbuf, int count, struct ompi_datatype_t* datatype,
                         struct ompi_op_t* op, int root),
                        (sendbuf, recvbuf, count, datatype, op, root), PEERCOLL_OPENMPI_REPLACE_BUFFERS);

/* ---- MPI_Reduce_scatter, MPI_Reduce_scatter_block -----------------------------------------------------------------
 */

/* In place the receive buffer holds the whole input, and gets this rank's part of the result at its beginning. */
static struct peercoll_openmpi_call scattered(const void* sendbuf, void* recvbuf, size_t all, size_t mine,
                                              struct ompi_datatype_t* datatype) {
    struct peercoll_openmpi_call call = {
        .send = input(sendbuf, all, datatype),
        .receive = peercoll_openmpi_written(recvbuf, sendbuf == MPI_IN_PLACE,
                                            peercoll_openmpi_elements(sendbuf == MPI_IN_PLACE ? all : mine, datatype)),
    };
    if (sendbuf == MPI_IN_PLACE) {
        call.receive.written_count = mine;
        if (mine == 0) {
            call.receive.use = PEERCOLL_OPENMPI_READ;
        }
    }
    return call;
}

static struct peercoll_openmpi_call describe_reduce_scatter(struct ompi_communicator_t* comm, const void* sendbuf,
                                                            void* recvbuf, const int* counts,
                                                            struct ompi_datatype_t* datatype, struct ompi_op_t* op) {
    (void)op;
    size_t all = 0;
    for (int rank = 0; rank < ompi_comm_size(comm); ++rank) { /* the ranks among which the result is scattered */
        all += (size_t)counts[rank];
    }
    return scattered(sendbuf, recvbuf, all, (size_t)counts[ompi_comm_rank(comm)], datatype);
}
PEERCOLL_OPENMPI_STAGED(reduce_scatter,
                        (const void* sendbuf, void* recvbuf, const int* counts, struct ompi_datatype_t* datatype,
                         struct ompi_op_t* op),
                        (sendbuf, recvbuf, counts, datatype, op), PEERCOLL_OPENMPI_REPLACE_BUFFERS);

static struct peercoll_openmpi_call describe_reduce_scatter_block(struct ompi_communicator_t* comm, const void* sendbuf,
                                                                  void* recvbuf, int count,
                                                                  struct ompi_datatype_t* datatype,
                                                                  struct ompi_op_t* op) {
    (void)op;
    return scattered(sendbuf, recvbuf, (size_t)count * (size_t)ompi_comm_size(comm), (size_t)count, datatype);
}
PEERCOLL_OPENMPI_STAGED(reduce_scatter_block, REDUCTION_PARAMETERS, REDUCTION_ARGUMENTS,
                        PEERCOLL_OPENMPI_REPLACE_BUFFERS);

/* ---- MPI_Reduce_local: one process, no communicator, no other form ------------------------------------------------
 */

static __opal_attribute_noinline__ int look_and_reduce_local(const void* sendbuf, void* recvbuf, int count,
                                                             struct ompi_datatype_t* datatype, struct ompi_op_t* op,
                                                             const peercoll_openmpi_module_t* module) {
    const struct peercoll_openmpi_call call = all_alike(sendbuf, recvbuf, count, datatype, true);
    mca_coll_base_module_t* below = module->captured.coll_reduce_local_module;
    if (!peercoll_openmpi_needs_staging(module->context, &call)) {
        return module->captured.coll_reduce_local(sendbuf, recvbuf, count, datatype, op, below);
    }
    struct peercoll_openmpi_staging staging;
    int result = peercoll_openmpi_stage(module->context, &call, "reduce_local", &staging);
    if (result != MPI_SUCCESS) {
        return result;
    }
    result = peercoll_openmpi_fill_images(&staging);
    if (result == MPI_SUCCESS) {
        result = module->captured.coll_reduce_local(staging.send.address, staging.receive.address, count, datatype, op,
                                                    below);
    }
    result = peercoll_openmpi_copy_results_back(&staging, result);
    peercoll_openmpi_unstage(&staging);
    return result;
}

int peercoll_openmpi_staged_reduce_local(const void* sendbuf, void* recvbuf, int count,
                                         struct ompi_datatype_t* datatype, struct ompi_op_t* op,
                                         mca_coll_base_module_t* base) {
    const peercoll_openmpi_module_t* module = (peercoll_openmpi_module_t*)base;
    if (OPAL_LIKELY(!peercoll_openmpi_has_devices(module))) {
        return module->captured.coll_reduce_local(sendbuf, recvbuf, count, datatype, op,
                                                  module->captured.coll_reduce_local_module);
    }
    return look_and_reduce_local(sendbuf, recvbuf, count, datatype, op, module);
}
