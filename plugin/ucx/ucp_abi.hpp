// SPDX-License-Identifier: BSD-3-Clause
// What is used of UCP's binary interface, declared by hand so that building needs no UCX. Values and layouts are those
// of 1.13 and later, which only append to them and read no member that a mask does not name. A test compares every one
// with UCX's own header where that is installed.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>

namespace peercoll::ucx {

using UcpContext = struct UcpContextObject*;
using UcpWorker = struct UcpWorkerObject*;
using UcpEndpoint = struct UcpEndpointObject*;
using UcpConfig = struct UcpConfigObject;
using UcpAddress = struct UcpAddressObject;

// ---- Status: 0, a negative error, or (where a request is returned) a pointer ----
using UcsStatus = std::int8_t;
namespace ucs_status {
inline constexpr UcsStatus ok = 0;
inline constexpr UcsStatus in_progress = 1;
inline constexpr UcsStatus message_truncated = -9;
inline constexpr UcsStatus canceled = -16;
inline constexpr UcsStatus last_error = -100;
}  // namespace ucs_status

inline bool is_error(const void* returned) {
    return reinterpret_cast<std::uintptr_t>(returned) >=
           static_cast<std::uintptr_t>(static_cast<std::intptr_t>(ucs_status::last_error));
}
inline UcsStatus error_of(const void* returned) {
    return static_cast<UcsStatus>(reinterpret_cast<std::intptr_t>(returned));
}

// ---- Context ----
struct UcpParameters {
    static constexpr std::uint64_t field_features = 1u << 0;
    static constexpr std::uint64_t field_tag_sender_mask = 1u << 4;
    static constexpr std::uint64_t field_estimated_endpoints = 1u << 6;
    static constexpr std::uint64_t field_estimated_per_node = 1u << 7;
    static constexpr std::uint64_t field_name = 1u << 8;
    static constexpr std::uint64_t feature_tag = 1u << 0;

    std::uint64_t field_mask = 0;
    std::uint64_t features = 0;
    std::size_t request_size = 0;
    void (*request_init)(void*) = nullptr;
    void (*request_cleanup)(void*) = nullptr;
    std::uint64_t tag_sender_mask = 0;
    int workers_shared = 0;
    std::size_t estimated_endpoints = 0;
    std::size_t estimated_per_node = 0;
    const char* name = nullptr;
};

struct UcpContextAttributes {
    static constexpr std::uint64_t field_memory_types = 1u << 2;

    std::uint64_t field_mask = 0;
    std::size_t request_size = 0;
    int thread_mode = 0;
    std::uint64_t memory_types = 0;
    char name[32] = {};
};

// ---- Worker ----
struct UcpWorkerParameters {
    static constexpr std::uint64_t field_thread_mode = 1u << 0;
    static constexpr std::uint64_t field_flags = 1u << 5;
    static constexpr int thread_mode_serialized = 1;
    static constexpr std::uint64_t flag_ignore_request_leak = 1u << 0;

    std::uint64_t field_mask = 0;
    int thread_mode = 0;
    std::uint64_t cpu_mask[16] = {};
    unsigned events = 0;
    void* user_data = nullptr;
    int event_descriptor = -1;
    std::uint64_t flags = 0;
    const char* name = nullptr;
    std::size_t am_alignment = 0;
    std::uint64_t client_id = 0;
};

// ---- Endpoint ----
using UcpErrorCallback = void (*)(void* argument, UcpEndpoint endpoint, UcsStatus status);

struct UcpSocketAddress {
    const sockaddr* address = nullptr;
    socklen_t length = 0;
};

struct UcpEndpointParameters {
    static constexpr std::uint64_t field_address = 1u << 0;
    static constexpr std::uint64_t field_error_mode = 1u << 1;
    static constexpr std::uint64_t field_error_handler = 1u << 2;
    static constexpr int error_mode_none = 0;
    static constexpr int error_mode_peer = 1;

