/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the data of a buffer argument lies, as the arguments beside it say: pieces of so many elements of a datatype,
 * each at its displacement. One description for all collectives: a plain buffer is one piece, a gathered one as many as
 * there are ranks.
 */
#ifndef PEERCOLL_OPENMPI_BUFFER_LAYOUT_H
#define PEERCOLL_OPENMPI_BUFFER_LAYOUT_H

#include "plugin/openmpi/openmpi.h"

/* Points to the call's arguments; valid as long as they are. */
struct peercoll_openmpi_buffer_layout {
    int n; /* pieces */
    size_t count;
    const int* counts;                        /* of each piece; NULL: `count` for all */
    const int* displacements;                 /* of each piece; NULL: one behind the other */
    const MPI_Aint* byte_displacements;       /* instead of them */
    struct ompi_datatype_t* datatype;         /* displacements are in its extents */
    struct ompi_datatype_t* const* datatypes; /* of each piece instead; displacements are in bytes */
    struct ompi_communicator_t* cartesian; /* pieces of neighbors beyond an edge of it do not count; NULL: all count */
};

struct peercoll_openmpi_piece {
    ptrdiff_t offset; /* of its first element, in bytes from the buffer argument */
    size_t count;     /* 0: nothing there */
    struct ompi_datatype_t* datatype;
};

static inline struct peercoll_openmpi_buffer_layout peercoll_openmpi_elements(size_t count,
                                                                              struct ompi_datatype_t* datatype) {
    return (struct peercoll_openmpi_buffer_layout){.n = 1, .count = count, .datatype = datatype};
}

static inline struct peercoll_openmpi_buffer_layout peercoll_openmpi_vector(int n, const int* counts,
                                                                            const int* displacements,
                                                                            struct ompi_datatype_t* datatype) {
    return (struct peercoll_openmpi_buffer_layout){
        .n = n, .counts = counts, .displacements = displacements, .datatype = datatype};
}

static inline struct peercoll_openmpi_buffer_layout peercoll_openmpi_typed_vector(
    int n, const int* counts, const int* displacements, struct ompi_datatype_t* const* datatypes) {
    return (struct peercoll_openmpi_buffer_layout){
        .n = n, .counts = counts, .displacements = displacements, .datatypes = datatypes};
}

struct peercoll_openmpi_piece peercoll_openmpi_piece(const struct peercoll_openmpi_buffer_layout* layout, int index);

/* The bytes between the first and the last one of data, gaps included: from piece->offset + *begin on. */
size_t peercoll_openmpi_piece_span(const struct peercoll_openmpi_piece* piece, ptrdiff_t* begin);

#endif
