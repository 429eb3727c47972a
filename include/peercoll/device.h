/* SPDX-License-Identifier: BSD-3-Clause
 *
 * peercoll: the C interface that a device runtime implements. Host memory is the first of them; one struct of functions
 * each, which begins with its ABI version, its own size and its name. Members are only ever added at the end.
 *
 * What a device runtime is asked for here: memory that several processes share (control segments, staging), and reading
 * and writing memory that another process allocated. All functions are thread safe, never throw, and never block on
 * another process. A function that fails returns a status and writes one sentence into `reason`.
 *
 * A handle or an access token travels from process to process as plain bytes: fixed size, no pointers that mean
 * anything elsewhere. Whoever receives one treats it as untrusted and checks it.
 */
#ifndef PEERCOLL_DEVICE_H
#define PEERCOLL_DEVICE_H

#include <peercoll/peercoll.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PEERCOLL_DEVICE_ABI_VERSION 1u

/* One sentence for people. */
typedef struct peercoll_reason {
    char text[256];
} peercoll_reason_t;

/* How shared memory is named to the other processes. */
typedef uint32_t peercoll_share_kind_t;
enum {
    PEERCOLL_SHARE_MEMFD =
        1,                 /* an anonymous file, opened through the owner's descriptor; same user and pid namespace */
    PEERCOLL_SHARE_SHM = 2 /* a file in /dev/shm with an unguessable name, unlinked as soon as all have it */
};

/* Names a piece of shared memory to other processes. */
typedef struct peercoll_share_handle {
    peercoll_share_kind_t kind; /* 0: none */
    int32_t owner_pid;
    int32_t owner_fd;
    uint32_t owner_uid;
    uint64_t bytes;
    uint64_t device; /* of the file, as fstat says: the opener checks both */
    uint64_t inode;
    char name[40]; /* SHM only, ended by NUL */
} peercoll_share_handle_t;

/* Shared memory mapped here. */
typedef struct peercoll_share {
    void *address;
    size_t bytes;
    int32_t fd; /* kept by the owner until seal, else -1 */
    char name[40];
} peercoll_share_t;

/* How another process's memory is reached without sharing it first. */
typedef uint32_t peercoll_access_kind_t;
enum {
    PEERCOLL_ACCESS_CMA = 1,  /* process_vm_readv and process_vm_writev */
    PEERCOLL_ACCESS_XPMEM = 2 /* attached through the XPMEM module */
};

/* Lets other processes reach this process's memory. */
typedef struct peercoll_access_token {
    uint32_t kinds; /* bit (1 << kind) for each kind offered */
    int32_t pid;
    int64_t xpmem_segment;
} peercoll_access_token_t;

typedef struct peercoll_access *peercoll_access_t; /* another process's memory, opened */

typedef struct peercoll_device_runtime {
    uint32_t abi_version; /* PEERCOLL_DEVICE_ABI_VERSION */
    uint32_t struct_size;
    const char *name; /* "host" */

    /* Allocates `bytes` of zeroed memory that others can map, all of it reserved: touching it later cannot fail. Filled
     * in: `share`, which the caller owns, and `handle` for the others. */
    peercoll_status_t (*share_allocate)(peercoll_share_kind_t kind, size_t bytes, peercoll_share_t *share,
                                        peercoll_share_handle_t *handle, peercoll_reason_t *reason);
    /* Maps what another process allocated. Refuses a handle whose file is not what it says. */
    peercoll_status_t (*share_attach)(const peercoll_share_handle_t *handle, peercoll_share_t *share,
                                      peercoll_reason_t *reason);
    /* Called by the owner once everybody has attached or failed to: nobody can attach any more and no name is left. */
    void (*share_seal)(peercoll_share_t *share);
    /* Unmaps; by the owner also seals. The memory goes when the last process has unmapped it. */
    void (*share_release)(peercoll_share_t *share);

    /* Offers this process's whole memory to processes of the same user. */
    peercoll_status_t (*access_export)(peercoll_access_token_t *token, peercoll_reason_t *reason);
    /* Opens another process's memory by `kind`, one of token->kinds. */
    peercoll_status_t (*access_open)(const peercoll_access_token_t *token, peercoll_access_kind_t kind,
                                     peercoll_access_t *access, peercoll_reason_t *reason);
    /* Copies between `local` and `address` in the other process. 0: all bytes copied; otherwise an errno value. */
    int (*access_read)(peercoll_access_t access, uint64_t address, void *local, size_t bytes);
    int (*access_write)(peercoll_access_t access, uint64_t address, const void *local, size_t bytes);
    void (*access_close)(peercoll_access_t access);
} peercoll_device_runtime_t;

#ifdef __cplusplus
}
#endif

#endif /* PEERCOLL_DEVICE_H */
