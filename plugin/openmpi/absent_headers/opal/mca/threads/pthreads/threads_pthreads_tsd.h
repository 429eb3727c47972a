/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Absent from Open MPI 5.0's installed headers; see threads_pthreads_mutex.h.
 */
#ifndef PEERCOLL_ABSENT_THREADS_PTHREADS_TSD_H
#define PEERCOLL_ABSENT_THREADS_PTHREADS_TSD_H

#include <pthread.h>

typedef pthread_key_t opal_tsd_key_t;

#endif
