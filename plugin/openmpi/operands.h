/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI datatypes and operations to peercoll's, by their representation.
 */
#ifndef PEERCOLL_OPENMPI_OPERANDS_H
#define PEERCOLL_OPENMPI_OPERANDS_H

#include "plugin/openmpi/openmpi.h"

#include <peercoll/peercoll.h>

/* Once, before the first look-up. Sizes are taken from the library, so the tables fit however it was configured. */
void peercoll_openmpi_build_operand_tables(void);

/* PEERCOLL_DATATYPE_NONE for a datatype that is not predefined or has no counterpart. */
peercoll_datatype_t peercoll_openmpi_datatype(const struct ompi_datatype_t* datatype);

/* True for the datatypes that have a name in MPI; their handles never go away. */
bool peercoll_openmpi_is_named(const struct ompi_datatype_t* datatype);

/* PEERCOLL_OP_NONE for a user-defined operation. */
peercoll_op_t peercoll_openmpi_op(const struct ompi_op_t* op);

/* op_supports() of the C ABI, by table; false for NONE. */
bool peercoll_openmpi_reduces(peercoll_op_t op, peercoll_datatype_t datatype);

#endif
