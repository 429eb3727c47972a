/* SPDX-License-Identifier: BSD-3-Clause
 *
 * peercoll: collectives between the memories of the processes of one job, as direct copies and reductions.
 *
 * This is the whole C interface. A library that implements it exports one data symbol, `peercoll_plugin_v1`, a
 * struct of functions that begins with its ABI version, its own size and its name. A caller links the library, or
 * opens it with dlopen() and looks the symbol up:
 *
 *     void *library = dlopen("libpeercoll.so.1", RTLD_NOW | RTLD_LOCAL);
 *     const peercoll_plugin_t *peercoll = dlsym(library, PEERCOLL_PLUGIN_SYMBOL);
 *     if (peercoll == NULL || peercoll->abi_version != PEERCOLL_ABI_VERSION) ...
 *
 * Old callers, new library: a member is never moved or removed within one ABI version. New callers, old library: a
 * member that lies behind `struct_size` is not there; PEERCOLL_HAS(plugin, member) asks. Parameter structs begin with
 * their size for the same reason: set `struct_size = sizeof(struct)`, zero the rest, fill in what you need.
 *
 * Errors: every function that can fail returns a peercoll_status_t; last_error() then gives one sentence that says
 * what was wrong and what was expected. Nothing returns PEERCOLL_SUCCESS that was not done. No C++ exception leaves.
 *
 * Threads: a context may be used from any number of threads. A communicator, and the requests made on it, must be used
 * by one thread at a time; different threads may use different communicators at the same time.
 *
 * Collectives: all ranks of a communicator call (or start) the same collectives in the same order.
 */
#ifndef PEERCOLL_PEERCOLL_H
#define PEERCOLL_PEERCOLL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PEERCOLL_ABI_VERSION 1u
#define PEERCOLL_PLUGIN_SYMBOL "peercoll_plugin_v1"

/* ---- Status ------------------------------------------------------------------------------------------------------ */

typedef int32_t peercoll_status_t;
enum {
    PEERCOLL_SUCCESS = 0,
    PEERCOLL_ERR_INVALID_ARGUMENT = -1, /* an argument or option is wrong; nothing was done */
    PEERCOLL_ERR_NOT_SUPPORTED = -2,    /* this communicator, type or operation is not served here. All ranks get this
                                           answer alike and nothing was communicated: use another implementation */
    PEERCOLL_ERR_OUT_OF_MEMORY = -3,
    PEERCOLL_ERR_PEER_LOST = -4, /* a process of the communicator died or gave up in the middle of a collective */
    PEERCOLL_ERR_TIMEOUT = -5,   /* the collective did not end within the option `timeout` */
    PEERCOLL_ERR_BUSY = -6,      /* the object is in use: an active request, a communicator with requests */
    PEERCOLL_ERR_SYSTEM = -7,    /* an operating system call failed in a way with no other path */
    PEERCOLL_ERR_CALLBACK = -8,  /* the caller's allgather callback reported a failure */
    PEERCOLL_ERR_INTERNAL = -9   /* a fault of this library */
};

/* ---- Datatypes --------------------------------------------------------------------------------------------------- */

/* Elements of reductions. Names say the representation; MPI's C and Fortran names map onto them by size and kind (for
 * example MPI_LONG is INT64 on Linux x86-64, MPI_AINT INT64, MPI_DOUBLE_PRECISION FLOAT64, MPI_INTEGER INT32). */
