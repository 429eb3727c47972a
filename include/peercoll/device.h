/* SPDX-License-Identifier: BSD-3-Clause
 *
 * peercoll: the C interface that a device runtime implements. Host memory is the first of them; CUDA, HIP and Ascend
 * follow, and runtimes that a library outside of peercoll brings. One struct of functions each, which begins with its
 * ABI version, its own size and its name. Members are only ever added at the end; one that lies behind `struct_size`,
 * or is NULL, is not there. PEERCOLL_DEVICE_HAS(runtime, member) asks.
 *
 * What a runtime is asked for: which devices there are and what a pointer is; memory that several processes share and
 * how another process reaches it; copies and reductions. The first part of the struct is for memory that processors
 * reach (the host runtime), the second for memory that only a device reaches.
 *
 * All functions are thread safe, never throw, and never block on another process. They leave the calling thread's
 * current device or context, and the runtime's last error, as they were. A function that fails returns a status and
 * writes one sentence into `reason` (where there is one; it may be NULL). Devices are numbered from 0 within the
 * process, as its runtime numbers them; such an index never travels to another process, a UUID does.
 *
 * A runtime outside of peercoll is a shared library with the data symbol PEERCOLL_DEVICE_RUNTIME_SYMBOL, loaded where
 * the option `device_runtimes` names its path.
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

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

#define PEERCOLL_DEVICE_RUNTIME_SYMBOL "peercoll_device_runtime_v1"

typedef struct peercoll_device_info {
    uint8_t uuid[16];      /* the same in all processes; made from the PCI id where the runtime has none */
    char pci_id[16];       /* "0000:1b:00.0", lower case; "" if unknown */
    char name[64];         /* "NVIDIA H200" */
    char architecture[32]; /* "sm_90", "gfx90a" */
    char reductions[96];   /* for people, where reductions run: "device, sm_90 code", "host: no kernels for sm_35" */
    uint64_t memory_bytes;
    uint32_t active;       /* 1: this process has a context there already; asking never makes one */
    uint32_t import_kinds; /* bit (1 << kind) for each peercoll_handle_kind_t that can be imported on this device */
} peercoll_device_info_t;

typedef uint32_t peercoll_memory_kind_t;
enum {
    PEERCOLL_MEMORY_HOST = 0,   /* processors reach it, and this runtime does not know it */
    PEERCOLL_MEMORY_PINNED = 1, /* processors reach it, registered with or allocated by this runtime */
    PEERCOLL_MEMORY_DEVICE = 2, /* only devices reach it */
    PEERCOLL_MEMORY_MANAGED = 3 /* both reach it; moves */
};

/* How memory of a device can be given to another process. */
typedef uint32_t peercoll_handle_kind_t;
enum {
    PEERCOLL_HANDLE_IPC = 1,     /* bytes that name an allocation: cuIpc*, hipIpc*, aclrtIpcMem* */
    PEERCOLL_HANDLE_FD = 2,      /* a descriptor of one physical allocation (VMM) */
    PEERCOLL_HANDLE_POOL_FD = 3, /* a descriptor of a memory pool, and bytes that name a pointer of it */
    PEERCOLL_HANDLE_FABRIC = 4   /* bytes that name a physical allocation on a fabric of several hosts */
};

typedef struct peercoll_pointer_info {
    peercoll_memory_kind_t kind;
    int32_t device;         /* -1 for host memory */
    uint64_t allocation_id; /* unique in the process, never used again; 0 if the runtime has none */
    uint64_t base;          /* of the allocation */
    uint64_t bytes;         /* of the allocation */
    uint32_t handle_kinds;  /* bit (1 << kind) for each way it may be shared; 0: it cannot be, stage it */
    uint32_t reserved;
} peercoll_pointer_info_t;

/* Names an allocation to other processes. */
typedef struct peercoll_memory_handle {
    peercoll_handle_kind_t kind; /* 0: none */
    uint32_t reserved;
    uint64_t allocation_id; /* in the exporting process */
    uint64_t base;          /* in the exporting process; whoever imports gets the address that stands for it */
    uint64_t bytes;
    uint8_t device_uuid[16]; /* where the memory is */
    uint8_t data[136];       /* the runtime's own handle; large enough for ACL's fabric handle (128 bytes) */
} peercoll_memory_handle_t;

/* Another process's memory as it is reached here. */
typedef struct peercoll_mapping {
    uint64_t address; /* stands for the handle's base */
    uint64_t bytes;
    int32_t device; /* it was imported for */
    peercoll_handle_kind_t kind;
    uint64_t opaque[4]; /* the runtime's own */
} peercoll_mapping_t;

typedef struct peercoll_stream *peercoll_stream_t; /* work that runs in order; never the application's streams */
typedef struct peercoll_event *peercoll_event_t;

