/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a kernel of the simulated node is called. A kernel `fold` lies in the shared library that the environment
 * variable PEERCOLL_SIMULATOR_KERNELS names, as two symbols with default visibility:
 *
 *     extern "C" void fold(void *parameters, const peercoll_simulated_launch *launch);
 *     extern "C" const size_t fold_parameter_bytes;      (sizeof of the kernel's one by-value argument)
 *     extern "C" const char fold_stays;                  (only where the kernel waits for more to do)
 *
 * One call is the whole grid: the kernel loops over blocks and threads itself. `parameters` is a copy, taken at the
 * launch, of what kernelParams[0] pointed to. A kernel runs on a thread of its device; kernels of different devices run
 * at the same time, those of one device of one process one after the other, but for those that stay, which have a
 * thread of their own.
 */
#ifndef PEERCOLL_SIMULATED_LAUNCH_H
#define PEERCOLL_SIMULATED_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct peercoll_simulated_launch peercoll_simulated_launch;

struct peercoll_simulated_launch {
    size_t struct_size;
    uint32_t grid[3];  /* blocks */
    uint32_t block[3]; /* threads of a block */
    uint32_t shared_bytes;
    int32_t device; /* that runs the kernel, as the process numbers them */
    /* The processor's address for `bytes` bytes at a device's address, or at that of registered host memory; good until
     * the kernel returns. `write`: 0 to read, 1 to write or to do both. All loads and stores of a kernel go through
     * one. NULL: the access is illegal, and the launch fails as an illegal address does on a device; the kernel returns
     * at once. Where the node's file says that stores from here to there are lost, writing gets a scratch copy of the
     * memory that nobody will ever see. 0 bytes: any address, never NULL. */
    void* (*translate)(const peercoll_simulated_launch* launch, uint64_t device_address, uint64_t bytes, int write);
    void* opaque; /* the simulator's own */
};

#ifdef __cplusplus
}
#endif

#endif /* PEERCOLL_SIMULATED_LAUNCH_H */
