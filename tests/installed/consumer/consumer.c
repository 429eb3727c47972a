/* SPDX-License-Identifier: BSD-3-Clause
 * A C program that links the installed library: sums one number over a communicator of one rank. */
#include <peercoll/peercoll.h>
#include <stdio.h>
#include <string.h>

static int fail(const char* what) {
    fprintf(stderr, "%s: %s\n", what, peercoll_plugin_v1.last_error());
    return 1;
}

int main(void) {
    const peercoll_plugin_t* const peercoll = &peercoll_plugin_v1;
    peercoll_comm_params_t params;
    peercoll_context_t context = NULL;
    peercoll_comm_t comm = NULL;
    double value = 42.0, sum = 0.0;

    if (peercoll->abi_version != PEERCOLL_ABI_VERSION || strcmp(peercoll->name, "peercoll") != 0) {
        fprintf(stderr, "not the plugin that the header describes\n");
        return 1;
    }
    if (!PEERCOLL_HAS(peercoll, describe_comm)) {
        fprintf(stderr, "the library is older than the header it was installed with\n");
        return 1;
    }
    if (peercoll->context_create(NULL, &context) != PEERCOLL_SUCCESS) return fail("context_create");

    memset(&params, 0, sizeof params);
    params.struct_size = sizeof params;
    params.size = 1;
    if (peercoll->comm_create(context, &params, &comm) != PEERCOLL_SUCCESS) return fail("comm_create");
    if (peercoll->allreduce(&value, &sum, 1, PEERCOLL_FLOAT64, PEERCOLL_SUM, comm) != PEERCOLL_SUCCESS) {
        return fail("allreduce");
    }
    if (peercoll->comm_destroy(comm) != PEERCOLL_SUCCESS) return fail("comm_destroy");
    if (peercoll->context_destroy(context) != PEERCOLL_SUCCESS) return fail("context_destroy");
    if (sum != 42.0) {
        fprintf(stderr, "the sum over one rank is %g, not 42\n", sum);
        return 1;
    }
    printf("peercoll %s, ABI %u\n", peercoll->version(), peercoll->abi_version);
    return 0;
}
