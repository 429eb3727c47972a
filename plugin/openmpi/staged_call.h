/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives on device memory that go to a component which knows only host memory: the buffers are staged around the
 * captured function. The three forms of each collective (blocking, nonblocking, persistent) differ in nothing but their
 * last arguments and in when the results are copied back, so each collective is described once, by a function
 *
 *     static struct peercoll_openmpi_call describe_NAME(struct ompi_communicator_t* comm, its arguments)
 *
 * and PEERCOLL_OPENMPI_STAGED(NAME, ...) makes the functions for Open MPI's slots of it. In a process without a device
 * runtime they are one question and a tail call: nothing is described, and everything else is in functions of its own,
 * whose registers and stack the short way does not pay for. Staging is local: the other ranks neither know nor wait.
 *
 *   staged_reductions.c  staged_gathers.c  staged_alltoalls.c  staged_neighbors.c   the collectives
 *   staged_request.c                                                                the two forms that do not block
 *   staged_buffer.c                                                                 one buffer
 */
#ifndef PEERCOLL_OPENMPI_STAGED_CALL_H
#define PEERCOLL_OPENMPI_STAGED_CALL_H

#include "plugin/openmpi/component.h"
#include "plugin/openmpi/staged_buffer.h"

/* What a call does with this rank's buffers. */
struct peercoll_openmpi_call {
    struct peercoll_openmpi_argument send;
    struct peercoll_openmpi_argument receive;
};

/* The same while it runs. The addresses are the call's own for a buffer that is not staged. */
struct peercoll_openmpi_staging {
    struct peercoll_openmpi_staged_buffer send;
    struct peercoll_openmpi_staged_buffer receive;
};

static inline struct peercoll_openmpi_argument peercoll_openmpi_unused(const void* address) {
    return (struct peercoll_openmpi_argument){.address = (void*)address};
}

static inline struct peercoll_openmpi_argument peercoll_openmpi_read(const void* address,
                                                                     struct peercoll_openmpi_buffer_layout layout) {
    return (struct peercoll_openmpi_argument){
        .address = (void*)address, .use = PEERCOLL_OPENMPI_READ, .layout = layout};
}

/* `read_too`: the call leaves some of it as it was, or takes its input there (MPI_IN_PLACE). */
static inline struct peercoll_openmpi_argument peercoll_openmpi_written(void* address, bool read_too,
                                                                        struct peercoll_openmpi_buffer_layout layout) {
    const unsigned read = read_too ? PEERCOLL_OPENMPI_READ : 0;
    return (struct peercoll_openmpi_argument){
        .address = address, .use = PEERCOLL_OPENMPI_WRITTEN | read, .layout = layout};
}

/* Ranks whose data a rank gets: those of the other group in an inter-communicator. */
static inline int peercoll_openmpi_peers(struct ompi_communicator_t* comm) {
    return OMPI_COMM_IS_INTER(comm) ? ompi_comm_remote_size(comm) : ompi_comm_size(comm);
}

/* Whether this rank is the root, and whether it is one of those that exchange data with the root. In an inter-
 * communicator the root says MPI_ROOT, the others of its group MPI_PROC_NULL, and the other group the root's rank. */
static inline bool peercoll_openmpi_is_root(struct ompi_communicator_t* comm, int root) {
    return OMPI_COMM_IS_INTER(comm) ? root == MPI_ROOT : root == ompi_comm_rank(comm);
}
static inline bool peercoll_openmpi_is_with_root(struct ompi_communicator_t* comm, int root) {
    return !OMPI_COMM_IS_INTER(comm) || (root != MPI_ROOT && root != MPI_PROC_NULL);
}

/* Whether any buffer of this process can be device memory. Asked first, before anything is described. */
static inline bool peercoll_openmpi_has_devices(const peercoll_openmpi_module_t* module) {
    return peercoll_plugin_v1.devices_in_use(module->context) != 0;
}

static inline bool peercoll_openmpi_needs_staging(peercoll_context_t context,
                                                  const struct peercoll_openmpi_call* call) {
    return peercoll_openmpi_is_on_device(context, &call->send) ||
           peercoll_openmpi_is_on_device(context, &call->receive);
}

/* Takes host memory for those buffers that need it and counts the call as "<slot>.staged". */
int peercoll_openmpi_stage(peercoll_context_t context, const struct peercoll_openmpi_call* call, const char* slot,
                           struct peercoll_openmpi_staging* staging);
