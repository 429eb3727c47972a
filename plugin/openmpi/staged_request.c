/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The request of a nonblocking or persistent collective on images of device memory. It wraps the request that the
 * captured function made, and completes when the results are back in device memory:
 *
 *     program   MPI_Start ........................................ MPI_Wait returns
 *     ours      fill images                   copy back, complete
 *     inner                start ... complete
 *
 * That the inner request has completed is looked for by a function of Open MPI's progress engine, in the thread that
 * waits or tests. The inner request's completion callback would come from inside of the component that made it, with
 * whatever locks that holds; here none are held, so copying may take its time and may itself drive progress.
 *
 * One exception: while a call of peercoll's library drives the progress engine (it waits for other ranks, or exchanges
 * its wire-up), nothing is copied, because the library must not be called back. Nobody waits for the copy but this
 * rank, which comes to it in its own wait.
 *
 * Open MPI 4.1 and 5.0 are alike in this. Both also write into each request that a nonblocking or persistent collective
 * returns, to hold the operation and datatypes (ompi_coll_base_retain_op and others take it for an
 * ompi_coll_base_nbc_request_t), and read it once more after it was freed. So our requests begin with one of those, and
 * are kept for the next call and not given back to the system before the end.
 */
#include "plugin/openmpi/staged_call.h"

#include "ompi/request/request.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* The header with the struct needs one that is not installed; this is the room for it, checked when one is made. */
enum { NBC_REQUEST_ROOM = 512 };
OBJ_CLASS_DECLARATION(ompi_coll_base_nbc_request_t);

struct staged_request {
    union {
        ompi_request_t super;
        char nbc_request[NBC_REQUEST_ROOM];
    };
    ompi_request_t* inner;
    struct peercoll_openmpi_staging staging;
    struct staged_request* next;
};
typedef struct staged_request peercoll_openmpi_staged_request_t;
_Static_assert(sizeof(ompi_request_t) + 128 <= NBC_REQUEST_ROOM, "the members behind ompi_request_t have room");

OBJ_CLASS_INSTANCE(peercoll_openmpi_staged_request_t, ompi_coll_base_nbc_request_t, NULL, NULL);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of the two lists */
static struct staged_request* active;
static struct staged_request* kept; /* freed by their users */
static atomic_int n_active;
static bool progress_is_registered;
static _Thread_local int depth_in_library;

void peercoll_openmpi_enter_library(void) {
    ++depth_in_library;
}

void peercoll_openmpi_leave_library(void) {
    --depth_in_library;
}

/* ---- Completion -------------------------------------------------------------------------------------------------- */

static void release_inner(struct staged_request* request) {
    if (request->inner != NULL) {
        ompi_request_free(&request->inner);
        request->inner = NULL;
    }
    peercoll_openmpi_unstage(&request->staging);
}

static void finish(struct staged_request* request) {
    opal_atomic_rmb(); /* what was received before the inner request was complete */
    const int result = peercoll_openmpi_copy_results_back(&request->staging, request->inner->req_status.MPI_ERROR);
    if (request->super.req_persistent) {
        request->inner->req_state = OMPI_REQUEST_INACTIVE;
    } else {
        release_inner(request);
    }
    request->super.req_status.MPI_ERROR = result;
    ompi_request_complete(&request->super, true);
}

/* Takes those that have completed inside off the list. */
static struct staged_request* take_completed(void) {
    struct staged_request* completed = NULL;
    struct staged_request** last = &completed;
    struct staged_request** link = &active;
    while (*link != NULL) {
        struct staged_request* request = *link;
        if (REQUEST_COMPLETE(request->inner)) {
            *link = request->next;
            request->next = NULL;
            *last = request;
            last = &request->next;
            atomic_fetch_sub_explicit(&n_active, 1, memory_order_relaxed);
        } else {
            link = &request->next;
        }
    }
    return completed;
}

static int progress(void) {
    if (atomic_load_explicit(&n_active, memory_order_relaxed) == 0 || depth_in_library != 0 ||
        pthread_mutex_trylock(&mutex) != 0) {
        return 0;
    }
    struct staged_request* request = take_completed();
    pthread_mutex_unlock(&mutex);
    int n = 0;
    while (request != NULL) {
        struct staged_request* next = request->next; /* finished, it may be freed and used again at once */
        finish(request);
        request = next;
        ++n;
    }
    return n;
}

