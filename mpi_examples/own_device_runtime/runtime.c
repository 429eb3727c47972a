/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A device runtime that peercoll loads from a path. It is all that a maker of devices has to write for
 *
 *     PEERCOLL_DEVICE_RUNTIMES=<path>/pretend_device_runtime.so mpirun ...
 *
 * to take the maker's memory in collectives. The only thing it exports is the struct at the end.
 *
 * This device cannot give its memory to other processes and does not compute, so peercoll stages its buffers through
 * host memory. Members for sharing, peers and folds are therefore NULL; a device that has those things fills them in,
 * and peercoll then copies and reduces on the device.
 *
 * The vendor's library is used only where the process has loaded it already, and is not linked: peercoll loads this
 * file into every process of a job, also into those that never use the device.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <peercoll/device.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "pretend_device.h"

#define VENDOR_LIBRARY "libpretend_device.so.1"

static struct {
    void* library; /* NULL: not open */
    int (*allocate)(void**, size_t);
    int (*free)(void*);
    int (*copy)(void*, const void*, size_t);
    int (*find)(const void*, struct pretend_allocation*);
    uint8_t uuid[16];
} vendor;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

static peercoll_status_t fail(peercoll_reason_t* reason, peercoll_status_t status, const char* what, int error) {
    if (reason != NULL) {
        snprintf(reason->text, sizeof(reason->text), "%s%s%s", what, error != 0 ? ": " : "",
                 error != 0 ? strerror(error) : "");
    }
    return status;
}

static void* pointer(uint64_t address) {
    return (void*)(uintptr_t)address;
}

/* ---- The runtime and its one device ---- */

static int find_functions(void* library) {
    *(void**)&vendor.allocate = dlsym(library, "pretend_malloc");
    *(void**)&vendor.free = dlsym(library, "pretend_free");
    *(void**)&vendor.copy = dlsym(library, "pretend_copy");
    *(void**)&vendor.find = dlsym(library, "pretend_find");
    return vendor.allocate != NULL && vendor.free != NULL && vendor.copy != NULL && vendor.find != NULL;
}

