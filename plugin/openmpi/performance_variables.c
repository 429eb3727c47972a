/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_T performance variables, so that any MPI program or tool can see what was served:
 * coll_peercoll_allreduce_served and so on, each the process's total so far. They are of class "level" and not
 * "counter", because Open MPI lets a counter begin at 0 with each handle, and a handle made at the end of a run would
 * show nothing.
 */
#include "plugin/openmpi/component.h"

#include <stdatomic.h>
#include <string.h>

#include "opal/mca/base/mca_base_pvar.h"

struct total {
    const char* name;
    const char* description;
    const char*
        statistic; /* of peercoll's statistics: this one, or all that begin with it if it ends in a dot, or are one
                      word and it if it begins with one ("bcast.staged", not "broadcast.algorithm.staged") */
    peercoll_collective_t collective;
};

static const struct total totals[] = {
    {"allreduce_served", "Calls of MPI_Allreduce that peercoll served", "allreduce.served", PEERCOLL_ALLREDUCE},
    {"allreduce_passed_on", "Calls of MPI_Allreduce that peercoll passed on to the next component",
     "allreduce.passed_on.", PEERCOLL_ALLREDUCE},
    {"broadcast_served", "Calls of MPI_Bcast that peercoll served", "broadcast.served", PEERCOLL_BROADCAST},
    {"broadcast_passed_on", "Calls of MPI_Bcast that peercoll passed on to the next component", "broadcast.passed_on.",
     PEERCOLL_BROADCAST},
    {"staged", "Calls of any collective whose device memory peercoll staged for the next component", ".staged",
     PEERCOLL_COLLECTIVE_END},
};

static atomic_ullong passed_on_without_context[PEERCOLL_COLLECTIVE_END];

void peercoll_openmpi_count_without_context(peercoll_collective_t collective) {
    atomic_fetch_add_explicit(&passed_on_without_context[collective], 1, memory_order_relaxed);
}

static bool is_family(const struct total* total) {
    return total->statistic[strlen(total->statistic) - 1] == '.';
}

static bool begins_with(const char* text, const char* beginning) {
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool is_word_and(const char* text, const char* end) {
    const char* first_dot = strchr(text, '.');
    return first_dot != NULL && strcmp(first_dot, end) == 0;
}

static bool belongs_to(const struct total* total, const char* name) {
    if (total->statistic[0] == '.') {
        return is_word_and(name, total->statistic);
    }
    return is_family(total) ? begins_with(name, total->statistic) : strcmp(name, total->statistic) == 0;
}

static int read_total(const struct mca_base_pvar_t* variable, void* value, void* object) {
    (void)object;
    const struct total* total = variable->ctx;
    unsigned long long sum = 0;
    if (is_family(total)) {
        sum = atomic_load_explicit(&passed_on_without_context[total->collective], memory_order_relaxed);
    }
    const peercoll_context_t context = peercoll_openmpi_existing_context();
    const char* name = NULL;
    uint64_t count = 0;
    for (size_t index = 0;
         context != NULL && peercoll_plugin_v1.statistic(context, index, &name, &count) == PEERCOLL_SUCCESS; ++index) {
        if (belongs_to(total, name)) {
            sum += count;
        }
    }
    *(unsigned long long*)value = sum;
    return OMPI_SUCCESS;
}

int peercoll_openmpi_register_performance_variables(void) {
    for (size_t index = 0; index < sizeof(totals) / sizeof(totals[0]); ++index) {
        const int result = mca_base_component_pvar_register(
            &mca_coll_peercoll_component.collm_version, totals[index].name, totals[index].description, OPAL_INFO_LVL_4,
            MCA_BASE_PVAR_CLASS_LEVEL, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL, MCA_BASE_VAR_BIND_NO_OBJECT,
            MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS, read_total, NULL, NULL, (void*)&totals[index]);
        if (result < 0) {
            return result;
        }
    }
    return OMPI_SUCCESS;
}
