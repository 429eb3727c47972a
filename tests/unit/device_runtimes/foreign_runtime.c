/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Device runtimes that a user may name in the option, one for each value of CASE: libraries that cannot be used, and
 * the least that can be.
 */
#include <peercoll/device.h>
#include <stdlib.h>
#include <string.h>

#define NO_SYMBOL 1     /* a library, but no device runtime */
#define OTHER_VERSION 2 /* built for another version of the interface */
#define INCOMPLETE 3    /* lacks a function that every runtime must have */
#define SHORT_STRUCT 4  /* has them all, but says that its struct ends before the last */
#define UNWILLING 5     /* complete, and off */
#define LEAST 6         /* only what every runtime must have: two devices, each with a piece of memory */

#if CASE == NO_SYMBOL

__attribute__((visibility("default"))) int something_else = 1;

#else

enum { DEVICES = 2, BYTES = 1 << 20 };

struct peercoll_stream {
    int32_t device;
};

/* `least_memory`: for the test, which plays the application. */
__attribute__((visibility("default"))) char least_memory[DEVICES][BYTES];

static int is_open;

static peercoll_status_t open_runtime(peercoll_reason_t* reason) {
    if (CASE == UNWILLING) {
        strcpy(reason->text, "it is switched off for this test");
        return PEERCOLL_ERR_NOT_SUPPORTED;
    }
    is_open = 1;
    return PEERCOLL_SUCCESS;
}

static void close_runtime(void) {
    is_open = 0;
}

static int32_t device_count(void) {
    return DEVICES;
}

static peercoll_status_t device_info(int32_t device, peercoll_device_info_t* info, peercoll_reason_t* reason) {
    (void)reason;
    memset(info, 0, sizeof(*info));
    info->uuid[0] = (uint8_t)(device + 1);
    info->active = 1;
    return PEERCOLL_SUCCESS;
}

static void classify(const void* address, peercoll_pointer_info_t* info) {
    memset(info, 0, sizeof(*info));
    info->device = -1;
    const uintptr_t at = (uintptr_t)address;
    const uintptr_t base = (uintptr_t)least_memory;
    if (!is_open || at < base || at - base >= sizeof(least_memory)) {
        return;
    }
    info->kind = PEERCOLL_MEMORY_DEVICE;
    info->device = (int32_t)((at - base) / BYTES);
    info->base = base + (uintptr_t)info->device * BYTES;
    info->bytes = BYTES;
}

static peercoll_status_t stream_create(int32_t device, peercoll_stream_t* stream, peercoll_reason_t* reason) {
    (void)reason;
    *stream = malloc(sizeof(**stream));
    if (*stream == NULL) {
        return PEERCOLL_ERR_OUT_OF_MEMORY;
    }
    (*stream)->device = device;
    return PEERCOLL_SUCCESS;
}

static void stream_destroy(peercoll_stream_t stream) {
    free(stream);
}

static peercoll_status_t stream_done(peercoll_stream_t stream, peercoll_reason_t* reason) {
    (void)stream;
    (void)reason;
    return PEERCOLL_SUCCESS;
}

#if CASE != INCOMPLETE
static peercoll_status_t copy(peercoll_stream_t stream, uint64_t to, uint64_t from, size_t bytes,
                              peercoll_reason_t* reason) {
    (void)stream;
    (void)reason;
    memmove((void*)(uintptr_t)to, (const void*)(uintptr_t)from, bytes);
    return PEERCOLL_SUCCESS;
}
#endif

static const char* const libraries[] = {"libc.so", NULL}; /* in every process */

__attribute__((visibility("default"))) const peercoll_device_runtime_t peercoll_device_runtime_v1 = {
    .abi_version = CASE == OTHER_VERSION ? PEERCOLL_DEVICE_ABI_VERSION + 1 : PEERCOLL_DEVICE_ABI_VERSION,
    .struct_size = CASE == SHORT_STRUCT ? offsetof(peercoll_device_runtime_t, copy) : sizeof(peercoll_device_runtime_t),
    .name = CASE == UNWILLING ? "unwilling" : "least",
    .libraries = libraries,
    .open = open_runtime,
    .close = close_runtime,
    .device_count = device_count,
    .device_info = device_info,
    .classify = classify,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_query = stream_done,
    .stream_synchronize = stream_done,
#if CASE != INCOMPLETE
    .copy = copy,
#endif
};

#endif
