/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The module of a communicator. What lay below is captured in enable, while it is still there, and retained until the
 * module is destroyed; slots are never changed later. Making a module communicates nothing and maps nothing.
 */
#include "plugin/openmpi/component.h"
#include "plugin/openmpi/staged_call.h"

#include <limits.h>
#include <stdlib.h>

static void construct(peercoll_openmpi_module_t* module) {
    module->comm = NULL;
    module->context = NULL;
    module->peers = NULL;
    module->agreement = PEERCOLL_OPENMPI_NOT_ASKED;
    module->last = (struct peercoll_openmpi_operands){0};
    module->captured = (mca_coll_base_comm_coll_t){0};
    module->packed = NULL;
    module->packed_size = 0;
}

static void destruct(peercoll_openmpi_module_t* module) {
    if (module->peers != NULL) {
        if (peercoll_plugin_v1.comm_destroy(module->peers) != PEERCOLL_SUCCESS) {
            peercoll_openmpi_log(1, "a communicator could not be freed: %s", peercoll_plugin_v1.last_error());
        }
        module->peers = NULL;
    }
    free(module->packed);
    module->packed = NULL;
#define RELEASE(slot)                                       \
    if (module->captured.coll_##slot##_module != NULL) {    \
        OBJ_RELEASE(module->captured.coll_##slot##_module); \
    }
    PEERCOLL_OPENMPI_SLOTS(RELEASE)
#undef RELEASE
}

OBJ_CLASS_INSTANCE(peercoll_openmpi_module_t, mca_coll_base_module_t, construct, destruct);

/* peercoll's wire-up: inside the first collective of the communicator, on all its ranks. */
static int allgather(const void* mine, void* all, size_t bytes, void* user) {
    peercoll_openmpi_module_t* module = user;
    if (bytes > INT_MAX) {
        return MPI_ERR_COUNT;
    }
    peercoll_openmpi_enter_library();
    const int result = module->captured.coll_allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
                                                       module->comm, module->captured.coll_allgather_module);
    peercoll_openmpi_leave_library();
    return result;
}

static int progress(void* user) {
    (void)user;
    peercoll_openmpi_enter_library();
    opal_progress();
    peercoll_openmpi_leave_library();
    return 0;
}

static void make_peers(peercoll_openmpi_module_t* module) {
    const peercoll_comm_params_t params = {
        .struct_size = sizeof(params),
        .rank = ompi_comm_rank(module->comm),
        .size = ompi_comm_size(module->comm),
        .allgather = allgather,
        .progress = progress,
        .user = module,
        .label = module->comm->c_name,
    };
    if (peercoll_plugin_v1.comm_create(module->context, &params, &module->peers) != PEERCOLL_SUCCESS) {
        module->peers = NULL;
        peercoll_openmpi_warn(peercoll_plugin_v1.last_error());
    }
}

/* Served are communicators of two and more ranks in one group. On all others device memory is staged. */
static bool is_served(struct ompi_communicator_t* comm) {
    return !OMPI_COMM_IS_INTER(comm) && ompi_comm_size(comm) >= 2;
}

static void capture(peercoll_openmpi_module_t* module, const struct mca_coll_base_comm_coll_t* below) {
#define CAPTURE(slot)                                                        \
    if (below->coll_##slot != NULL) {                                        \
        module->captured.coll_##slot = below->coll_##slot;                   \
        module->captured.coll_##slot##_module = below->coll_##slot##_module; \
        OBJ_RETAIN(module->captured.coll_##slot##_module);                   \
    }
    PEERCOLL_OPENMPI_SLOTS(CAPTURE)
#undef CAPTURE
}

/* Only where there is something to stage for. A process without a context takes calls as they come. */
static void install_staging(peercoll_openmpi_module_t* module) {
    if (module->context == NULL) {
        return;
    }
#define INSTALL(slot)                                               \
    if (module->captured.coll_##slot != NULL) {                     \
        module->super.coll_##slot = peercoll_openmpi_staged_##slot; \
    }
    PEERCOLL_OPENMPI_SLOTS(INSTALL)
#undef INSTALL
}

static int enable(mca_coll_base_module_t* base, struct ompi_communicator_t* comm) {
    peercoll_openmpi_module_t* module = (peercoll_openmpi_module_t*)base;
    struct mca_coll_base_comm_coll_t* below = comm->c_coll;
    if (below->coll_allreduce == NULL || below->coll_bcast == NULL || below->coll_allgather == NULL) {
        peercoll_openmpi_log(1,
                             "peercoll is off on %s: it needs another coll component below it, such as tuned or "
                             "basic.",
                             comm->c_name);
        return OMPI_ERR_NOT_FOUND;
    }
    module->comm = comm;
    module->context = peercoll_openmpi_context();
    capture(module, below);
    install_staging(module);
    if (is_served(comm)) {
        module->super.coll_allreduce = peercoll_openmpi_allreduce;
        module->super.coll_bcast = peercoll_openmpi_bcast;
        if (module->context != NULL) {
            make_peers(module);
        }
    }
    return OMPI_SUCCESS;
}

/* Open MPI calls this several times; everything is done in the destructor, once. */
static int disable(mca_coll_base_module_t* base, struct ompi_communicator_t* comm) {
    (void)base;
    (void)comm;
    return OMPI_SUCCESS;
}

mca_coll_base_module_t* peercoll_openmpi_comm_query(struct ompi_communicator_t* comm, int* priority) {
    *priority = peercoll_openmpi_parameters.priority;
    /* Facts that all ranks share, but for communicators where nothing is done together. */
    if (*priority < 0 || (!is_served(comm) && peercoll_openmpi_context() == NULL)) {
        *priority = -1;
        return NULL;
    }
    peercoll_openmpi_module_t* module = OBJ_NEW(peercoll_openmpi_module_t);
    if (module == NULL) {
        *priority = -1;
        return NULL;
    }
    module->super.coll_module_enable = enable;
    module->super.coll_module_disable = disable;
    return &module->super;
}

void peercoll_openmpi_count_passed_on(peercoll_openmpi_module_t* module, peercoll_collective_t collective,
                                      const char* reason) {
    if (module->peers == NULL ||
        peercoll_plugin_v1.comm_passed_on(module->peers, collective, reason) != PEERCOLL_SUCCESS) {
        peercoll_openmpi_count_without_context(collective);
    }
}

int peercoll_openmpi_error(peercoll_openmpi_module_t* module, const char* collective, peercoll_status_t status) {
    opal_output(0, "coll:peercoll: %s on %s failed (%s): %s", collective, module->comm->c_name,
                peercoll_plugin_v1.status_name(status), peercoll_plugin_v1.last_error());
    switch (status) {
        case PEERCOLL_ERR_OUT_OF_MEMORY:
            return MPI_ERR_NO_MEM;
        case PEERCOLL_ERR_INVALID_ARGUMENT:
            return MPI_ERR_ARG;
        case PEERCOLL_ERR_INTERNAL:
            return MPI_ERR_INTERN;
        default:
            return MPI_ERR_OTHER;
    }
}
