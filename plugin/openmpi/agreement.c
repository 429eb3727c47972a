/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Can every rank of this communicator serve it? A process may stand aside alone: an option in its own environment does
 * not parse, or enable is false on its node. So each communicator asks once, inside its first collective, over the
 * captured allreduce: the lowest rank that stands aside, or none. If there is one, all ranks pass everything on.
 * One int, a few microseconds, once.
 */
#include "plugin/openmpi/component.h"

#include <limits.h>

int peercoll_openmpi_agree(peercoll_openmpi_module_t* module) {
    const int rank = ompi_comm_rank(module->comm);
    const int nobody = INT_MAX;
    const int mine = module->peers == NULL ? rank : nobody;
    int lowest = nobody;
    const int result = module->captured.coll_allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, module->comm,
                                                       module->captured.coll_allreduce_module);
    if (result != MPI_SUCCESS) {
        return result;
    }
    if (lowest == nobody) {
        module->agreement = PEERCOLL_OPENMPI_SERVED;
        peercoll_openmpi_log(10, "%s: served by peercoll", module->comm->c_name);
        return MPI_SUCCESS;
    }
    module->agreement = PEERCOLL_OPENMPI_STANDS_ASIDE;
    peercoll_openmpi_log(10, "%s: passed on, because rank %d stands aside", module->comm->c_name, lowest);
    if (lowest == rank) {
        peercoll_openmpi_show_off_reason();
    }
    return MPI_SUCCESS;
}
