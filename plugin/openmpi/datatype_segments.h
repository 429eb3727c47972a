/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which bytes of an element of a datatype are data: what lies between them belongs to others, who may change it at any
 * time, and must not be written back with the data.
 */
#ifndef PEERCOLL_OPENMPI_DATATYPE_SEGMENTS_H
#define PEERCOLL_OPENMPI_DATATYPE_SEGMENTS_H

#include "plugin/openmpi/openmpi.h"

struct peercoll_openmpi_segment {
    ptrdiff_t offset; /* from the element's address */
    size_t bytes;
};

struct peercoll_openmpi_segments {
    struct peercoll_openmpi_segment* list; /* by address; free() it */
    size_t n;
};

/* false: out of memory, or Open MPI's convertor fails. */
bool peercoll_openmpi_find_segments(struct ompi_datatype_t* datatype, struct peercoll_openmpi_segments* segments);

#endif
