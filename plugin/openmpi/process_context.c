/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The process's one peercoll context. Where it cannot be made (an option does not parse, enable = 0), the process
 * stands aside: its modules are installed all the same, and say so in each communicator's agreement. A module that was
 * simply missing on one rank would leave the others waiting in their first collective.
 */
#include "plugin/openmpi/component.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool tried;
static peercoll_context_t context;
static char off_reason[600];
static bool off_reason_is_news; /* not yet shown, and not what the user asked for */

static void create_context(void) {
    if (!peercoll_openmpi_parameters.enable) {
        snprintf(off_reason, sizeof(off_reason), "peercoll is off: coll_peercoll_enable is false.");
        return;
    }
    char** options = peercoll_openmpi_options();
    if (options == NULL) {
        snprintf(off_reason, sizeof(off_reason), "peercoll is off: out of memory while its options were read.");
        off_reason_is_news = true;
        return;
    }
    char label[32];
    snprintf(label, sizeof(label), "rank %lu", (unsigned long)OPAL_PROC_MY_NAME.vpid);
    const peercoll_context_params_t params = {
        .struct_size = sizeof(params),
        .options = (const char* const*)options,
        .options_origin = "MCA parameter",
        .label = label,
    };
    const peercoll_status_t status = peercoll_plugin_v1.context_create(&params, &context);
    if (status != PEERCOLL_SUCCESS) {
        context = NULL;
        snprintf(off_reason, sizeof(off_reason), "peercoll is off on %s, and so on all communicators of it: %s", label,
                 peercoll_plugin_v1.last_error());
        off_reason_is_news = true;
    }
    peercoll_openmpi_free_options(options);
}

peercoll_context_t peercoll_openmpi_context(void) {
    pthread_mutex_lock(&mutex);
    const bool first = !tried;
    if (first) {
        tried = true;
        off_reason[0] = '\0';
        off_reason_is_news = false;
        create_context();
    }
    const peercoll_context_t result = context;
    pthread_mutex_unlock(&mutex);

    if (first && result == NULL) {
        peercoll_openmpi_log(1, "%s", off_reason);
        /* Mostly all ranks are off for the same reason: the first tells now. Of others, agreement.c picks one. */
        if (OPAL_PROC_MY_NAME.vpid == 0) {
            peercoll_openmpi_show_off_reason();
        }
    }
    return result;
}

peercoll_context_t peercoll_openmpi_existing_context(void) {
    pthread_mutex_lock(&mutex);
    const peercoll_context_t result = context;
    pthread_mutex_unlock(&mutex);
    return result;
}

void peercoll_openmpi_show_off_reason(void) {
    pthread_mutex_lock(&mutex);
    const bool show = off_reason_is_news;
    off_reason_is_news = false;
    pthread_mutex_unlock(&mutex);
    if (show) {
        peercoll_openmpi_warn(off_reason);
    }
}

void peercoll_openmpi_destroy_context(void) {
    pthread_mutex_lock(&mutex);
    if (context != NULL && peercoll_plugin_v1.context_destroy(context) != PEERCOLL_SUCCESS) {
        /* Communicators that the program never freed. The process is about to end, and the system takes all back. */
        peercoll_openmpi_log(1, "the context stays: %s", peercoll_plugin_v1.last_error());
    }
    context = NULL;
    tried = false;
    pthread_mutex_unlock(&mutex);
}
