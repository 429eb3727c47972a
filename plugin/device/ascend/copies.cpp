// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/copies.hpp"

#include "plugin/device/ascend/peers.hpp"
#include "plugin/device/ascend/pointers.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>

namespace peercoll::ascend {

namespace {

void* pointer(std::uint64_t address) {
    return reinterpret_cast<void*>(address);
}

struct Request {
    std::uint64_t to;
    std::uint64_t from;
    std::size_t bytes;
};

Status copy_error(const Attachment& attachment, const Stream& stream, AclError error, const Request& request) {
    return stream_error(
        attachment, stream, error,
        fmt::format("copying {} bytes from {:#x} to {:#x} on a stream", request.bytes, request.from, request.to));
}

// Between host memory and memory of this process. What is not pinned makes it block, and early releases refuse it; a
// synchronous copy takes it, once what the stream has before it is done.
Status copy_host(const Attachment& attachment, Stream& stream, const Request& request, int kind) {
    const AclFunctions& acl = attachment.acl;
    stream.unmarked = true;
    AclError error = acl.memory_copy_async(pointer(request.to), request.bytes, pointer(request.from), request.bytes,
                                           kind, stream.handle);
    if (error == code::success) return {};
    error = acl.stream_synchronize(stream.handle);
    if (error == code::success)
        error = acl.memory_copy(pointer(request.to), request.bytes, pointer(request.from), request.bytes, kind);
    return error == code::success ? Status() : copy_error(attachment, stream, error, request);
}

// Between host memory and another process's memory, by way of our own.
Status copy_host_imported(const Attachment& attachment, Stream& stream, Request request, bool to_host) {
    std::byte* scratch = nullptr;
    if (Status status = take_scratch(attachment, stream, 0, scratch); !status.ok()) return status;
    const auto between = reinterpret_cast<std::uint64_t>(scratch);
    while (request.bytes > 0) {
        const std::size_t piece = std::min(request.bytes, scratch_bytes);
        Status status = to_host
                            ? copy_on_device(attachment, stream, between, request.from, piece)
                            : copy_host(attachment, stream, {between, request.from, piece}, copy_kind::host_to_device);
        if (status.ok())
            status = to_host ? copy_host(attachment, stream, {request.to, between, piece}, copy_kind::device_to_host)
                             : copy_on_device(attachment, stream, request.to, between, piece);
        if (!status.ok()) return status;
        request = {request.to + piece, request.from + piece, request.bytes - piece};
    }
    return {};
}

Status copy_within_host(const Attachment& attachment, const Stream& stream, const Request& request) {
    if (const AclError error = attachment.acl.stream_synchronize(stream.handle); error != code::success)
        return copy_error(attachment, stream, error, request);
    std::memmove(pointer(request.to), pointer(request.from), request.bytes);
    return {};
}

Status copy_now(Attachment& attachment, std::int32_t device, std::uint64_t to, std::uint64_t from, std::size_t bytes,
                int kind) {
    return on_device(attachment, device, [&](Device&) -> Status {
        const AclError error = attachment.acl.memory_copy(pointer(to), bytes, pointer(from), bytes, kind);
        return error == code::success
                   ? Status()
                   : acl_error(attachment.acl, error, fmt::format("copying {} bytes by way of host memory", bytes));
    });
}

// Two devices that do not reach each other.
Status copy_through_host(Attachment& attachment, const Stream& stream, Request request, const Place& to,
                         const Place& from) {
    if (const AclError error = attachment.acl.stream_synchronize(stream.handle); error != code::success)
        return copy_error(attachment, stream, error, request);
    std::vector<std::byte> between(std::min(request.bytes, scratch_bytes));
    const auto host = reinterpret_cast<std::uint64_t>(between.data());
    while (request.bytes > 0) {
        const std::size_t piece = std::min(request.bytes, scratch_bytes);
        Status status = copy_now(attachment, from.device, host, request.from, piece, copy_kind::device_to_host);
        if (status.ok()) status = copy_now(attachment, to.device, request.to, host, piece, copy_kind::host_to_device);
        if (!status.ok()) return status;
        request = {request.to + piece, request.from + piece, request.bytes - piece};
    }
    return {};
}

Status copy_between_devices(Attachment& attachment, Stream& stream, const Request& request, const Place& to,
                            const Place& from) {
    const bool apart = to.device != from.device && !to.imported && !from.imported;
    if (apart && !is_enabled(attachment, to.device, from.device) &&
        (can_access_peer(to.device, from.device) == 0 || !enable_pair(attachment, to.device, from.device).ok()))
        return copy_through_host(attachment, stream, request, to, from);
    return copy_on_device(attachment, stream, request.to, request.from, request.bytes);
}

}  // namespace

Status copy_on_device(const Attachment& attachment, Stream& stream, uint64_t to, uint64_t from, size_t bytes) {
    stream.unmarked = true;
    const AclError error = attachment.acl.memory_copy_async(pointer(to), bytes, pointer(from), bytes,
                                                            copy_kind::device_to_device, stream.handle);
    return error == code::success ? Status() : copy_error(attachment, stream, error, {to, from, bytes});
}

peercoll_status_t copy(peercoll_stream_t stream, uint64_t to, uint64_t from, size_t bytes, peercoll_reason_t* reason) {
    Stream& on = stream_of(stream);
    return on_device_of(on, reason, [&](Attachment& attachment) -> Status {
        if (bytes == 0 || to == from) return {};
        const Request request{to, from, bytes};
        const Place target = place_of(attachment, to);
        const Place source = place_of(attachment, from);
        const std::lock_guard lock(on.mutex);
        if (target.on_device && source.on_device) return copy_between_devices(attachment, on, request, target, source);
        if (!target.on_device && !source.on_device) return copy_within_host(attachment, on, request);
        if (target.imported || source.imported) return copy_host_imported(attachment, on, request, source.imported);
        return copy_host(attachment, on, request,
                         source.on_device ? copy_kind::device_to_host : copy_kind::host_to_device);
    });
}

peercoll_status_t write_flag(peercoll_stream_t stream, uint64_t, uint64_t, peercoll_reason_t* reason) {
    return on_device_of(stream_of(stream), reason, [](Attachment&) -> Status {
        return {PEERCOLL_ERR_NOT_SUPPORTED,
                "Ascend devices write no flags into host memory: the stream can be queried"};
    });
}

}  // namespace peercoll::ascend