    std::uint64_t field_mask = 0;
    const UcpAddress* address = nullptr;
    int error_mode = error_mode_none;
    UcpErrorCallback error_callback = nullptr;
    void* error_argument = nullptr;
    void* user_data = nullptr;
    unsigned flags = 0;
    UcpSocketAddress socket_address;
    void* connection_request = nullptr;
    const char* name = nullptr;
    UcpSocketAddress local_socket_address;
};

// ---- Messages ----
struct UcpTagInfo {
    std::uint64_t sender_tag = 0;
    std::size_t length = 0;
};
using UcpSendCallback = void (*)(void* request, UcsStatus status, void* user_data);
using UcpReceiveCallback = void (*)(void* request, UcsStatus status, const UcpTagInfo* info, void* user_data);

struct UcpRequestParameters {
    static constexpr std::uint32_t field_callback = 1u << 1;
    static constexpr std::uint32_t field_user_data = 1u << 2;
    static constexpr std::uint32_t field_flags = 1u << 4;
    static constexpr std::uint32_t field_memory_type = 1u << 6;
    static constexpr std::uint32_t flag_always_call_back = 1u << 16;
    static constexpr std::uint32_t flag_close_force = 1u << 0;  // of ucp_ep_close_nbx

    std::uint32_t mask = 0;
    std::uint32_t flags = 0;
    void* request = nullptr;
    union {
        UcpSendCallback send = nullptr;
        UcpReceiveCallback receive;
    } callback;
    std::uint64_t datatype = 0;  // not named in the mask: bytes
    void* user_data = nullptr;
    void* reply_buffer = nullptr;
    int memory_type = 0;  // ucs_memory_type_t; only values up to 4 mean the same in all versions
    UcpTagInfo* receive_info = nullptr;
    void* memory_handle = nullptr;
};

// ---- The functions, by their names ----
struct UcpFunctions {
    void (*get_version)(unsigned* major, unsigned* minor, unsigned* release) = nullptr;
    const char* (*get_version_string)() = nullptr;
    UcsStatus (*config_read)(const char* prefix, const char* file, UcpConfig** config) = nullptr;
    UcsStatus (*config_modify)(UcpConfig* config, const char* name, const char* value) = nullptr;
    void (*config_release)(UcpConfig* config) = nullptr;
    UcsStatus (*init_version)(unsigned major, unsigned minor, const UcpParameters* parameters, const UcpConfig* config,
                              UcpContext* context) = nullptr;
    void (*cleanup)(UcpContext context) = nullptr;
    UcsStatus (*context_query)(UcpContext context, UcpContextAttributes* attributes) = nullptr;
    UcsStatus (*worker_create)(UcpContext context, const UcpWorkerParameters* parameters, UcpWorker* worker) = nullptr;
    void (*worker_destroy)(UcpWorker worker) = nullptr;
    UcsStatus (*worker_get_address)(UcpWorker worker, UcpAddress** address, std::size_t* bytes) = nullptr;
    void (*worker_release_address)(UcpWorker worker, UcpAddress* address) = nullptr;
    unsigned (*worker_progress)(UcpWorker worker) = nullptr;
    void* (*worker_flush_nbx)(UcpWorker worker, const UcpRequestParameters* parameters) = nullptr;
    UcsStatus (*ep_create)(UcpWorker worker, const UcpEndpointParameters* parameters, UcpEndpoint* endpoint) = nullptr;
    void* (*ep_flush_nbx)(UcpEndpoint endpoint, const UcpRequestParameters* parameters) = nullptr;
    void* (*ep_close_nbx)(UcpEndpoint endpoint, const UcpRequestParameters* parameters) = nullptr;
    void* (*tag_send_nbx)(UcpEndpoint endpoint, const void* data, std::size_t count, std::uint64_t tag,
                          const UcpRequestParameters* parameters) = nullptr;
    void* (*tag_recv_nbx)(UcpWorker worker, void* data, std::size_t count, std::uint64_t tag, std::uint64_t tag_mask,
                          const UcpRequestParameters* parameters) = nullptr;
    UcsStatus (*request_check_status)(void* request) = nullptr;
    void (*request_cancel)(UcpWorker worker, void* request) = nullptr;
    void (*request_free)(void* request) = nullptr;
};

}  // namespace peercoll::ucx
