// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/hip/copies.hpp"

#include "plugin/device/hip/pointers.hpp"

#include <fmt/format.h>

namespace peercoll::hip {

namespace {

// Where two devices are concerned HIP is told which, since an imported pointer passes for one of the device it was
// mapped for; such a copy needs no peer access, as HIP stages it where it must.
HipError start_copy(const Attachment& attachment, const Stream& stream, uint64_t to, uint64_t from, size_t bytes) {
    const HipFunctions& hip = attachment.hip;
    void* const target = reinterpret_cast<void*>(to);
    const void* const source = reinterpret_cast<const void*>(from);
    const int32_t to_device = device_of(attachment, to);
    const int32_t from_device = device_of(attachment, from);
    return to_device >= 0 && from_device >= 0 && to_device != from_device
               ? hip.memory_copy_peer_async(target, to_device, source, from_device, bytes, stream.handle)
               : hip.memory_copy_async(target, source, bytes, copy_default, stream.handle);
}

}  // namespace

peercoll_status_t copy(peercoll_stream_t stream, uint64_t to, uint64_t from, size_t bytes, peercoll_reason_t* reason) {
    Stream& on = stream_of(stream);
    return on_device_of(on, reason, [&](Attachment& attachment) -> Status {
        if (bytes == 0) return {};
        on.unreleased.store(true, std::memory_order_relaxed);
        const HipError error = start_copy(attachment, on, to, from, bytes);
        if (error == code::success) return {};
        return stream_error(attachment, on, error,
                            fmt::format("copying {} bytes from {:#x} to {:#x} on a stream", bytes, from, to));
    });
}

peercoll_status_t write_flag(peercoll_stream_t stream, uint64_t flag, uint64_t value, peercoll_reason_t* reason) {
    Stream& on = stream_of(stream);
    return on_device_of(on, reason, [&](Attachment& attachment) -> Status {
        if (!on.device->writes_flags)
            return {
                PEERCOLL_ERR_NOT_SUPPORTED,
                fmt::format("HIP device {} cannot write a flag of 64 bits behind a stream's work", on.device->ordinal)};
        const HipFunctions& hip = attachment.hip;
        HipError error = release_to_system(hip, on);
        if (error == code::success)
            error = hip.stream_write_value_64(on.handle, reinterpret_cast<void*>(flag), value, 0);
        return error == code::success
                   ? Status()
                   : stream_error(attachment, on, error, fmt::format("writing flag {:#x} on a stream", flag));
    });
}

}  // namespace peercoll::hip
