/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Data of any MPI datatype to one run of bytes and back, by Open MPI's convertor.
 */
#ifndef PEERCOLL_OPENMPI_PACKING_H
#define PEERCOLL_OPENMPI_PACKING_H

#include "plugin/openmpi/openmpi.h"

/* Both give false if the convertor fails or does not move exactly `bytes` bytes. */
bool peercoll_openmpi_pack(const void* buffer, size_t count, const struct ompi_datatype_t* datatype, void* packed,
                           size_t bytes);
bool peercoll_openmpi_unpack(const void* packed, size_t bytes, void* buffer, size_t count,
                             const struct ompi_datatype_t* datatype);

#endif