/* A fold on a device: for each i below `count`
 *     outputs[j][i] = the expression over inputs[0][i], inputs[1][i], ...   for every j
 * The expression: `block_ends` cuts the inputs, in order, into blocks; a block is folded from left to right, and so are
 * the blocks' results (ReductionPlan). One input is a copy. Bits are those of the host's kernels
 * (collectives/reduction/host_kernels.hpp). An output may be the same address as an input, else they do not overlap.
 * No alignment is required. Broadcast is a fold of one input, PEERCOLL_BYTE and PEERCOLL_NO_OP. */
typedef struct peercoll_fold {
    size_t struct_size;
    peercoll_datatype_t datatype;
    peercoll_op_t op;
    uint64_t count;
    uint32_t n_inputs;          /* 1 to PEERCOLL_FOLD_MOST */
    uint32_t n_outputs;         /* 1 to PEERCOLL_FOLD_MOST */
    uint32_t n_blocks;          /* 1 to n_inputs */
    uint32_t granularity_log2;  /* the sizes of all allocations concerned are multiples of 1 << this; 0: unknown. A
                                   runtime may map another process's memory in pages that depend on it. */
    const uint64_t *inputs;     /* device addresses; all arrays are read before the call returns */
    const uint64_t *outputs;    /* device addresses */
    const uint32_t *block_ends; /* index of the first input behind each block; the last one is n_inputs */
    /* Where the device writes `flag_value`, 64 bits, once all outputs are written and visible to every processor and
     * device; 0: nowhere. A device address, or that of host memory as register_host() gave it. */
    uint64_t flag;
    uint64_t flag_value;
    /* 0, or the caller expects more such folds on this stream: the runtime may leave the kernel on the device for so
     * many nanoseconds, to take the next one without a launch. Until it has left, the stream is busy: the flag tells
     * when the fold is done. Whatever else the stream is given makes the kernel leave. Only for a process that alone
     * uses the device. A runtime that has nothing of the kind ignores it. */
    uint64_t standby_ns;
    /* NULL, or set to 1 if a kernel that had stayed takes this fold. */
    uint32_t *stood_by;
} peercoll_fold_t;

