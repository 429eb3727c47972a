/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugin/openmpi/staged_call.h"

static int stage_one(peercoll_context_t context, const struct peercoll_openmpi_argument* argument,
                     struct peercoll_openmpi_staged_buffer* staged) {
    if (peercoll_openmpi_is_on_device(context, argument)) {
        return peercoll_openmpi_stage_buffer(context, argument, staged);
    }
    *staged = (struct peercoll_openmpi_staged_buffer){.address = argument->address};
    return MPI_SUCCESS;
}

int peercoll_openmpi_stage(peercoll_context_t context, const struct peercoll_openmpi_call* call, const char* slot,
                           struct peercoll_openmpi_staging* staging) {
    int result = stage_one(context, &call->send, &staging->send);
    if (result == MPI_SUCCESS) {
        result = stage_one(context, &call->receive, &staging->receive);
        if (result != MPI_SUCCESS) {
            peercoll_openmpi_release_buffer(&staging->send);
        }
    }
    if (result == MPI_SUCCESS && peercoll_plugin_v1.count(context, slot, "staged") != PEERCOLL_SUCCESS) {
        peercoll_openmpi_log(1, "%s was staged and could not be counted: %s", slot, peercoll_plugin_v1.last_error());
    }
    return result;
}

int peercoll_openmpi_fill_images(struct peercoll_openmpi_staging* staging) {
    const int result = peercoll_openmpi_fill_image(&staging->send);
    return result != MPI_SUCCESS ? result : peercoll_openmpi_fill_image(&staging->receive);
}

int peercoll_openmpi_copy_results_back(struct peercoll_openmpi_staging* staging, int result) {
    return result != MPI_SUCCESS ? result : peercoll_openmpi_copy_back(&staging->receive);
}

void peercoll_openmpi_unstage(struct peercoll_openmpi_staging* staging) {
    peercoll_openmpi_release_buffer(&staging->send);
    peercoll_openmpi_release_buffer(&staging->receive);
}
