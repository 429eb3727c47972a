/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The device: each allocation is a private file in memory that is mapped twice, without rights for the program and with
 * rights for the "copy engine" below.
 */
#define _GNU_SOURCE
#include "pretend_device.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct memory {
    struct pretend_allocation known;
    size_t mapped; /* whole pages */
    char* inside;  /* as the copy engine sees it */
    struct memory* next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory* all;
static uint64_t last_id;
static size_t in_use;

/* Under the lock. */
static struct memory* find(const void* address) {
    const uintptr_t at = (uintptr_t)address;
    for (struct memory* one = all; one != NULL; one = one->next) {
        const uintptr_t base = (uintptr_t)one->known.base;
        if (at >= base && at - base < one->known.bytes) {
            return one;
        }
    }
    return NULL;
}

static int map(struct memory* made) {
    const int fd = memfd_create("pretend_device", MFD_CLOEXEC);
    if (fd < 0) {
        return errno;
    }
    int error = ftruncate(fd, (off_t)made->mapped) == 0 ? 0 : errno;
    void* inside = MAP_FAILED;
    void* outside = MAP_FAILED;
    if (error == 0) {
        inside = mmap(NULL, made->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        outside = inside == MAP_FAILED ? MAP_FAILED : mmap(NULL, made->mapped, PROT_NONE, MAP_SHARED, fd, 0);
        error = outside == MAP_FAILED ? errno : 0;
    }
    close(fd);
    if (error != 0) {
        if (inside != MAP_FAILED) {
            munmap(inside, made->mapped);
        }
        return error;
    }
    made->inside = inside;
    made->known.base = outside;
    return 0;
}

int pretend_malloc(void** address, size_t bytes) {
    *address = NULL;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes == 0 || bytes > SIZE_MAX / 2) {
        return EINVAL;
    }
    struct memory* made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return ENOMEM;
    }
    made->known.bytes = bytes;
    made->mapped = (bytes + page - 1) / page * page;
    const int error = map(made);
    if (error != 0) {
        free(made);
        return error;
    }
    pthread_mutex_lock(&lock);
    made->known.id = ++last_id;
    made->next = all;
    all = made;
    in_use += bytes;
    pthread_mutex_unlock(&lock);
    *address = made->known.base;
    return 0;
}

int pretend_free(void* address) {
    pthread_mutex_lock(&lock);
    struct memory** link = &all;
    while (*link != NULL && (*link)->known.base != address) {
        link = &(*link)->next;
    }
    struct memory* gone = *link;
    if (gone != NULL) {
        *link = gone->next;
        in_use -= gone->known.bytes;
    }
    pthread_mutex_unlock(&lock);
    if (gone == NULL) {
        return EINVAL;
    }
    munmap(gone->known.base, gone->mapped);
    munmap(gone->inside, gone->mapped);
    free(gone);
    return 0;
}

/* Under the lock. What the copy engine uses for `address`; NULL where device memory ends too early. */
static char* reached(const void* address, size_t bytes) {
    const struct memory* device = find(address);
    if (device == NULL) {
        return (char*)(uintptr_t)address; /* the host's */
    }
    const size_t offset = (uintptr_t)address - (uintptr_t)device->known.base;
    return bytes <= device->known.bytes - offset ? device->inside + offset : NULL;
}

int pretend_copy(void* to, const void* from, size_t bytes) {
    pthread_mutex_lock(&lock);
    char* const target = reached(to, bytes);
    const char* const source = reached(from, bytes);
    if (target != NULL && source != NULL) {
        memmove(target, source, bytes);
    }
    pthread_mutex_unlock(&lock);
    return target != NULL && source != NULL ? 0 : EFAULT;
}

int pretend_find(const void* address, struct pretend_allocation* allocation) {
    pthread_mutex_lock(&lock);
    const struct memory* found = find(address);
    if (found != NULL) {
        *allocation = found->known;
    }
    pthread_mutex_unlock(&lock);
    return found != NULL ? 0 : ENOENT;
}

size_t pretend_bytes_in_use(void) {
    pthread_mutex_lock(&lock);
    const size_t bytes = in_use;
    pthread_mutex_unlock(&lock);
    return bytes;
}
