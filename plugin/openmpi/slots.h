/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The collectives of Open MPI's modules that take buffers: each has a slot for its blocking, nonblocking and persistent
 * form. All that is the same for each of them goes over this list: capture, release, declarations.
 */
#ifndef PEERCOLL_OPENMPI_SLOTS_H
#define PEERCOLL_OPENMPI_SLOTS_H

/* clang-format off */
#define PEERCOLL_OPENMPI_FORMS_OF(X, collective) X(collective) X(i##collective) X(collective##_init)

#define PEERCOLL_OPENMPI_NEIGHBOR_FORMS_OF(X, collective) \
    X(neighbor_##collective) X(ineighbor_##collective) X(neighbor_##collective##_init)

#define PEERCOLL_OPENMPI_SLOTS(X)                      \
    PEERCOLL_OPENMPI_FORMS_OF(X, allgather)            \
    PEERCOLL_OPENMPI_FORMS_OF(X, allgatherv)           \
    PEERCOLL_OPENMPI_FORMS_OF(X, allreduce)            \
    PEERCOLL_OPENMPI_FORMS_OF(X, alltoall)             \
    PEERCOLL_OPENMPI_FORMS_OF(X, alltoallv)            \
    PEERCOLL_OPENMPI_FORMS_OF(X, alltoallw)            \
    PEERCOLL_OPENMPI_FORMS_OF(X, bcast)                \
    PEERCOLL_OPENMPI_FORMS_OF(X, exscan)               \
    PEERCOLL_OPENMPI_FORMS_OF(X, gather)               \
    PEERCOLL_OPENMPI_FORMS_OF(X, gatherv)              \
    PEERCOLL_OPENMPI_FORMS_OF(X, reduce)               \
    PEERCOLL_OPENMPI_FORMS_OF(X, reduce_scatter)       \
    PEERCOLL_OPENMPI_FORMS_OF(X, reduce_scatter_block) \
    PEERCOLL_OPENMPI_FORMS_OF(X, scan)                 \
    PEERCOLL_OPENMPI_FORMS_OF(X, scatter)              \
    PEERCOLL_OPENMPI_FORMS_OF(X, scatterv)             \
    PEERCOLL_OPENMPI_NEIGHBOR_FORMS_OF(X, allgather)   \
    PEERCOLL_OPENMPI_NEIGHBOR_FORMS_OF(X, allgatherv)  \
    PEERCOLL_OPENMPI_NEIGHBOR_FORMS_OF(X, alltoall)    \
    PEERCOLL_OPENMPI_NEIGHBOR_FORMS_OF(X, alltoallv)   \
    PEERCOLL_OPENMPI_NEIGHBOR_FORMS_OF(X, alltoallw)   \
    X(reduce_local)
/* clang-format on */

#endif
