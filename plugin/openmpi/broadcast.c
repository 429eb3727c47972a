/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Bcast. Ranks may describe the same bytes by different datatypes; only the number of bytes is common to all, so
 * each rank decides for itself how it gets its own data into one piece, and nothing else depends on it. Data that lies
 * in one piece is used where it is; other data goes through a packed copy, and if it is in device memory through an
 * image of it on the host before that.
 */
#include "plugin/openmpi/packing.h"
#include "plugin/openmpi/staged_call.h"

#include <stdlib.h>

enum { KEPT_PACKED_BYTES = 1 << 20 }; /* a larger packed copy is freed after the call */

/* Address of the first byte of data; `buffer` may be MPI_BOTTOM with a datatype of absolute addresses. */
static void* first_byte(void* buffer, const struct ompi_datatype_t* datatype) {
    ptrdiff_t true_lower_bound = 0;
    ptrdiff_t true_extent = 0;
    ompi_datatype_get_true_extent(datatype, &true_lower_bound, &true_extent);
    return (void*)((uintptr_t)buffer + (uintptr_t)true_lower_bound);
}

static bool reserve_packed(peercoll_openmpi_module_t* module, size_t bytes) {
    if (module->packed_size >= bytes) {
        return true;
    }
    free(module->packed);
    module->packed = malloc(bytes);
    module->packed_size = module->packed == NULL ? 0 : bytes;
    return module->packed != NULL;
}

static void trim_packed(peercoll_openmpi_module_t* module) {
    if (module->packed_size > KEPT_PACKED_BYTES) {
        free(module->packed);
        module->packed = NULL;
        module->packed_size = 0;
    }
}

static int broadcast_packed(void* buffer, int count, struct ompi_datatype_t* datatype, size_t bytes, int root,
                            peercoll_openmpi_module_t* module, peercoll_status_t* status) {
    const bool is_root = ompi_comm_rank(module->comm) == root;
    if (!reserve_packed(module, bytes)) {
        /* The other ranks are not told: they wait for this one until its error handler has acted. */
        opal_output(0, "coll:peercoll: MPI_Bcast on %s failed: no memory for a packed copy of %zu bytes",
                    module->comm->c_name, bytes);
        return MPI_ERR_NO_MEM;
    }
    if (is_root && !peercoll_openmpi_pack(buffer, (size_t)count, datatype, module->packed, bytes)) {
        return MPI_ERR_INTERN;
    }
    *status = peercoll_plugin_v1.broadcast(module->packed, bytes, root, module->peers);
    const bool unpacked = is_root || *status != PEERCOLL_SUCCESS ||
                          peercoll_openmpi_unpack(module->packed, bytes, buffer, (size_t)count, datatype);
    trim_packed(module);
    return unpacked ? MPI_SUCCESS : MPI_ERR_INTERN;
}

static int broadcast_gapped(void* buffer, int count, struct ompi_datatype_t* datatype, size_t bytes, int root,
                            peercoll_openmpi_module_t* module, peercoll_status_t* status) {
    if (OPAL_LIKELY(!peercoll_openmpi_has_devices(module))) {
        return broadcast_packed(buffer, count, datatype, bytes, root, module, status);
    }
    const struct peercoll_openmpi_buffer_layout layout = peercoll_openmpi_elements((size_t)count, datatype);
    const struct peercoll_openmpi_call call = {
        .send = peercoll_openmpi_unused(NULL),
        .receive = ompi_comm_rank(module->comm) == root ? peercoll_openmpi_read(buffer, layout)
                                                        : peercoll_openmpi_written(buffer, false, layout),
    };
    if (!peercoll_openmpi_needs_staging(module->context, &call)) {
        return broadcast_packed(buffer, count, datatype, bytes, root, module, status);
    }
    struct peercoll_openmpi_staging staging;
    int result = peercoll_openmpi_stage(module->context, &call, "bcast", &staging);
    if (result != MPI_SUCCESS) {
        return result;
    }
    result = peercoll_openmpi_fill_images(&staging);
    if (result == MPI_SUCCESS) {
        result = broadcast_packed(staging.receive.address, count, datatype, bytes, root, module, status);
    }
    if (*status == PEERCOLL_SUCCESS) {
        result = peercoll_openmpi_copy_results_back(&staging, result);
    }
    peercoll_openmpi_unstage(&staging);
    return result;
}

static int pass_on(void* buffer, int count, struct ompi_datatype_t* datatype, int root,
                   peercoll_openmpi_module_t* module, const char* reason) {
    peercoll_openmpi_count_passed_on(module, PEERCOLL_BROADCAST, reason);
    return peercoll_openmpi_staged_bcast(buffer, count, datatype, root, module->comm, &module->super);
}

int peercoll_openmpi_bcast(void* buffer, int count, struct ompi_datatype_t* datatype, int root,
                           struct ompi_communicator_t* comm, mca_coll_base_module_t* base) {
    (void)comm;
    peercoll_openmpi_module_t* module = (peercoll_openmpi_module_t*)base;
    size_t element = 0;
    ompi_datatype_type_size(datatype, &element);
    const size_t bytes = element * (size_t)count;
    /* Before anything collective: where there are no bytes, a rank that says "count 0" never even gets here. */
    if (bytes == 0) {
        return MPI_SUCCESS;
    }
    if (OPAL_UNLIKELY(module->agreement == PEERCOLL_OPENMPI_NOT_ASKED)) {
        const int result = peercoll_openmpi_agree(module);
        if (result != MPI_SUCCESS) {
            return result;
        }
    }
    if (module->agreement == PEERCOLL_OPENMPI_STANDS_ASIDE) {
        return pass_on(buffer, count, datatype, root, module, "off_on_a_rank");
    }
    peercoll_status_t status = PEERCOLL_SUCCESS;
    if (ompi_datatype_is_contiguous_memory_layout(datatype, count)) {
        status = peercoll_plugin_v1.broadcast(first_byte(buffer, datatype), bytes, root, module->peers);
    } else {
        const int result = broadcast_gapped(buffer, count, datatype, bytes, root, module, &status);
        if (result != MPI_SUCCESS) {
            return result;
        }
    }
    if (OPAL_LIKELY(status == PEERCOLL_SUCCESS)) {
        return MPI_SUCCESS;
    }
    if (status == PEERCOLL_ERR_NOT_SUPPORTED) {
        return pass_on(buffer, count, datatype, root, module, "not_supported");
    }
    return peercoll_openmpi_error(module, "MPI_Bcast", status);
}
