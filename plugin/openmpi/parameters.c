/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MCA parameters: coll_peercoll_priority, _enable, _verbose, and one for every row of peercoll's option table.
 */
#include "plugin/openmpi/component.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 64 }; /* storage that Open MPI keeps pointers into; register fails loudly when it is too small */

struct peercoll_openmpi_parameters peercoll_openmpi_parameters;
static char* option_text[MAX_OPTIONS];

static bool option_row(size_t index, peercoll_option_info_t* row) {
    memset(row, 0, sizeof(*row));
    row->struct_size = sizeof(*row);
    return peercoll_plugin_v1.option_info(index, row) == PEERCOLL_SUCCESS;
}

static int register_one(const char* name, const char* meaning, mca_base_var_type_t type, void* storage) {
    const int index =
        mca_base_component_var_register(&mca_coll_peercoll_component.collm_version, name, meaning, type, NULL, 0, 0,
                                        OPAL_INFO_LVL_4, MCA_BASE_VAR_SCOPE_READONLY, storage);
    return index < 0 ? index : OMPI_SUCCESS;
}

static int register_options(void) {
    peercoll_option_info_t row;
    for (size_t index = 0; option_row(index, &row); ++index) {
        if (index == MAX_OPTIONS) {
            peercoll_openmpi_warn("peercoll is off: its option table is larger than the component's storage.");
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
        char meaning[600];
        snprintf(meaning, sizeof(meaning), "%s Values: %s. Default: %s.", row.meaning, row.values,
                 row.default_value[0] == '\0' ? "empty" : row.default_value);
        option_text[index] = NULL; /* unset: the environment's PEERCOLL_* or the default holds */
        const int result = register_one(row.name, meaning, MCA_BASE_VAR_TYPE_STRING, &option_text[index]);
        if (result != OMPI_SUCCESS) {
            return result;
        }
    }
    return OMPI_SUCCESS;
}

int peercoll_openmpi_register_parameters(void) {
    /* Defaults are set here and not where the storage is, because the framework may be closed and opened again. */
    peercoll_openmpi_parameters = (struct peercoll_openmpi_parameters){.priority = 90, .enable = true, .verbose = 0};

    int result = register_one("priority",
                              "Priority of peercoll among the coll components, 0 to 100; negative: not on any "
                              "communicator. Must be the same on all ranks, as for every coll component.",
                              MCA_BASE_VAR_TYPE_INT, &peercoll_openmpi_parameters.priority);
    if (result == OMPI_SUCCESS) {
        result = register_one("enable",
                              "Whether peercoll serves collectives. If it is false on any rank of a communicator, all "
                              "ranks pass everything on to the next component.",
                              MCA_BASE_VAR_TYPE_BOOL, &peercoll_openmpi_parameters.enable);
    }
    if (result == OMPI_SUCCESS) {
        result = register_one("verbose",
                              "What the component tells about itself: 0 only what is wrong, 1 why it is off, "
                              "10 each communicator.",
                              MCA_BASE_VAR_TYPE_INT, &peercoll_openmpi_parameters.verbose);
    }
    return result == OMPI_SUCCESS ? register_options() : result;
}

char** peercoll_openmpi_options(void) {
    char** options = calloc(MAX_OPTIONS + 1, sizeof(*options));
    if (options == NULL) {
        return NULL;
    }
    size_t given = 0;
    peercoll_option_info_t row;
    for (size_t index = 0; index < MAX_OPTIONS && option_row(index, &row); ++index) {
        if (option_text[index] == NULL || option_text[index][0] == '\0') {
            continue;
        }
        const size_t size = strlen(row.name) + strlen(option_text[index]) + 2;
        options[given] = malloc(size);
        if (options[given] == NULL) {
            peercoll_openmpi_free_options(options);
            return NULL;
        }
        snprintf(options[given], size, "%s=%s", row.name, option_text[index]);
        ++given;
    }
    return options;
}

void peercoll_openmpi_free_options(char** options) {
    for (size_t index = 0; options != NULL && options[index] != NULL; ++index) {
        free(options[index]);
    }
    free(options);
}
