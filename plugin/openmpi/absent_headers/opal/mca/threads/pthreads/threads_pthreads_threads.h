/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Absent from Open MPI 5.0's installed headers; see threads_pthreads_mutex.h. The component makes no threads of Open
 * MPI's, so the type stays incomplete.
 */
#ifndef PEERCOLL_ABSENT_THREADS_PTHREADS_THREADS_H
#define PEERCOLL_ABSENT_THREADS_PTHREADS_THREADS_H

#include <sched.h>

struct opal_thread_t;

static inline void opal_thread_yield(void) {
    sched_yield();
}

#endif
