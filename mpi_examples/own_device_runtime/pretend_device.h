/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The programming interface of a device that does not exist, as its "vendor" would ship it. It stands for any maker's
 * library: peercoll knows nothing of it, runtime.c brings the two together.
 *
 * There is one device in each process. It has no arithmetic and copies at once; its memory is ordinary memory that the
 * processor must not touch: the addresses that a program gets have no access rights, and a program that follows one
 * ends with SIGSEGV, as it would on a real device.
 *
 * Functions return 0, or an errno value.
 */
#ifndef PRETEND_DEVICE_H
#define PRETEND_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PRETEND_API __attribute__((visibility("default")))

/* Where an address lies. `id` is never used again. */
struct pretend_allocation {
    void* base;
    size_t bytes;
    uint64_t id;
};

PRETEND_API int pretend_malloc(void** address, size_t bytes);
PRETEND_API int pretend_free(void* address);
/* Between any two of host and device memory. EFAULT, and nothing copied, where device memory ends too early. */
PRETEND_API int pretend_copy(void* to, const void* from, size_t bytes);
/* ENOENT for what is no memory of the device. */
PRETEND_API int pretend_find(const void* address, struct pretend_allocation* allocation);
PRETEND_API size_t pretend_bytes_in_use(void);

#ifdef __cplusplus
}
#endif

#endif
