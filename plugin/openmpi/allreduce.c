/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Allreduce. Whether a call is served depends on the operation, the datatype and the communicator alone, which are
 * the same on all ranks; anything else goes to the captured function.
 */
#include "plugin/openmpi/component.h"
#include "plugin/openmpi/operands.h"

static int pass_on(const void* sendbuf, void* recvbuf, int count, struct ompi_datatype_t* datatype,
                   struct ompi_op_t* op, peercoll_openmpi_module_t* module, const char* reason) {
    peercoll_openmpi_count_passed_on(module, PEERCOLL_ALLREDUCE, reason);
    return peercoll_openmpi_staged_allreduce(sendbuf, recvbuf, count, datatype, op, module->comm, &module->super);
}

static int finish(const void* sendbuf, void* recvbuf, int count, struct ompi_datatype_t* datatype, struct ompi_op_t* op,
                  peercoll_openmpi_module_t* module, peercoll_status_t status) {
    if (status == PEERCOLL_SUCCESS) {
        return MPI_SUCCESS;
    }
    if (status == PEERCOLL_ERR_NOT_SUPPORTED) {
        return pass_on(sendbuf, recvbuf, count, datatype, op, module, "not_supported");
    }
    return peercoll_openmpi_error(module, "MPI_Allreduce", status);
}

static peercoll_status_t reduce(const void* sendbuf, void* recvbuf, int count,
                                const struct peercoll_openmpi_operands* operands, peercoll_comm_t peers) {
    return peercoll_plugin_v1.allreduce(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, recvbuf, (size_t)count,
                                        operands->datatype, operands->op, peers);
}

static __opal_attribute_noinline__ int look_up_and_reduce(const void* sendbuf, void* recvbuf, int count,
                                                          struct ompi_datatype_t* datatype, struct ompi_op_t* op,
                                                          peercoll_openmpi_module_t* module) {
    struct peercoll_openmpi_operands operands = {.mpi_datatype = datatype, .mpi_op = op};
    operands.op = peercoll_openmpi_op(op);
    if (operands.op == PEERCOLL_OP_NONE) {
        return pass_on(sendbuf, recvbuf, count, datatype, op, module, "user_op");
    }
    operands.datatype = peercoll_openmpi_datatype(datatype);
    if (!peercoll_openmpi_reduces(operands.op, operands.datatype)) {
        return pass_on(sendbuf, recvbuf, count, datatype, op, module, "datatype");
    }
    if (OPAL_UNLIKELY(module->agreement == PEERCOLL_OPENMPI_NOT_ASKED)) {
        const int result = peercoll_openmpi_agree(module);
        if (result != MPI_SUCCESS) {
            return result;
        }
    }
    if (module->agreement == PEERCOLL_OPENMPI_STANDS_ASIDE) {
        return pass_on(sendbuf, recvbuf, count, datatype, op, module, "off_on_a_rank");
    }
    if (peercoll_openmpi_is_named(datatype)) {
        module->last = operands;
    }
    return finish(sendbuf, recvbuf, count, datatype, op, module,
                  reduce(sendbuf, recvbuf, count, &operands, module->peers));
}

int peercoll_openmpi_allreduce(const void* sendbuf, void* recvbuf, int count, struct ompi_datatype_t* datatype,
                               struct ompi_op_t* op, struct ompi_communicator_t* comm, mca_coll_base_module_t* base) {
    (void)comm;
    peercoll_openmpi_module_t* module = (peercoll_openmpi_module_t*)base;
    if (count == 0) {
        return MPI_SUCCESS;
    }
    if (OPAL_UNLIKELY(module->last.mpi_datatype != datatype || module->last.mpi_op != op)) {
        return look_up_and_reduce(sendbuf, recvbuf, count, datatype, op, module);
    }
    const peercoll_status_t status = reduce(sendbuf, recvbuf, count, &module->last, module->peers);
    if (OPAL_LIKELY(status == PEERCOLL_SUCCESS)) {
        return MPI_SUCCESS;
    }
    return finish(sendbuf, recvbuf, count, datatype, op, module, status);
}