typedef int32_t peercoll_datatype_t;
enum {
    PEERCOLL_DATATYPE_NONE = 0,
    PEERCOLL_INT8 = 1,
    PEERCOLL_UINT8 = 2,
    PEERCOLL_INT16 = 3,
    PEERCOLL_UINT16 = 4,
    PEERCOLL_INT32 = 5,
    PEERCOLL_UINT32 = 6,
    PEERCOLL_INT64 = 7,
    PEERCOLL_UINT64 = 8,
    PEERCOLL_BYTE = 9,      /* 8 bits without arithmetic: bitwise operations only */
    PEERCOLL_FLOAT16 = 10,  /* IEEE binary16; accumulated in float32 */
    PEERCOLL_BFLOAT16 = 11, /* upper half of binary32; accumulated in float32 */
    PEERCOLL_FLOAT32 = 12,
    PEERCOLL_FLOAT64 = 13,
    PEERCOLL_FLOAT80 = 14,         /* x87 extended in 16 bytes: `long double` on x86-64; there only */
    PEERCOLL_FLOAT128 = 15,        /* IEEE binary128: Fortran REAL*16 */
    PEERCOLL_COMPLEX_FLOAT32 = 16, /* two FLOAT32: real, imaginary */
    PEERCOLL_COMPLEX_FLOAT64 = 17,
    PEERCOLL_COMPLEX_FLOAT80 = 18,
    PEERCOLL_COMPLEX_FLOAT128 = 19,
    PEERCOLL_BOOL = 20,     /* C `_Bool`, 1 byte */
    PEERCOLL_LOGICAL8 = 21, /* Fortran LOGICAL*1 ...; true is nonzero on input and 1 on output */
    PEERCOLL_LOGICAL16 = 22,
    PEERCOLL_LOGICAL32 = 23,
    PEERCOLL_LOGICAL64 = 24,
    PEERCOLL_PAIR_FLOAT32_INT32 = 25,   /* struct { float value; int index; }: MPI_FLOAT_INT, C layout and padding */
    PEERCOLL_PAIR_FLOAT64_INT32 = 26,   /* MPI_DOUBLE_INT, 16 bytes */
    PEERCOLL_PAIR_INT64_INT32 = 27,     /* MPI_LONG_INT, 16 bytes */
    PEERCOLL_PAIR_INT32_INT32 = 28,     /* MPI_2INT, MPI_2INTEGER */
    PEERCOLL_PAIR_INT16_INT32 = 29,     /* MPI_SHORT_INT, 8 bytes */
    PEERCOLL_PAIR_FLOAT80_INT32 = 30,   /* MPI_LONG_DOUBLE_INT, 32 bytes */
    PEERCOLL_PAIR_FLOAT32_FLOAT32 = 31, /* MPI_2REAL */
    PEERCOLL_PAIR_FLOAT64_FLOAT64 = 32, /* MPI_2DOUBLE_PRECISION */
    PEERCOLL_DATATYPE_END = 33
};

/* ---- Operations -------------------------------------------------------------------------------------------------- */

/* The predefined operations of MPI, with MPI's meaning. op_supports() says which datatypes each takes. */
typedef int32_t peercoll_op_t;
enum {
    PEERCOLL_OP_NONE = 0,
    PEERCOLL_SUM = 1,
    PEERCOLL_PROD = 2,
    PEERCOLL_MIN = 3,
    PEERCOLL_MAX = 4,
    PEERCOLL_LAND = 5, /* logical: nonzero is true, result 0 or 1 */
    PEERCOLL_LOR = 6,
    PEERCOLL_LXOR = 7,
    PEERCOLL_BAND = 8, /* bitwise */
    PEERCOLL_BOR = 9,
    PEERCOLL_BXOR = 10,
    PEERCOLL_MINLOC = 11, /* pairs; the smaller index wins a tie */
    PEERCOLL_MAXLOC = 12,
    PEERCOLL_REPLACE = 13, /* a op b = b, so the last rank's value; not commutative */
    PEERCOLL_NO_OP = 14,   /* a op b = a, so the first rank's value; not commutative */
    PEERCOLL_OP_END = 15
};

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

typedef struct peercoll_context *peercoll_context_t; /* one per process and user: options, statistics, topology */
typedef struct peercoll_comm *peercoll_comm_t;       /* a group of ranks, as in MPI */
typedef struct peercoll_request *peercoll_request_t; /* a started collective, or a persistent one */

/* Gathers `bytes` bytes of every rank into `all` (size x bytes, in rank order) on every rank. Called by this library
 * inside the first collective of a communicator, on all its ranks alike. Returns 0, or anything else for failure (then
 * on all ranks, or the job is expected to end). `user` is the communicator's. */
typedef int (*peercoll_allgather_fn)(const void *mine, void *all, size_t bytes, void *user);

/* Called now and then while a collective waits, so that the host program's own communication goes on (for example
 * MPI's progress engine). Must not block and must not call this library. The result is ignored. */
typedef int (*peercoll_progress_fn)(void *user);

/* Receives one line of text, without a newline. The text is gone when the function returns. */
typedef void (*peercoll_line_fn)(const char *line, void *user);

typedef struct peercoll_context_params {
    size_t struct_size;
    /* "name=value" strings (names as in the option table, without prefix), ended by NULL; or NULL. They win over the
     * environment (PEERCOLL_NAME=value). Copied. */
    const char *const *options;
    /* What the strings above are called in messages, for example "MCA parameter". NULL: "caller". Copied. */
    const char *options_origin;
    /* Who runs this, for log lines, for example "rank 3". NULL: "pid N". Copied. */
    const char *label;
} peercoll_context_params_t;

typedef struct peercoll_comm_params {
    size_t struct_size;
    int32_t rank; /* 0 <= rank < size */
    int32_t size;
    peercoll_allgather_fn allgather; /* required if size > 1; must stay valid until comm_destroy */
    peercoll_progress_fn progress;   /* may be NULL */
    void *user;                      /* handed to both */
    const char *label;               /* for log lines, for example "MPI_COMM_WORLD"; may be NULL. Copied. */
} peercoll_comm_params_t;

