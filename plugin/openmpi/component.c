/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What Open MPI looks up in the shared object: mca_coll_peercoll_component.
 */
#include "plugin/openmpi/component.h"

#include "plugin/openmpi/abi_check.h"
#include "plugin/openmpi/operands.h"
#include "plugin/openmpi/staged_call.h"

#include <stdarg.h>
#include <stdio.h>

static int log_stream = -1;

void peercoll_openmpi_log(int level, const char* format, ...) {
    if (log_stream < 0 || peercoll_openmpi_parameters.verbose < level) {
        return;
    }
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    opal_output(log_stream, "coll:peercoll: %s", line);
}

void peercoll_openmpi_warn(const char* sentence) {
    opal_output(0, "coll:peercoll: %s", sentence);
}

static int register_component(void) {
    const int result = peercoll_openmpi_register_parameters();
    return result != OMPI_SUCCESS ? result : peercoll_openmpi_register_performance_variables();
}

static int open_component(void) {
    log_stream = opal_output_open(NULL);
    return OMPI_SUCCESS;
}

static int close_component(void) {
    peercoll_openmpi_close_staged_requests();
    peercoll_openmpi_destroy_context();
    if (log_stream >= 0) {
        opal_output_close(log_stream);
        log_stream = -1;
    }
    return OMPI_SUCCESS;
}

/* Once in MPI_Init. Open MPI carries on without the component if this fails. */
static int init_query(bool progress_threads, bool mpi_threads) {
    (void)progress_threads;
    (void)mpi_threads; /* different communicators may be used by different threads at any thread level */

    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(library, &length);
    const struct peercoll_openmpi_release built = {OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION};
    char sentence[400];
    if (!peercoll_openmpi_fits(built, library, sentence, sizeof(sentence))) {
        /* The same on all ranks of an installation: one of them tells everybody, the others only who asked. */
        if (OPAL_PROC_MY_NAME.vpid == 0) {
            peercoll_openmpi_warn(sentence);
        } else {
            peercoll_openmpi_log(1, "%s", sentence);
        }
        return OMPI_ERR_NOT_SUPPORTED;
    }
    peercoll_openmpi_build_operand_tables();
    return OMPI_SUCCESS;
}

const mca_coll_base_component_t mca_coll_peercoll_component = {
    .collm_version =
        {
            PEERCOLL_OPENMPI_COLL_VERSION,
            .mca_component_name = "peercoll",
            MCA_BASE_MAKE_VERSION(component, PEERCOLL_MAJOR, PEERCOLL_MINOR, PEERCOLL_PATCH),
            .mca_open_component = open_component,
            .mca_close_component = close_component,
            .mca_register_component_params = register_component,
        },
    .collm_init_query = init_query,
    .collm_comm_query = peercoll_openmpi_comm_query,
};
