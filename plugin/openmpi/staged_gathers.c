/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Broadcast, gather, scatter and allgather on device memory, staged. What belongs to the root alone is not looked at
 * elsewhere: there the arguments may be anything.
 */
#include "plugin/openmpi/staged_call.h"

static struct peercoll_openmpi_call nothing(const void* sendbuf, void* recvbuf) {
    return (struct peercoll_openmpi_call){.send = peercoll_openmpi_unused(sendbuf),
                                          .receive = peercoll_openmpi_unused(recvbuf)};
}

static struct peercoll_openmpi_argument own_part(const void* sendbuf, int count, struct ompi_datatype_t* datatype) {
    return sendbuf == MPI_IN_PLACE ? peercoll_openmpi_unused(sendbuf)
                                   : peercoll_openmpi_read(sendbuf, peercoll_openmpi_elements((size_t)count, datatype));
}

static struct peercoll_openmpi_buffer_layout of_all(struct ompi_communicator_t* comm, int count,
                                                    struct ompi_datatype_t* datatype) {
    return peercoll_openmpi_elements((size_t)count * (size_t)peercoll_openmpi_peers(comm), datatype);
}

/* ---- MPI_Bcast --------------------------------------------------------------------------------------------------- */

static struct peercoll_openmpi_call describe_bcast(struct ompi_communicator_t* comm, void* buffer, int count,
                                                   struct ompi_datatype_t* datatype, int root) {
    struct peercoll_openmpi_call call = nothing(NULL, buffer);
    const struct peercoll_openmpi_buffer_layout layout = peercoll_openmpi_elements((size_t)count, datatype);
    if (peercoll_openmpi_is_root(comm, root)) {
        call.receive = peercoll_openmpi_read(buffer, layout);
    } else if (peercoll_openmpi_is_with_root(comm, root)) {
        call.receive = peercoll_openmpi_written(buffer, false, layout);
    }
    return call;
}
PEERCOLL_OPENMPI_STAGED(bcast, (void* buffer, int count, struct ompi_datatype_t* datatype, int root),
                        (buffer, count, datatype, root), buffer = staging.receive.address);

/* ---- MPI_Gather, MPI_Gatherv ------------------------------------------------------------------------------------- */

static struct peercoll_openmpi_call describe_gather(struct ompi_communicator_t* comm, const void* sendbuf,
                                                    int sendcount, struct ompi_datatype_t* sendtype, void* recvbuf,
                                                    int recvcount, struct ompi_datatype_t* recvtype, int root) {
    struct peercoll_openmpi_call call = nothing(sendbuf, recvbuf);
    if (peercoll_openmpi_is_with_root(comm, root)) {
        call.send = own_part(sendbuf, sendcount, sendtype);
    }
    if (peercoll_openmpi_is_root(comm, root)) {
        call.receive = peercoll_openmpi_written(recvbuf, sendbuf == MPI_IN_PLACE, of_all(comm, recvcount, recvtype));
    }
    return call;
}
PEERCOLL_OPENMPI_STAGED(gather,
                        (const void* sendbuf, int sendcount, struct ompi_datatype_t* sendtype, void* recvbuf,
                         int recvcount, struct ompi_datatype_t* recvtype, int root),
                        (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root),
                        PEERCOLL_OPENMPI_REPLACE_BUFFERS);

static struct peercoll_openmpi_call describe_gatherv(struct ompi_communicator_t* comm, const void* sendbuf,
                                                     int sendcount, struct ompi_datatype_t* sendtype, void* recvbuf,
                                                     const int* recvcounts, const int* displacements,
                                                     struct ompi_datatype_t* recvtype, int root) {
    struct peercoll_openmpi_call call = nothing(sendbuf, recvbuf);
    if (peercoll_openmpi_is_with_root(comm, root)) {
        call.send = own_part(sendbuf, sendcount, sendtype);
    }
    if (peercoll_openmpi_is_root(comm, root)) {
        call.receive = peercoll_openmpi_written(
            recvbuf, sendbuf == MPI_IN_PLACE,
            peercoll_openmpi_vector(peercoll_openmpi_peers(comm), recvcounts, displacements, recvtype));
    }
    return call;
}
PEERCOLL_OPENMPI_STAGED(gatherv,
                        (const void* sendbuf, int sendcount, struct ompi_datatype_t* sendtype, void* recvbuf,
                         const int* recvcounts, const int* displacements, struct ompi_datatype_t* recvtype, int root),
                        (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displacements, recvtype, root),
                        PEERCOLL_OPENMPI_REPLACE_BUFFERS);

/* ---- MPI_Scatter, MPI_Scatterv ----------------------------------------------------------------------------------- */

