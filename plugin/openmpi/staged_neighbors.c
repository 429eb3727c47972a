/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Neighborhood collectives on device memory, staged. Parts for neighbors beyond the edge of a grid are not touched, as
 * they are not by MPI: programs keep boundary values there.
 */
#include "plugin/openmpi/staged_call.h"

struct neighbors {
    int in;
    int out;
    struct ompi_communicator_t* cartesian; /* NULL: another topology */
};

static struct neighbors neighbors_of(struct ompi_communicator_t* comm) {
    struct neighbors neighbors = {0};
    int topology = MPI_UNDEFINED;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_CART) {
        PMPI_Cartdim_get(comm, &neighbors.in);
        neighbors.in *= 2;
        neighbors.out = neighbors.in;
        neighbors.cartesian = comm;
    } else if (topology == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, ompi_comm_rank(comm), &neighbors.in);
        neighbors.out = neighbors.in;
    } else if (topology == MPI_DIST_GRAPH) {
        int weighted = 0;
        PMPI_Dist_graph_neighbors_count(comm, &neighbors.in, &neighbors.out, &weighted);
    }
    return neighbors;
}

static struct peercoll_openmpi_buffer_layout one_for_each(int n, int count, struct ompi_datatype_t* datatype) {
    return (struct peercoll_openmpi_buffer_layout){.n = n, .count = (size_t)count, .datatype = datatype};
}

static struct peercoll_openmpi_call exchanged(const struct neighbors* neighbors, const void* sendbuf,
                                              struct peercoll_openmpi_buffer_layout sent, void* recvbuf,
                                              struct peercoll_openmpi_buffer_layout received) {
    sent.cartesian = neighbors->cartesian;
    received.cartesian = neighbors->cartesian;
    return (struct peercoll_openmpi_call){
        .send = peercoll_openmpi_read(sendbuf, sent),
        .receive = peercoll_openmpi_written(recvbuf, false, received),
    };
}

#define NEIGHBOR_STAGED(name, PARAMETERS, ARGUMENTS, REPLACE)                                                  \
    PEERCOLL_OPENMPI_STAGED_FORMS(name, neighbor_##name, ineighbor_##name, neighbor_##name##_init, PARAMETERS, \
                                  ARGUMENTS, REPLACE)

/* ---- The same to all neighbors ----------------------------------------------------------------------------------- */

static struct peercoll_openmpi_call sent_to_all(const struct neighbors* neighbors, const void* sendbuf, int sendcount,
                                                struct ompi_datatype_t* sendtype, void* recvbuf,
                                                struct peercoll_openmpi_buffer_layout received) {
    struct peercoll_openmpi_call call =
        exchanged(neighbors, sendbuf, peercoll_openmpi_elements((size_t)sendcount, sendtype), recvbuf, received);
    call.send.layout.cartesian = NULL;
    return call;
}

static struct peercoll_openmpi_call describe_allgather(struct ompi_communicator_t* comm, const void* sendbuf,
                                                       int sendcount, struct ompi_datatype_t* sendtype, void* recvbuf,
                                                       int recvcount, struct ompi_datatype_t* recvtype) {
    const struct neighbors neighbors = neighbors_of(comm);
    return sent_to_all(&neighbors, sendbuf, sendcount, sendtype, recvbuf,
                       one_for_each(neighbors.in, recvcount, recvtype));
}
NEIGHBOR_STAGED(allgather,
                (const void* sendbuf, int sendcount, struct ompi_datatype_t* sendtype, void* recvbuf, int recvcount,
                 struct ompi_datatype_t* recvtype),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype), PEERCOLL_OPENMPI_REPLACE_BUFFERS);

static struct peercoll_openmpi_call describe_allgatherv(struct ompi_communicator_t* comm, const void* sendbuf,
                                                        int sendcount, struct ompi_datatype_t* sendtype, void* recvbuf,
                                                        const int* recvcounts, const int* displacements,
                                                        struct ompi_datatype_t* recvtype) {
    const struct neighbors neighbors = neighbors_of(comm);
    return sent_to_all(&neighbors, sendbuf, sendcount, sendtype, recvbuf,
                       peercoll_openmpi_vector(neighbors.in, recvcounts, displacements, recvtype));
}
NEIGHBOR_STAGED(allgatherv,
                (const void* sendbuf, int sendcount, struct ompi_datatype_t* sendtype, void* recvbuf,
                 const int* recvcounts, const int* displacements, struct ompi_datatype_t* recvtype),
                (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displacements, recvtype),
                PEERCOLL_OPENMPI_REPLACE_BUFFERS);