#define PEERCOLL_FOLD_MOST 64u

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

    /* ---- Memory that only a device reaches: CUDA, HIP, Ascend; NULL in the host runtime -----------------------------
     */

    /* File names, or beginnings of them ("libcuda.so"), of the libraries whose presence in a process means that it may
     * use this runtime; ended by NULL. Nothing else of the runtime is called before one of them is loaded. */
    const char *const *libraries;
    /* Attaches to the runtime this process has loaded; never loads one and never makes a context. Anything but
     * PEERCOLL_SUCCESS: the runtime is off in this process, and `reason` says why (a stub, no device, too old). Called
     * again it gives the first answer; after close() it attaches anew. */
    peercoll_status_t (*open)(peercoll_reason_t *reason);
    /* Gives back what open() and the other functions took. Tolerates a runtime that has been torn down. */
    void (*close)(void);
    int32_t (*device_count)(void);
    peercoll_status_t (*device_info)(int32_t device, peercoll_device_info_t *info, peercoll_reason_t *reason);
    /* For people: "CUDA 13.0 driver", static until close(). */
    const char *(*version_text)(void);

    /* What `address` points to; never fails, unknown memory is PEERCOLL_MEMORY_HOST. The fast question of every call.
     */
    void (*classify)(const void *address, peercoll_pointer_info_t *info);
    /* Whether the allocation is still there; 0 once it was freed, also if its address is in use again. */
    int (*is_live)(uint64_t base, uint64_t allocation_id);
    /* Makes what the application has done to the allocation by "synchronous" calls complete before others read it,
     * now and for the future where the runtime can promise that (then once per allocation is enough and *lasting = 1).
     */
    peercoll_status_t (*settle)(const peercoll_pointer_info_t *info, int *lasting, peercoll_reason_t *reason);

    /* Whether kernels of `device` can reach memory of `peer`, as the runtime says. The same device: 1. Directional. */
    int (*can_access_peer)(int32_t device, int32_t peer);
    /* Enables it; counted, so that as many disable_peer() take it back; what others enabled is never disabled. */
    peercoll_status_t (*enable_peer)(int32_t device, int32_t peer, peercoll_reason_t *reason);
    peercoll_status_t (*disable_peer)(int32_t device, int32_t peer, peercoll_reason_t *reason);

    /* Names the allocation of `info` to other processes by `kind`, one of info->handle_kinds. *fd: a descriptor the
     * caller sends along and closes, or -1. `reader_pid`: the process that will import (Ascend keeps a list); 0: any.
     */
    peercoll_status_t (*export_memory)(const peercoll_pointer_info_t *info, peercoll_handle_kind_t kind,
                                       int32_t reader_pid, peercoll_memory_handle_t *handle, int *fd,
                                       peercoll_reason_t *reason);
    /* Maps what another process exported, for use by `device`. `fd` stays the caller's. */
    peercoll_status_t (*import_memory)(int32_t device, const peercoll_memory_handle_t *handle, int fd,
                                       peercoll_mapping_t *mapping, peercoll_reason_t *reason);
    /* Unmaps. Nothing that runs on the device may use it any more. */
    void (*release_mapping)(peercoll_mapping_t *mapping);

    /* Memory of our own on `device` that can be exported as PEERCOLL_HANDLE_IPC. */
    peercoll_status_t (*allocate)(int32_t device, size_t bytes, uint64_t *address, peercoll_reason_t *reason);
    void (*free_memory)(int32_t device, uint64_t address);
    /* Host memory of our own that copies to and from `device` use at full speed. */
    peercoll_status_t (*allocate_host)(int32_t device, size_t bytes, void **address, peercoll_reason_t *reason);
    void (*free_host)(int32_t device, void *address);
    /* Lets `device` reach host memory, for flags. */
    peercoll_status_t (*register_host)(int32_t device, void *address, size_t bytes, uint64_t *device_address,
                                       peercoll_reason_t *reason);
    void (*unregister_host)(int32_t device, void *address);

    /* A stream that never waits for the application's own. */
    peercoll_status_t (*stream_create)(int32_t device, peercoll_stream_t *stream, peercoll_reason_t *reason);
    void (*stream_destroy)(peercoll_stream_t stream);
    /* PEERCOLL_SUCCESS: all work is done; PEERCOLL_ERR_BUSY: not yet; anything else: it failed. Never blocks. */
    peercoll_status_t (*stream_query)(peercoll_stream_t stream, peercoll_reason_t *reason);
    peercoll_status_t (*stream_synchronize)(peercoll_stream_t stream, peercoll_reason_t *reason);
    peercoll_status_t (*event_create)(int32_t device, peercoll_event_t *event, peercoll_reason_t *reason);
    void (*event_destroy)(peercoll_event_t event);
    peercoll_status_t (*event_record)(peercoll_event_t event, peercoll_stream_t stream, peercoll_reason_t *reason);
    peercoll_status_t (*event_query)(peercoll_event_t event, peercoll_reason_t *reason); /* as stream_query */
    peercoll_status_t (*stream_wait)(peercoll_stream_t stream, peercoll_event_t event, peercoll_reason_t *reason);

    /* Starts a copy: host (pinned, or it may block) and device memory in any combination, mappings too. */
    peercoll_status_t (*copy)(peercoll_stream_t stream, uint64_t to, uint64_t from, size_t bytes,
                              peercoll_reason_t *reason);
    /* 1 if fold() can do it on `device`. Depends on the device's kernels, the datatype and the operation alone. */
    int (*can_fold)(int32_t device, peercoll_datatype_t datatype, peercoll_op_t op);
    /* Starts a fold. */
    peercoll_status_t (*fold)(peercoll_stream_t stream, const peercoll_fold_t *fold, peercoll_reason_t *reason);
    /* Starts writing `value` to `flag` (as peercoll_fold_t's) behind all work of the stream. NOT_SUPPORTED: the runtime
     * cannot; query the stream. */
    peercoll_status_t (*write_flag)(peercoll_stream_t stream, uint64_t flag, uint64_t value, peercoll_reason_t *reason);

    /* Bit (1 << kind) for each kind of handle that import_memory() takes although this process does not see the device
     * where the memory is (CUDA_VISIBLE_DEVICES). can_access_peer() cannot be asked of such a device: a proof decides.
     * Not there: none. */
    uint32_t (*unseen_import_kinds)(int32_t device);
    /* Asked before open(), once one of `libraries` is there: 0 as long as nothing in this process has started the
     * runtime (cuInit, aclInit), so that no memory of a device can be there. open() is not called before, because who
     * starts a runtime takes it from the children that are forked later. Cheap, and starts nothing itself. 1 also where
     * that cannot be known. Not there: 1. */
    int (*is_started)(void);
} peercoll_device_runtime_t;

/* 1 if `runtime` is new enough to have `member`, and has it. */
#define PEERCOLL_DEVICE_HAS(runtime, member)                                                              \
    ((runtime)->struct_size >= offsetof(peercoll_device_runtime_t, member) + sizeof((runtime)->member) && \
     (runtime)->member != NULL)

#ifdef __cplusplus
}
#endif

#endif /* PEERCOLL_DEVICE_H */