/* MPI_IN_PLACE as receive buffer, at the root: its part stays where it is. */
static struct peercoll_openmpi_argument scattered_part(struct ompi_communicator_t* comm, void* recvbuf, int count,
                                                       struct ompi_datatype_t* datatype, int root) {
    return recvbuf == MPI_IN_PLACE || !peercoll_openmpi_is_with_root(comm, root)
               ? peercoll_openmpi_unused(recvbuf)
               : peercoll_openmpi_written(recvbuf, false, peercoll_openmpi_elements((size_t)count, datatype));
}

static struct peercoll_openmpi_call describe_scatter(struct ompi_communicator_t* comm, const void* sendbuf,
                                                     int sendcount, struct ompi_datatype_t* sendtype, void* recvbuf,
                                                     int recvcount, struct ompi_datatype_t* recvtype, int root) {
    struct peercoll_openmpi_call call = nothing(sendbuf, recvbuf);
    call.receive = scattered_part(comm, recvbuf, recvcount, recvtype, root);
    if (peercoll_openmpi_is_root(comm, root)) {
        call.send = peercoll_openmpi_read(sendbuf, of_all(comm, sendcount, sendtype));
    }
    return call;
}
PEERCOLL_OPENMPI_STAGED(scatter,
                        (const void* sendbuf, int sendcount, struct ompi_datatype_t* sendtype, void* recvbuf,
                         int recvcount, struct ompi_datatype_t* recvtype, int root),
                        (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root),
                        PEERCOLL_OPENMPI_REPLACE_BUFFERS);

static struct peercoll_openmpi_call describe_scatterv(struct ompi_communicator_t* comm, const void* sendbuf,
                                                      const int* sendcounts, const int* displacements,
                                                      struct ompi_datatype_t* sendtype, void* recvbuf, int recvcount,
                                                      struct ompi_datatype_t* recvtype, int root) {
    struct peercoll_openmpi_call call = nothing(sendbuf, recvbuf);
    call.receive = scattered_part(comm, recvbuf, recvcount, recvtype, root);
    if (peercoll_openmpi_is_root(comm, root)) {
        call.send = peercoll_openmpi_read(
            sendbuf, peercoll_openmpi_vector(peercoll_openmpi_peers(comm), sendcounts, displacements, sendtype));
    }
    return call;
}
PEERCOLL_OPENMPI_STAGED(scatterv,
                        (const void* sendbuf, const int* sendcounts, const int* displacements,
                         struct ompi_datatype_t* sendtype, void* recvbuf, int recvcount,
                         struct ompi_datatype_t* recvtype, int root),
                        (sendbuf, sendcounts, displacements, sendtype, recvbuf, recvcount, recvtype, root),
                        PEERCOLL_OPENMPI_REPLACE_BUFFERS);

/* ---- MPI_Allgather, MPI_Allgatherv ------------------------------------------------------------------------------- */

static struct peercoll_openmpi_call describe_allgather(struct ompi_communicator_t* comm, const void* sendbuf,
                                                       int sendcount, struct ompi_datatype_t* sendtype, void* recvbuf,
                                                       int recvcount, struct ompi_datatype_t* recvtype) {
    return (struct peercoll_openmpi_call){
        .send = own_part(sendbuf, sendcount, sendtype),
        .receive = peercoll_openmpi_written(recvbuf, sendbuf == MPI_IN_PLACE, of_all(comm, recvcount, recvtype)),
    };
}
PEERCOLL_OPENMPI_STAGED(allgather,
                        (const void* sendbuf, int sendcount, struct ompi_datatype_t* sendtype, void* recvbuf,
                         int recvcount, struct ompi_datatype_t* recvtype),
                        (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype), PEERCOLL_OPENMPI_REPLACE_BUFFERS);

static struct peercoll_openmpi_call describe_allgatherv(struct ompi_communicator_t* comm, const void* sendbuf,
                                                        int sendcount, struct ompi_datatype_t* sendtype, void* recvbuf,
                                                        const int* recvcounts, const int* displacements,
                                                        struct ompi_datatype_t* recvtype) {
    return (struct peercoll_openmpi_call){
        .send = own_part(sendbuf, sendcount, sendtype),
        .receive = peercoll_openmpi_written(
            recvbuf, sendbuf == MPI_IN_PLACE,
            peercoll_openmpi_vector(peercoll_openmpi_peers(comm), recvcounts, displacements, recvtype)),
    };
}
PEERCOLL_OPENMPI_STAGED(allgatherv,
                        (const void* sendbuf, int sendcount, struct ompi_datatype_t* sendtype, void* recvbuf,
                         const int* recvcounts, const int* displacements, struct ompi_datatype_t* recvtype),
                        (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displacements, recvtype),
                        PEERCOLL_OPENMPI_REPLACE_BUFFERS);
