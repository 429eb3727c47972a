/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A transport: named messages between processes whose memories cannot reach each other. One struct of functions, the
 * only thing that the rest of peercoll knows of a transport. It lies in a shared object of its own, which nothing links
 * and which is opened by the first communicator that needs it; its data symbol is PEERCOLL_TRANSPORT_SYMBOL. A second
 * transport is a second shared object with the same symbol.
 *
 * Life of a wire, this process's end of the transport: open it once per process; send address() to the other processes;
 * peer() for those that this one will talk to; send() and receive() and test() what they started; progress() as long as
 * busy(); at the end close_begin(), progress() until not busy(), a barrier among the processes where there is one, and
 * close().
 *
 * Functions may be called by any thread, never throw and never wait for another process. A function that fails writes
 * one sentence into `reason`, which may be NULL. Members are only ever added at the end.
 */
#ifndef PEERCOLL_TRANSPORT_H
#define PEERCOLL_TRANSPORT_H

#include <peercoll/device.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PEERCOLL_TRANSPORT_ABI_VERSION 1u
#define PEERCOLL_TRANSPORT_SYMBOL "peercoll_transport_v1"

typedef struct peercoll_wire* peercoll_wire_t;
typedef struct peercoll_wire_peer* peercoll_wire_peer_t; /* another process; lives as long as the wire */
typedef struct peercoll_transfer* peercoll_transfer_t;   /* a message being sent or received; NULL: completed */

/* Where a message's data is. Always told, never found out: a wrong word here is a crash, not an error. */
typedef uint32_t peercoll_wire_memory_t;
enum {
    PEERCOLL_WIRE_HOST = 0,
    PEERCOLL_WIRE_CUDA = 1,
    PEERCOLL_WIRE_CUDA_MANAGED = 2,
    PEERCOLL_WIRE_HIP = 3,
    PEERCOLL_WIRE_HIP_MANAGED = 4
};

typedef struct peercoll_wire_options {
    size_t struct_size;
    const char* library; /* the file to use if the process has loaded none yet; NULL: the system's */
    const char* const*
        settings;       /* "NAME=value", the transport's own, ended by NULL; NULL: none. The environment wins */
    uint32_t processes; /* of the job, as far as known; 0: unknown */
    uint32_t processes_per_node; /* the same */
} peercoll_wire_options_t;

typedef struct peercoll_wire_info {
    size_t struct_size;     /* set by the caller */
    uint32_t memory_kinds;  /* bit (1 << kind) for each peercoll_wire_memory_t that can be sent and received directly */
    uint32_t peers;         /* known, ... */
    uint32_t endpoints;     /* ... connected or being connected */
    uint32_t transfers;     /* started and neither tested as completed nor cancelled */
    uint64_t bytes_sent;    /* of all messages whose sending was started */
    uint64_t messages_sent; /* their number */
    char text[160];         /* for people: "UCX 1.13.1 (host memory)" */
} peercoll_wire_info_t;

/* Names a process of the job; two processes never have the same. */
typedef struct peercoll_process_key {
    uint64_t words[2];
} peercoll_process_key_t;

/* Names a message for its receiver. Messages with the same name from the same process arrive in the order in which they
 * were sent, so the chunks of one step may share a name. */
typedef struct peercoll_message {
    uint32_t communicator; /* the number that the *receiving* process gave its communicator and told the others: numbers
                              need not be agreed upon. Below 2^16 */
    uint32_t sequence;     /* of the collective in its communicator; the lower 16 bits count */
    uint32_t source;       /* the sender's rank in the communicator; below 2^20 */
    uint32_t stage;        /* the step of the schedule; below 2^12 */
} peercoll_message_t;