/* Before and after the captured function. Of `result` and their own, both give the first that is no success. */
int peercoll_openmpi_fill_images(struct peercoll_openmpi_staging* staging);
int peercoll_openmpi_copy_results_back(struct peercoll_openmpi_staging* staging, int result);
void peercoll_openmpi_unstage(struct peercoll_openmpi_staging* staging);

/* ---- staged_request.c ---- */

/* Makes the request that the program gets for `inner`, which the captured function made on the images. Takes over
 * `staging`, also if it fails. `result`: the captured function's. */
int peercoll_openmpi_make_staged_request(struct peercoll_openmpi_staging* staging, struct ompi_communicator_t* comm,
                                         int result, ompi_request_t* inner, bool persistent, ompi_request_t** request);
/* Library calls that drive Open MPI's progress are bracketed by these: nothing calls back into the library then. */
void peercoll_openmpi_enter_library(void);
void peercoll_openmpi_leave_library(void);
/* At the end of the process. */
void peercoll_openmpi_close_staged_requests(void);

/* ---- The functions for the slots ----------------------------------------------------------------------------------
 */

#define PEERCOLL_OPENMPI_LIST(...) __VA_ARGS__

/* PARAMETERS and ARGUMENTS: the collective's, up to the communicator, in parentheses. REPLACE: statements that put the
 * images in the place of the buffers. */
