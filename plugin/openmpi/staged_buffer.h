/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One buffer argument that is device memory, and the host memory that stands for it while a component that knows only
 * host memory has the call.
 *
 * The host memory is an image of the buffer: data lies at the same displacements. With a datatype for each piece
 * (MPI_Alltoallw) the pieces may be in different allocations, far from each other: there each piece is an image of its
 * own, and the displacements change.
 *
 * Into the image goes what the call reads, gaps included, because one copy is faster than many. Back goes what the call
 * writes, and not a byte of the gaps: a kernel or another collective may be writing them at the same time.
 */
#ifndef PEERCOLL_OPENMPI_STAGED_BUFFER_H
#define PEERCOLL_OPENMPI_STAGED_BUFFER_H

#include "plugin/openmpi/buffer_layout.h"

#include <peercoll/peercoll.h>

/* What a collective does with a buffer. 0: it must not even be looked at (MPI_IN_PLACE, not this rank's). */
enum peercoll_openmpi_use {
    PEERCOLL_OPENMPI_READ = 1,
    PEERCOLL_OPENMPI_WRITTEN = 2,
};

struct peercoll_openmpi_argument {
    void* address;
    unsigned use;
    size_t written_count; /* of the only piece, where that is less than all of it; 0: all */
    struct peercoll_openmpi_buffer_layout layout;
};

struct peercoll_openmpi_staged_piece {
    struct peercoll_openmpi_piece piece;
    ptrdiff_t image; /* offset of its first element from the host memory */
};

struct peercoll_openmpi_staged_buffer {
    peercoll_context_t context;
    unsigned use;
    size_t written_count;
    char* device;                                 /* the argument */
    char* image;                                  /* NULL: not staged */
    struct peercoll_openmpi_staged_piece* pieces; /* those with data; each holds its datatype */
    int n;
    /* What to hand on: */
    void* address;
    int* displacements;
    MPI_Aint* byte_displacements;
};

/* Whether the argument's data is memory of a device. */
bool peercoll_openmpi_is_on_device(peercoll_context_t context, const struct peercoll_openmpi_argument* argument);

/* Takes the host memory. An MPI error class, after a line that says why; then there is nothing to release. */
int peercoll_openmpi_stage_buffer(peercoll_context_t context, const struct peercoll_openmpi_argument* argument,
                                  struct peercoll_openmpi_staged_buffer* staged);
/* What the call reads comes to the host; what it has written goes back. Nothing if the buffer is not staged. */
int peercoll_openmpi_fill_image(struct peercoll_openmpi_staged_buffer* staged);
int peercoll_openmpi_copy_back(struct peercoll_openmpi_staged_buffer* staged);
void peercoll_openmpi_release_buffer(struct peercoll_openmpi_staged_buffer* staged);

#endif