static peercoll_status_t attach(peercoll_reason_t* reason) {
    if (vendor.library != NULL) {
        return PEERCOLL_SUCCESS;
    }
    void* library = dlopen(VENDOR_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    if (library == NULL) {
        return fail(reason, PEERCOLL_ERR_NOT_SUPPORTED, "this process has not loaded " VENDOR_LIBRARY, 0);
    }
    if (!find_functions(library)) {
        dlclose(library);
        return fail(reason, PEERCOLL_ERR_NOT_SUPPORTED, VENDOR_LIBRARY " lacks functions of version 1", 0);
    }
    /* Each process has a device of its own, so its identity is nobody else's. A real one is asked for its UUID. */
    if (getrandom(vendor.uuid, sizeof(vendor.uuid), 0) != (ssize_t)sizeof(vendor.uuid)) {
        const int error = errno;
        dlclose(library);
        return fail(reason, PEERCOLL_ERR_SYSTEM, "no random numbers for the device's identity", error);
    }
    vendor.library = library;
    return PEERCOLL_SUCCESS;
}

static peercoll_status_t open_runtime(peercoll_reason_t* reason) {
    pthread_mutex_lock(&opening);
    const peercoll_status_t status = attach(reason);
    pthread_mutex_unlock(&opening);
    return status;
}

static void close_runtime(void) {
    pthread_mutex_lock(&opening);
    if (vendor.library != NULL) {
        dlclose(vendor.library);
        vendor.library = NULL;
    }
    pthread_mutex_unlock(&opening);
}

static int32_t device_count(void) {
    return vendor.library != NULL ? 1 : 0;
}

static peercoll_status_t device_info(int32_t device, peercoll_device_info_t* info, peercoll_reason_t* reason) {
    memset(info, 0, sizeof(*info));
    if (device < 0 || device >= device_count()) {
        return fail(reason, PEERCOLL_ERR_INVALID_ARGUMENT, "there is no such pretend device: expected 0", 0);
    }
    memcpy(info->uuid, vendor.uuid, sizeof(info->uuid));
    snprintf(info->name, sizeof(info->name), "Pretend device");
    snprintf(info->architecture, sizeof(info->architecture), "pretend");
    snprintf(info->reductions, sizeof(info->reductions), "host: the device does not compute");
    info->active = 1;
    return PEERCOLL_SUCCESS; /* no import_kinds: it maps nobody else's memory */
}

static const char* version_text(void) {
    return "pretend device, version 1";
}

/* ---- Memory ---- */

static void classify(const void* address, peercoll_pointer_info_t* info) {
    memset(info, 0, sizeof(*info));
    info->device = -1;
    struct pretend_allocation allocation;
    if (vendor.library == NULL || vendor.find(address, &allocation) != 0) {
        return; /* PEERCOLL_MEMORY_HOST */
    }
    info->kind = PEERCOLL_MEMORY_DEVICE;
    info->device = 0;
    info->allocation_id = allocation.id;
    info->base = (uintptr_t)allocation.base;
    info->bytes = allocation.bytes; /* and no handle_kinds: it cannot be shared */
}

static int is_live(uint64_t base, uint64_t allocation_id) {
    struct pretend_allocation allocation;
    return vendor.library != NULL && vendor.find(pointer(base), &allocation) == 0 && allocation.id == allocation_id;
}

static peercoll_status_t allocate(int32_t device, size_t bytes, uint64_t* address, peercoll_reason_t* reason) {
    *address = 0;
    if (device < 0 || device >= device_count()) {
        return fail(reason, PEERCOLL_ERR_INVALID_ARGUMENT, "there is no such pretend device: expected 0", 0);
    }
    void* made = NULL;
    const int error = vendor.allocate(&made, bytes);
    if (error != 0) {
        return fail(reason, error == ENOMEM ? PEERCOLL_ERR_OUT_OF_MEMORY : PEERCOLL_ERR_INVALID_ARGUMENT,
                    "no memory on the pretend device", error);
    }
    *address = (uintptr_t)made;
    return PEERCOLL_SUCCESS;
}

static void free_memory(int32_t device, uint64_t address) {
    (void)device;
    if (vendor.library != NULL && address != 0) {
        vendor.free(pointer(address));
    }
}

/* ---- Streams: this device copies at once, so there is never work under way. An error is told by the copy itself. ----
 */

struct peercoll_stream {
    int32_t device;
};

static peercoll_status_t stream_create(int32_t device, peercoll_stream_t* stream, peercoll_reason_t* reason) {
    *stream = NULL;
    if (device < 0 || device >= device_count()) {
        return fail(reason, PEERCOLL_ERR_INVALID_ARGUMENT, "there is no such pretend device: expected 0", 0);
    }
    struct peercoll_stream* made = malloc(sizeof(*made));
    if (made == NULL) {
        return fail(reason, PEERCOLL_ERR_OUT_OF_MEMORY, "no memory for a stream", 0);
    }
    made->device = device;
    *stream = made;
    return PEERCOLL_SUCCESS;
}

static void stream_destroy(peercoll_stream_t stream) {
    free(stream);
}

static peercoll_status_t stream_query(peercoll_stream_t stream, peercoll_reason_t* reason) {
    (void)stream;
    (void)reason;
    return PEERCOLL_SUCCESS;
}

static peercoll_status_t copy(peercoll_stream_t stream, uint64_t to, uint64_t from, size_t bytes,
                              peercoll_reason_t* reason) {
    (void)stream;
    if (vendor.library == NULL) {
        return fail(reason, PEERCOLL_ERR_NOT_SUPPORTED, "the pretend device's runtime is not open", 0);
    }
    const int error = vendor.copy(pointer(to), pointer(from), bytes);
    return error == 0 ? PEERCOLL_SUCCESS
                      : fail(reason, PEERCOLL_ERR_INVALID_ARGUMENT,
                             "a copy goes beyond the end of an allocation of the pretend device", error);
}

/* ---- What peercoll looks for ---- */

static const char* const libraries[] = {"libpretend_device.so", NULL};

__attribute__((visibility("default"))) const peercoll_device_runtime_t peercoll_device_runtime_v1 = {
    .abi_version = PEERCOLL_DEVICE_ABI_VERSION,
    .struct_size = sizeof(peercoll_device_runtime_t),
    .name = "pretend",
    .libraries = libraries,
    .open = open_runtime,
    .close = close_runtime,
    .device_count = device_count,
    .device_info = device_info,
    .version_text = version_text,
    .classify = classify,
    .is_live = is_live,
    .allocate = allocate,
    .free_memory = free_memory,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_query = stream_query,
    .stream_synchronize = stream_query,
    .copy = copy,
};