#define PEERCOLL_OPENMPI_STAGED(name, PARAMETERS, ARGUMENTS, REPLACE) \
    PEERCOLL_OPENMPI_STAGED_FORMS(name, name, i##name, name##_init, PARAMETERS, ARGUMENTS, REPLACE)

#define PEERCOLL_OPENMPI_REPLACE_BUFFERS   \
    do {                                   \
        sendbuf = staging.send.address;    \
        recvbuf = staging.receive.address; \
    } while (0)

#define PEERCOLL_OPENMPI_STAGED_FORMS(name, blocking, nonblocking, persistent, PARAMETERS, ARGUMENTS, REPLACE)         \
    static __opal_attribute_noinline__ int look_and_##blocking(                                                        \
        PEERCOLL_OPENMPI_LIST PARAMETERS, struct ompi_communicator_t* comm, const peercoll_openmpi_module_t* module) { \
        const struct peercoll_openmpi_call call = describe_##name(comm, PEERCOLL_OPENMPI_LIST ARGUMENTS);              \
        if (!peercoll_openmpi_needs_staging(module->context, &call)) {                                                 \
            return module->captured.coll_##blocking(PEERCOLL_OPENMPI_LIST ARGUMENTS, comm,                             \
                                                    module->captured.coll_##blocking##_module);                        \
        }                                                                                                              \
        struct peercoll_openmpi_staging staging;                                                                       \
        int result = peercoll_openmpi_stage(module->context, &call, #blocking, &staging);                              \
        if (result != MPI_SUCCESS) {                                                                                   \
            return result;                                                                                             \
        }                                                                                                              \
        result = peercoll_openmpi_fill_images(&staging);                                                               \
        if (result == MPI_SUCCESS) {                                                                                   \
            REPLACE;                                                                                                   \
            result = module->captured.coll_##blocking(PEERCOLL_OPENMPI_LIST ARGUMENTS, comm,                           \
                                                      module->captured.coll_##blocking##_module);                      \
        }                                                                                                              \
        result = peercoll_openmpi_copy_results_back(&staging, result);                                                 \
        peercoll_openmpi_unstage(&staging);                                                                            \
        return result;                                                                                                 \
    }                                                                                                                  \
                                                                                                                       \
    static __opal_attribute_noinline__ int look_and_##nonblocking(                                                     \
        PEERCOLL_OPENMPI_LIST PARAMETERS, struct ompi_communicator_t* comm, ompi_request_t** request,                  \
        const peercoll_openmpi_module_t* module) {                                                                     \
        const struct peercoll_openmpi_call call = describe_##name(comm, PEERCOLL_OPENMPI_LIST ARGUMENTS);              \
        if (!peercoll_openmpi_needs_staging(module->context, &call)) {                                                 \
            return module->captured.coll_##nonblocking(PEERCOLL_OPENMPI_LIST ARGUMENTS, comm, request,                 \
                                                       module->captured.coll_##nonblocking##_module);                  \
        }                                                                                                              \
        struct peercoll_openmpi_staging staging;                                                                       \
        int result = peercoll_openmpi_stage(module->context, &call, #nonblocking, &staging);                           \
        if (result != MPI_SUCCESS) {                                                                                   \
            return result;                                                                                             \
        }                                                                                                              \
        ompi_request_t* inner = NULL;                                                                                  \
        result = peercoll_openmpi_fill_images(&staging);                                                               \
        if (result == MPI_SUCCESS) {                                                                                   \
            REPLACE;                                                                                                   \
            result = module->captured.coll_##nonblocking(PEERCOLL_OPENMPI_LIST ARGUMENTS, comm, &inner,                \
                                                         module->captured.coll_##nonblocking##_module);                \
        }                                                                                                              \
        return peercoll_openmpi_make_staged_request(&staging, comm, result, inner, false, request);                    \
    }                                                                                                                  \
                                                                                                                       \
    static __opal_attribute_noinline__ int look_and_##persistent(                                                      \
        PEERCOLL_OPENMPI_LIST PARAMETERS, struct ompi_communicator_t* comm, struct ompi_info_t* info,                  \
        ompi_request_t** request, const peercoll_openmpi_module_t* module) {                                           \
        const struct peercoll_openmpi_call call = describe_##name(comm, PEERCOLL_OPENMPI_LIST ARGUMENTS);              \
        if (!peercoll_openmpi_needs_staging(module->context, &call)) {                                                 \
            return module->captured.coll_##persistent(PEERCOLL_OPENMPI_LIST ARGUMENTS, comm, info, request,            \
                                                      module->captured.coll_##persistent##_module);                    \
        }                                                                                                              \
        struct peercoll_openmpi_staging staging;                                                                       \
        int result = peercoll_openmpi_stage(module->context, &call, #persistent, &staging);                            \
        if (result != MPI_SUCCESS) {                                                                                   \
            return result;                                                                                             \
        }                                                                                                              \
        ompi_request_t* inner = NULL;                                                                                  \
        REPLACE;                                                                                                       \
        result = module->captured.coll_##persistent(PEERCOLL_OPENMPI_LIST ARGUMENTS, comm, info, &inner,               \
                                                    module->captured.coll_##persistent##_module);                      \
        return peercoll_openmpi_make_staged_request(&staging, comm, result, inner, true, request);                     \
    }                                                                                                                  \
                                                                                                                       \
    int peercoll_openmpi_staged_##blocking(PEERCOLL_OPENMPI_LIST PARAMETERS, struct ompi_communicator_t* comm,         \
                                           mca_coll_base_module_t* base) {                                             \
        const peercoll_openmpi_module_t* module = (peercoll_openmpi_module_t*)base;                                    \
        if (OPAL_LIKELY(!peercoll_openmpi_has_devices(module))) {                                                      \
            return module->captured.coll_##blocking(PEERCOLL_OPENMPI_LIST ARGUMENTS, comm,                             \
                                                    module->captured.coll_##blocking##_module);                        \
        }                                                                                                              \
        return look_and_##blocking(PEERCOLL_OPENMPI_LIST ARGUMENTS, comm, module);                                     \
    }                                                                                                                  \
                                                                                                                       \
    int peercoll_openmpi_staged_##nonblocking(PEERCOLL_OPENMPI_LIST PARAMETERS, struct ompi_communicator_t* comm,      \
                                              ompi_request_t** request, mca_coll_base_module_t* base) {                \
        const peercoll_openmpi_module_t* module = (peercoll_openmpi_module_t*)base;                                    \
        if (OPAL_LIKELY(!peercoll_openmpi_has_devices(module))) {                                                      \
            return module->captured.coll_##nonblocking(PEERCOLL_OPENMPI_LIST ARGUMENTS, comm, request,                 \
                                                       module->captured.coll_##nonblocking##_module);                  \
        }                                                                                                              \
        return look_and_##nonblocking(PEERCOLL_OPENMPI_LIST ARGUMENTS, comm, request, module);                         \
    }                                                                                                                  \
                                                                                                                       \
    int peercoll_openmpi_staged_##persistent(PEERCOLL_OPENMPI_LIST PARAMETERS, struct ompi_communicator_t* comm,       \
                                             struct ompi_info_t* info, ompi_request_t** request,                       \
                                             mca_coll_base_module_t* base) {                                           \
        const peercoll_openmpi_module_t* module = (peercoll_openmpi_module_t*)base;                                    \
        if (OPAL_LIKELY(!peercoll_openmpi_has_devices(module))) {                                                      \
            return module->captured.coll_##persistent(PEERCOLL_OPENMPI_LIST ARGUMENTS, comm, info, request,            \
                                                      module->captured.coll_##persistent##_module);                    \
        }                                                                                                              \
        return look_and_##persistent(PEERCOLL_OPENMPI_LIST ARGUMENTS, comm, info, request, module);                    \
    }                                                                                                                  \
    _Static_assert(1, "takes the semicolon")

#endif