typedef struct peercoll_option_info {
    size_t struct_size;  /* in */
    const char *name;    /* "allreduce_algorithm": PEERCOLL_ALLREDUCE_ALGORITHM in the environment */
    const char *meaning; /* one sentence */
    const char *values;  /* what it takes, for people: "auto|packets|staged" or "a size, 4KiB to 1GiB" */
    const char *default_value;
} peercoll_option_info_t;

/* What a collective was not served for, when the caller passes it on to another implementation (comm_passed_on). */
typedef int32_t peercoll_collective_t;
enum { PEERCOLL_ALLREDUCE = 0, PEERCOLL_BROADCAST = 1, PEERCOLL_COLLECTIVE_END = 2 };

/* ---- The plugin -------------------------------------------------------------------------------------------------- */

typedef struct peercoll_plugin {
    uint32_t abi_version; /* PEERCOLL_ABI_VERSION */
    uint32_t struct_size; /* of this struct in the library */
    const char *name;     /* "peercoll" */

    /* Version of the library, "major.minor.patch". Static. */
    const char *(*version)(void);
    /* The sentence for the last call of this thread that failed; "" if none has. Valid until this thread's next call.
     */
    const char *(*last_error)(void);
    /* "PEERCOLL_ERR_TIMEOUT" and so on; "unknown status" for others. Static. */
    const char *(*status_name)(peercoll_status_t status);

    /* Bytes of one element, 0 for a value that is no datatype (or one this machine lacks). */
    size_t (*datatype_size)(peercoll_datatype_t datatype);
    /* Static names in lower case, "float32", "minloc"; NULL for a value that is none. */
    const char *(*datatype_name)(peercoll_datatype_t datatype);
    const char *(*op_name)(peercoll_op_t op);
    /* 1 if `op` is defined for `datatype` here, else 0. Depends on the two values alone. */
    int (*op_supports)(peercoll_op_t op, peercoll_datatype_t datatype);

    /* Row `index` of the option table; PEERCOLL_ERR_INVALID_ARGUMENT past its end. Strings are static. */
    peercoll_status_t (*option_info)(size_t index, peercoll_option_info_t *info);

    /* Reads the options. PEERCOLL_ERR_INVALID_ARGUMENT names the option that does not parse, and what it takes.
     * `params` may be NULL. Touches no other process. */
    peercoll_status_t (*context_create)(const peercoll_context_params_t *params, peercoll_context_t *context);
    /* PEERCOLL_ERR_BUSY while communicators exist. NULL is allowed. */
    peercoll_status_t (*context_destroy)(peercoll_context_t context);
    /* Advances every started collective of the context a little. Never blocks. */
    peercoll_status_t (*context_progress)(peercoll_context_t context);
    /* The value in force of an option and where it came from ("default", "environment", the caller's word). The
     * strings live as long as the context. Either pointer may be NULL. */
    peercoll_status_t (*context_option)(peercoll_context_t context, const char *name, const char **value,
                                        const char **origin);

    /* Makes a communicator. Local: no communication, no shared memory until its first collective. */
    peercoll_status_t (*comm_create)(peercoll_context_t context, const peercoll_comm_params_t *params,
                                     peercoll_comm_t *comm);
    /* Local: does not wait for other ranks. PEERCOLL_ERR_BUSY while a request is active or a persistent one exists.
     * NULL is allowed. */
    peercoll_status_t (*comm_destroy)(peercoll_comm_t comm);

    /* Reduces `count` elements of every rank's `sendbuf` into every rank's `recvbuf`. sendbuf == recvbuf means in
     * place; otherwise they must not overlap. count, datatype and op are the same on all ranks. Blocking. The bits of
     * the result are the same on all ranks and for every algorithm (option `order` chooses the association). */
    peercoll_status_t (*allreduce)(const void *sendbuf, void *recvbuf, size_t count, peercoll_datatype_t datatype,
                                   peercoll_op_t op, peercoll_comm_t comm);
    /* Copies `bytes` bytes of rank `root`'s buffer into every other rank's. bytes and root are the same on all ranks.
     */
    peercoll_status_t (*broadcast)(void *buffer, size_t bytes, int32_t root, peercoll_comm_t comm);

    /* The same, started: returns a request at once. Buffers belong to the collective until the request has completed.
     * Requests of one communicator progress in the order they were started. */
    peercoll_status_t (*allreduce_start)(const void *sendbuf, void *recvbuf, size_t count, peercoll_datatype_t datatype,
                                         peercoll_op_t op, peercoll_comm_t comm, peercoll_request_t *request);
    peercoll_status_t (*broadcast_start)(void *buffer, size_t bytes, int32_t root, peercoll_comm_t comm,
                                         peercoll_request_t *request);
    /* The same, persistent: checks the arguments and keeps them; request_start() starts it, as often as wanted. */
    peercoll_status_t (*allreduce_init)(const void *sendbuf, void *recvbuf, size_t count, peercoll_datatype_t datatype,
                                        peercoll_op_t op, peercoll_comm_t comm, peercoll_request_t *request);
    peercoll_status_t (*broadcast_init)(void *buffer, size_t bytes, int32_t root, peercoll_comm_t comm,
                                        peercoll_request_t *request);
    /* Starts a persistent request. PEERCOLL_ERR_BUSY if it is active. */
    peercoll_status_t (*request_start)(peercoll_request_t request);
    /* Progresses, and sets *done to 1 if the request has completed (then its status is returned), else 0. A completed
     * request that is not persistent is freed and *request set to NULL; *request == NULL is done. */
    peercoll_status_t (*request_test)(peercoll_request_t *request, int *done);
    /* The same, blocking. An inactive persistent request is done. */
    peercoll_status_t (*request_wait)(peercoll_request_t *request);
    /* Frees a persistent request that is not active and sets *request to NULL; PEERCOLL_ERR_BUSY if it is active. */
    peercoll_status_t (*request_free)(peercoll_request_t *request);

    /* Counts, in the statistics, a collective that the caller took to another implementation. `reason` is a short word
     * in lower case, "several_hosts", "user_op". */
    peercoll_status_t (*comm_passed_on)(peercoll_comm_t comm, peercoll_collective_t collective, const char *reason);

    /* Counter `index` of the context ("allreduce.served", "allreduce.algorithm.packets", "broadcast.passed_on.user_op",
     * "segment.bytes"): name and value. Counters only grow, but for "segment.bytes" and "segment.count", which tell
     * the present: segments of communicators in use, and those kept for the next communicator of the same processes.
     * PEERCOLL_ERR_INVALID_ARGUMENT past the end. The name lives as long as the context. */
    peercoll_status_t (*statistic)(peercoll_context_t context, size_t index, const char **name, uint64_t *value);

    /* Tells `line`, one call a line, for people: the node's topology as this process sees it. */
    peercoll_status_t (*describe_topology)(peercoll_context_t context, peercoll_line_fn line, void *user);
    /* The same: the communicator's nodes, groups, algorithms, and for each pair of ranks the path and its reason.
     * Collective over the communicator only if it has run no collective yet. */
    peercoll_status_t (*describe_comm)(peercoll_comm_t comm, peercoll_line_fn line, void *user);

    /* ---- Device memory, for callers that take it to an implementation that knows only host memory ---- */

    /* 1 if `address` is memory of a device (managed memory too), 0 if it is plain host memory. In a process that has
     * loaded no device runtime this is one branch, and nothing of any runtime is called. */
    int (*memory_is_device)(peercoll_context_t context, const void *address);
    /* Copies between any two memories of this process. Blocking: done and visible to all streams when it returns. */
    peercoll_status_t (*memory_copy)(peercoll_context_t context, void *to, const void *from, size_t bytes);
    /* Host memory that copies from and to devices are fast with; belongs to the caller until given back. The context
     * keeps some of what is given back for the next. Not zeroed. */
    peercoll_status_t (*staging_take)(peercoll_context_t context, size_t bytes, void **memory);
    void (*staging_give_back)(peercoll_context_t context, void *memory);
    /* Adds 1 to the counter "<subject>.<event>" of the statistics, two short words as for comm_passed_on. */
    peercoll_status_t (*count)(peercoll_context_t context, const char *subject, const char *event);
    /* Tells `line`, one call a line, for people: the device runtimes and devices of this process, or why there are
     * none. Attaches to runtimes the process has loaded; makes no contexts. */
    peercoll_status_t (*describe_devices)(peercoll_context_t context, peercoll_line_fn line, void *user);
    /* 1 if this process has loaded a device runtime by now, so that memory_is_device() may answer 1 for some address;
     * else 0. One question for a call with many buffers: a look at the dynamic loader's count of what it has loaded. */
    int (*devices_in_use)(peercoll_context_t context);
} peercoll_plugin_t;

/* 1 if the library behind `plugin` is new enough to have `member`. */
#define PEERCOLL_HAS(plugin, member) \
    ((plugin)->struct_size >= offsetof(peercoll_plugin_t, member) + sizeof((plugin)->member))

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const peercoll_plugin_t peercoll_plugin_v1;

#ifdef __cplusplus
}
#endif

#endif /* PEERCOLL_PEERCOLL_H */