static void activate(struct staged_request* request) {
    request->super.req_state = OMPI_REQUEST_ACTIVE;
    request->next = NULL;
    pthread_mutex_lock(&mutex);
    struct staged_request** link = &active; /* in the order they were started */
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = request;
    atomic_fetch_add_explicit(&n_active, 1, memory_order_relaxed);
    const bool is_first = !progress_is_registered;
    progress_is_registered = true;
    pthread_mutex_unlock(&mutex);
    if (is_first) {
        opal_progress_register(progress);
    }
}

/* ---- What Open MPI calls ----------------------------------------------------------------------------------------- */

/* A rank that has nothing to exchange may have got a request without a start function, which MPI only marks. */
static int start_inner(ompi_request_t* inner) {
    if (inner->req_type == OMPI_REQUEST_NOOP) {
        inner->req_state = OMPI_REQUEST_ACTIVE;
        return MPI_SUCCESS;
    }
    return inner->req_start(1, &inner);
}

static int start(size_t count, ompi_request_t** requests) {
    for (size_t i = 0; i < count; ++i) {
        struct staged_request* request = (struct staged_request*)requests[i];
        int result = peercoll_openmpi_fill_images(&request->staging);
        if (result == MPI_SUCCESS) {
            result = start_inner(request->inner);
        }
        if (result != MPI_SUCCESS) {
            return result;
        }
        request->super.req_complete = REQUEST_PENDING;
        request->super.req_status.MPI_ERROR = MPI_SUCCESS;
        activate(request);
    }
    return MPI_SUCCESS;
}

static void keep(struct staged_request* request) {
    pthread_mutex_lock(&mutex);
    request->next = kept;
    kept = request;
    pthread_mutex_unlock(&mutex);
}

static int free_request(ompi_request_t** handle) {
    struct staged_request* request = (struct staged_request*)*handle;
    if (!REQUEST_COMPLETE(&request->super)) {
        return MPI_ERR_REQUEST;
    }
    release_inner(request);
    OMPI_REQUEST_FINI(&request->super);
    keep(request);
    *handle = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

/* ---- Making one -------------------------------------------------------------------------------------------------- */

static struct staged_request* take_kept(void) {
    pthread_mutex_lock(&mutex);
    struct staged_request* request = kept;
    if (request != NULL) {
        kept = request->next;
    }
    pthread_mutex_unlock(&mutex);
    return request;
}

static struct staged_request* new_request(void) {
    struct staged_request* request = take_kept();
    if (request == NULL) {
        request = OBJ_NEW(peercoll_openmpi_staged_request_t);
        if (request == NULL || ompi_coll_base_nbc_request_t_class.cls_sizeof > NBC_REQUEST_ROOM) {
            return NULL;
        }
    }
    memset(request->nbc_request + sizeof(ompi_request_t), 0, NBC_REQUEST_ROOM - sizeof(ompi_request_t));
    return request;
}

int peercoll_openmpi_make_staged_request(struct peercoll_openmpi_staging* staging, struct ompi_communicator_t* comm,
                                         int result, ompi_request_t* inner, bool persistent, ompi_request_t** handle) {
    if (result != MPI_SUCCESS) {
        peercoll_openmpi_unstage(staging);
        return result;
    }
    struct staged_request* request = new_request();
    if (request == NULL) {
        if (!persistent) {
            ompi_request_wait_completion(inner); /* it uses the images; the other ranks are in it */
        }
        ompi_request_free(&inner);
        peercoll_openmpi_unstage(staging);
        return MPI_ERR_NO_MEM;
    }
    OMPI_REQUEST_INIT(&request->super, persistent);
    request->super.req_type = OMPI_REQUEST_COLL;
    request->super.req_start = start;
    request->super.req_free = free_request;
    request->super.req_cancel = NULL;
    request->super.req_mpi_object.comm = comm;
    request->super.req_status = ompi_status_empty;
    request->super.req_status.MPI_ERROR = MPI_SUCCESS;
    request->inner = inner;
    request->staging = *staging;
    if (!persistent) {
        activate(request);
    }
    *handle = &request->super;
    return MPI_SUCCESS;
}

void peercoll_openmpi_close_staged_requests(void) {
    if (progress_is_registered) {
        opal_progress_unregister(progress);
        progress_is_registered = false;
    }
    for (struct staged_request* request = take_kept(); request != NULL; request = take_kept()) {
        OBJ_RELEASE(request);
    }
}
