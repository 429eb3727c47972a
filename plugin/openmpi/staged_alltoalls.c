/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw on device memory, staged.
 */
#include "plugin/openmpi/staged_call.h"

/* In place, what is sent is taken from where the other ranks' parts will be, and nothing else about it counts. */
static struct peercoll_openmpi_call exchanged(const void* sendbuf, struct peercoll_openmpi_buffer_layout sent,
                                              void* recvbuf, struct peercoll_openmpi_buffer_layout received) {
    const bool in_place = sendbuf == MPI_IN_PLACE;
    return (struct peercoll_openmpi_call){
        .send = in_place ? peercoll_openmpi_unused(sendbuf) : peercoll_openmpi_read(sendbuf, sent),
        .receive = peercoll_openmpi_written(recvbuf, in_place, received),
    };
}

static struct peercoll_openmpi_call describe_alltoall(struct ompi_communicator_t* comm, const void* sendbuf,
                                                      int sendcount, struct ompi_datatype_t* sendtype, void* recvbuf,
                                                      int recvcount, struct ompi_datatype_t* recvtype) {
    const size_t peers = (size_t)peercoll_openmpi_peers(comm);
    return exchanged(sendbuf, peercoll_openmpi_elements((size_t)sendcount * peers, sendtype), recvbuf,
                     peercoll_openmpi_elements((size_t)recvcount * peers, recvtype));
}
PEERCOLL_OPENMPI_STAGED(alltoall,
                        (const void* sendbuf, int sendcount, struct ompi_datatype_t* sendtype, void* recvbuf,
                         int recvcount, struct ompi_datatype_t* recvtype),
                        (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype), PEERCOLL_OPENMPI_REPLACE_BUFFERS);

static struct peercoll_openmpi_call describe_alltoallv(struct ompi_communicator_t* comm, const void* sendbuf,
                                                       const int* sendcounts, const int* senddispls,
                                                       struct ompi_datatype_t* sendtype, void* recvbuf,
                                                       const int* recvcounts, const int* recvdispls,
                                                       struct ompi_datatype_t* recvtype) {
    const int peers = peercoll_openmpi_peers(comm);
    return exchanged(sendbuf, peercoll_openmpi_vector(peers, sendcounts, senddispls, sendtype), recvbuf,
                     peercoll_openmpi_vector(peers, recvcounts, recvdispls, recvtype));
}
PEERCOLL_OPENMPI_STAGED(alltoallv,
                        (const void* sendbuf, const int* sendcounts, const int* senddispls,
                         struct ompi_datatype_t* sendtype, void* recvbuf, const int* recvcounts, const int* recvdispls,
                         struct ompi_datatype_t* recvtype),
                        (sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, recvdispls, recvtype),
                        PEERCOLL_OPENMPI_REPLACE_BUFFERS);

static struct peercoll_openmpi_call describe_alltoallw(struct ompi_communicator_t* comm, const void* sendbuf,
                                                       const int* sendcounts, const int* senddispls,
                                                       struct ompi_datatype_t* const* sendtypes, void* recvbuf,
                                                       const int* recvcounts, const int* recvdispls,
                                                       struct ompi_datatype_t* const* recvtypes) {
    const int peers = peercoll_openmpi_peers(comm);
    return exchanged(sendbuf, peercoll_openmpi_typed_vector(peers, sendcounts, senddispls, sendtypes), recvbuf,
                     peercoll_openmpi_typed_vector(peers, recvcounts, recvdispls, recvtypes));
}

#define REPLACE_BUFFERS_AND_DISPLACEMENTS               \
    do {                                                \
        PEERCOLL_OPENMPI_REPLACE_BUFFERS;               \
        if (staging.send.displacements != NULL) {       \
            senddispls = staging.send.displacements;    \
        }                                               \
        if (staging.receive.displacements != NULL) {    \
            recvdispls = staging.receive.displacements; \
        }                                               \
    } while (0)

PEERCOLL_OPENMPI_STAGED(alltoallw,
                        (const void* sendbuf, const int* sendcounts, const int* senddispls,
                         struct ompi_datatype_t* const* sendtypes, void* recvbuf, const int* recvcounts,
                         const int* recvdispls, struct ompi_datatype_t* const* recvtypes),
                        (sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, recvdispls, recvtypes),
                        REPLACE_BUFFERS_AND_DISPLACEMENTS);
