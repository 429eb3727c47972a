/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Open MPI 5.0 installs opal/mca/threads/mutex.h but not this header, which that one includes. Here is what it needs of
 * it: on POSIX threads its locks and conditions are the plain pthread ones. CMake puts this folder behind all others,
 * so the real header is used where there is one.
 */
#ifndef PEERCOLL_ABSENT_THREADS_PTHREADS_MUTEX_H
#define PEERCOLL_ABSENT_THREADS_PTHREADS_MUTEX_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef pthread_mutex_t opal_thread_internal_mutex_t;
typedef pthread_cond_t opal_thread_internal_cond_t;

/* Both give 0 for success. */
static inline int opal_thread_internal_mutex_init(opal_thread_internal_mutex_t* mutex, bool recursive) {
    pthread_mutexattr_t attributes;
    if (pthread_mutexattr_init(&attributes) != 0) {
        return 1;
    }
    const int type = recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_DEFAULT;
    const bool made = pthread_mutexattr_settype(&attributes, type) == 0 && pthread_mutex_init(mutex, &attributes) == 0;
    pthread_mutexattr_destroy(&attributes);
    return made ? 0 : 1;
}
static inline int opal_thread_internal_mutex_trylock(opal_thread_internal_mutex_t* mutex) {
    return pthread_mutex_trylock(mutex) == 0 ? 0 : 1;
}
static inline void opal_thread_internal_mutex_lock(opal_thread_internal_mutex_t* mutex) {
    pthread_mutex_lock(mutex);
}
static inline void opal_thread_internal_mutex_unlock(opal_thread_internal_mutex_t* mutex) {
    pthread_mutex_unlock(mutex);
}
static inline void opal_thread_internal_mutex_destroy(opal_thread_internal_mutex_t* mutex) {
    pthread_mutex_destroy(mutex);
}

static inline int opal_thread_internal_cond_init(opal_thread_internal_cond_t* condition) {
    return pthread_cond_init(condition, NULL) == 0 ? 0 : 1;
}
static inline void opal_thread_internal_cond_wait(opal_thread_internal_cond_t* condition,
                                                  opal_thread_internal_mutex_t* mutex) {
    pthread_cond_wait(condition, mutex);
}
static inline void opal_thread_internal_cond_signal(opal_thread_internal_cond_t* condition) {
    pthread_cond_signal(condition);
}
static inline void opal_thread_internal_cond_broadcast(opal_thread_internal_cond_t* condition) {
    pthread_cond_broadcast(condition);
}
static inline void opal_thread_internal_cond_destroy(opal_thread_internal_cond_t* condition) {
    pthread_cond_destroy(condition);
}

#endif
