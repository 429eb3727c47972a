/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugin/openmpi/buffer_layout.h"

/* Two neighbors in each dimension: the one before, the one behind. */
static bool beyond_an_edge(struct ompi_communicator_t* cartesian, int neighbor) {
    int before = MPI_PROC_NULL;
    int behind = MPI_PROC_NULL;
    PMPI_Cart_shift(cartesian, neighbor / 2, 1, &before, &behind);
    return (neighbor % 2 == 0 ? before : behind) == MPI_PROC_NULL;
}

static ptrdiff_t offset_of(const struct peercoll_openmpi_buffer_layout* layout, int index) {
    if (layout->byte_displacements != NULL) {
        return layout->byte_displacements[index];
    }
    if (layout->datatypes != NULL) {
        return layout->displacements[index];
    }
    ptrdiff_t lower_bound = 0;
    ptrdiff_t extent = 0;
    ompi_datatype_get_extent(layout->datatype, &lower_bound, &extent);
    return extent *
           (layout->displacements != NULL ? layout->displacements[index] : (ptrdiff_t)layout->count * (ptrdiff_t)index);
}

struct peercoll_openmpi_piece peercoll_openmpi_piece(const struct peercoll_openmpi_buffer_layout* layout, int index) {
    struct peercoll_openmpi_piece piece = {
        .count = layout->counts != NULL ? (size_t)layout->counts[index] : layout->count,
        .datatype = layout->datatypes != NULL ? layout->datatypes[index] : layout->datatype,
    };
    size_t element = 0;
    if (piece.count != 0) {
        ompi_datatype_type_size(piece.datatype, &element);
    }
    if (element == 0 || (layout->cartesian != NULL && beyond_an_edge(layout->cartesian, index))) {
        piece.count = 0;
        return piece;
    }
    piece.offset = index == 0 && layout->n == 1 && layout->datatypes == NULL && layout->displacements == NULL
                       ? 0
                       : offset_of(layout, index);
    return piece;
}

size_t peercoll_openmpi_piece_span(const struct peercoll_openmpi_piece* piece, ptrdiff_t* begin) {
    ptrdiff_t lower_bound = 0;
    ptrdiff_t extent = 0;
    ptrdiff_t true_lower_bound = 0;
    ptrdiff_t true_extent = 0;
    ompi_datatype_get_extent(piece->datatype, &lower_bound, &extent);
    ompi_datatype_get_true_extent(piece->datatype, &true_lower_bound, &true_extent);
    const ptrdiff_t last = extent * ((ptrdiff_t)piece->count - 1);
    *begin = true_lower_bound + (last < 0 ? last : 0);
    return (size_t)((last < 0 ? -last : last) + true_extent);
}