/* ---- Something else to each neighbor ----------------------------------------------------------------------------- */

static struct peercoll_openmpi_call describe_alltoall(struct ompi_communicator_t* comm, const void* sendbuf,
                                                      int sendcount, struct ompi_datatype_t* sendtype, void* recvbuf,
                                                      int recvcount, struct ompi_datatype_t* recvtype) {
    const struct neighbors neighbors = neighbors_of(comm);
    return exchanged(&neighbors, sendbuf, one_for_each(neighbors.out, sendcount, sendtype), recvbuf,
                     one_for_each(neighbors.in, recvcount, recvtype));
}
NEIGHBOR_STAGED(alltoall,
                (const void* sendbuf, int sendcount, struct ompi_datatype_t* sendtype, void* recvbuf, int recvcount,
                 struct ompi_datatype_t* recvtype),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype), PEERCOLL_OPENMPI_REPLACE_BUFFERS);

static struct peercoll_openmpi_call describe_alltoallv(struct ompi_communicator_t* comm, const void* sendbuf,
                                                       const int* sendcounts, const int* senddispls,
                                                       struct ompi_datatype_t* sendtype, void* recvbuf,
                                                       const int* recvcounts, const int* recvdispls,
                                                       struct ompi_datatype_t* recvtype) {
    const struct neighbors neighbors = neighbors_of(comm);
    return exchanged(&neighbors, sendbuf, peercoll_openmpi_vector(neighbors.out, sendcounts, senddispls, sendtype),
                     recvbuf, peercoll_openmpi_vector(neighbors.in, recvcounts, recvdispls, recvtype));
}
NEIGHBOR_STAGED(alltoallv,
                (const void* sendbuf, const int* sendcounts, const int* senddispls, struct ompi_datatype_t* sendtype,
                 void* recvbuf, const int* recvcounts, const int* recvdispls, struct ompi_datatype_t* recvtype),
                (sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, recvdispls, recvtype),
                PEERCOLL_OPENMPI_REPLACE_BUFFERS);

static struct peercoll_openmpi_buffer_layout typed(int n, const int* counts, const MPI_Aint* displacements,
                                                   struct ompi_datatype_t* const* datatypes) {
    return (struct peercoll_openmpi_buffer_layout){
        .n = n, .counts = counts, .byte_displacements = displacements, .datatypes = datatypes};
}

static struct peercoll_openmpi_call describe_alltoallw(struct ompi_communicator_t* comm, const void* sendbuf,
                                                       const int* sendcounts, const MPI_Aint* senddispls,
                                                       struct ompi_datatype_t* const* sendtypes, void* recvbuf,
                                                       const int* recvcounts, const MPI_Aint* recvdispls,
                                                       struct ompi_datatype_t* const* recvtypes) {
    const struct neighbors neighbors = neighbors_of(comm);
    return exchanged(&neighbors, sendbuf, typed(neighbors.out, sendcounts, senddispls, sendtypes), recvbuf,
                     typed(neighbors.in, recvcounts, recvdispls, recvtypes));
}

#define REPLACE_BUFFERS_AND_DISPLACEMENTS                    \
    do {                                                     \
        PEERCOLL_OPENMPI_REPLACE_BUFFERS;                    \
        if (staging.send.byte_displacements != NULL) {       \
            senddispls = staging.send.byte_displacements;    \
        }                                                    \
        if (staging.receive.byte_displacements != NULL) {    \
            recvdispls = staging.receive.byte_displacements; \
        }                                                    \
    } while (0)

NEIGHBOR_STAGED(alltoallw,
                (const void* sendbuf, const int* sendcounts, const MPI_Aint* senddispls,
                 struct ompi_datatype_t* const* sendtypes, void* recvbuf, const int* recvcounts,
                 const MPI_Aint* recvdispls, struct ompi_datatype_t* const* recvtypes),
                (sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, recvdispls, recvtypes),
                REPLACE_BUFFERS_AND_DISPLACEMENTS);