typedef struct peercoll_transport {
    uint32_t abi_version; /* PEERCOLL_TRANSPORT_ABI_VERSION */
    uint32_t struct_size;
    const char* name; /* "ucx" */

    /* PEERCOLL_ERR_NOT_SUPPORTED: the transport is off in this process, and `reason` says why. */
    peercoll_status_t (*open)(const peercoll_wire_options_t* options, peercoll_wire_t* wire, peercoll_reason_t* reason);
    void (*info)(peercoll_wire_t wire, peercoll_wire_info_t* info);
    /* How others reach this process: *bytes bytes that live as long as the wire. Lengths differ between processes. */
    const void* (*address)(peercoll_wire_t wire, size_t* bytes);

    /* Makes another process known, or finds it: the same key gives the same peer. Local; it is connected on first use.
     * `address` is copied. `same_node`, which both sides must tell alike: use shared memory if possible, and do not
     * expect to be told when the peer is lost. */
    peercoll_status_t (*peer)(peercoll_wire_t wire, const peercoll_process_key_t* key, const void* address,
                              size_t bytes, int same_node, peercoll_wire_peer_t* peer, peercoll_reason_t* reason);
    /* The caller takes the peer for lost: what is outstanding with it fails, and so does everything later but a
     * receive whose message is there already. A process
     * that dies on another node is noticed by the transport; a host that falls silent (a cut cable) is not, or only
     * after many minutes: that takes a time limit of the caller's. */
    void (*drop_peer)(peercoll_wire_t wire, peercoll_wire_peer_t peer);

    /* Start sending or receiving `bytes` bytes, straight from or into `data`, which must stay as it is until
     * completion. Many may be outstanding. Each transfer that is given out goes to test() until completed, or to
     * cancel(). */
    peercoll_status_t (*send)(peercoll_wire_t wire, peercoll_wire_peer_t peer, const peercoll_message_t* message,
                              peercoll_wire_memory_t memory, const void* data, size_t bytes,
                              peercoll_transfer_t* transfer, peercoll_reason_t* reason);
    peercoll_status_t (*receive)(peercoll_wire_t wire, peercoll_wire_peer_t peer, const peercoll_message_t* message,
                                 peercoll_wire_memory_t memory, void* data, size_t bytes, peercoll_transfer_t* transfer,
                                 peercoll_reason_t* reason);
    /* PEERCOLL_ERR_BUSY: not yet completed; anything else ends the transfer, *transfer is then NULL: PEERCOLL_SUCCESS,
     * PEERCOLL_ERR_PEER_LOST, or PEERCOLL_ERR_INTERNAL for a message of another size than was expected. */
    peercoll_status_t (*test)(peercoll_wire_t wire, peercoll_transfer_t* transfer, peercoll_reason_t* reason);
    /* Ends the transfer; *transfer is then NULL. PEERCOLL_SUCCESS: its memory is free. PEERCOLL_ERR_BUSY: the wire
     * holds the memory until the peer has done its part or the wire is closed. */
    peercoll_status_t (*cancel)(peercoll_wire_t wire, peercoll_transfer_t* transfer);

    /* Moves things on a little; 1 if something moved. Does nothing unless busy(). */
    int (*progress)(peercoll_wire_t wire);
    /* 1 while a transfer is outstanding, or what others need of a completed one (a large message's acknowledgement,
     * data that the network has not taken yet): until 0, some thread must call progress() now and then. */
    int (*busy)(peercoll_wire_t wire);

    /* Flushes what was sent; receives still outstanding end, new transfers are refused. */
    void (*close_begin)(peercoll_wire_t wire);
    /* Disconnects from all peers, who need not do anything, and frees the wire and them. Every transfer must have been
     * ended. A wire that is not quiet is given `seconds` to become so. PEERCOLL_ERR_BUSY: it did not, and what a peer
     * may still touch is left alone until the process ends. */
    peercoll_status_t (*close)(peercoll_wire_t wire, double seconds, peercoll_reason_t* reason);
} peercoll_transport_t;

/* 1 if `transport` is new enough to have `member`. */
#define PEERCOLL_TRANSPORT_HAS(transport, member) \
    ((transport)->struct_size >= offsetof(peercoll_transport_t, member) + sizeof((transport)->member))

#ifdef __cplusplus
}
#endif

#endif /* PEERCOLL_TRANSPORT_H */
