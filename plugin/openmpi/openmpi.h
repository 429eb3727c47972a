/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Open MPI's own headers, in the order they need, and the names that differ between its releases.
 */
#ifndef PEERCOLL_OPENMPI_OPENMPI_H
#define PEERCOLL_OPENMPI_OPENMPI_H

#include "ompi_config.h" /* before mpi.h */

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/output.h"
#include "opal/util/proc.h"

#if OMPI_MAJOR_VERSION == 4 && OMPI_MINOR_VERSION == 1
#define PEERCOLL_OPENMPI_COLL_VERSION MCA_COLL_BASE_VERSION_2_0_0
#elif OMPI_MAJOR_VERSION == 5 && OMPI_MINOR_VERSION == 0
#define PEERCOLL_OPENMPI_COLL_VERSION MCA_COLL_BASE_VERSION_2_4_0
#else
#error "peercoll's component supports Open MPI 4.1 and 5.0; these headers are of another release."
#endif

#endif
