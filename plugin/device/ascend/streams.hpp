// SPDX-License-Identifier: BSD-3-Clause
// Streams and events of our own.
#pragma once

#include "plugin/device/ascend/attachment.hpp"
#include "plugin/device/ascend/current_context.hpp"

#include <array>
#include <cstddef>
#include <mutex>

namespace peercoll::ascend {

// Device memory of a stream's own, for what goes through it piece by piece; the stream's order keeps pieces apart.
constexpr std::size_t scratch_bytes = std::size_t{4} << 20;

struct Stream {
    uint64_t generation = 0;  // of the attachment it belongs to
    Device* device = nullptr;
    AclStream handle = nullptr;
    std::mutex mutex;  // for what follows
    std::array<void*, 3> scratch{};
    // Where ACL cannot be asked for a stream: an event behind the work, and whether there is work behind that.
    AclEvent marker = nullptr;
    bool unmarked = false;
};

struct Event {
    uint64_t generation = 0;
    Device* device = nullptr;
    AclEvent handle = nullptr;
    bool needs_reset = false;  // before it is recorded again
    bool recorded = false;
};

inline Stream& stream_of(peercoll_stream_t stream) {
    return *reinterpret_cast<Stream*>(stream);
}
inline Event& event_of(peercoll_event_t event) {
    return *reinterpret_cast<Event*>(event);
}

// Calls `work(attachment)`, which gives a Status, with the device of a stream or an event current, as a function of the
// interface.
template <typename Object, typename Work>
peercoll_status_t on_device_of(const Object& object, peercoll_reason_t* reason, Work work) noexcept {
    return attached(reason, [&](Attachment& attachment) -> Status {
        if (object.generation != attachment.generation)
            return {PEERCOLL_ERR_INVALID_ARGUMENT, "a stream or event that was made before the runtime was closed"};
        return on_device(attachment, object.device->ordinal, [&](Device&) { return work(attachment); });
    });
}

Status stream_error(const Attachment& attachment, const Stream& stream, AclError error, std::string_view what);
// The stream's scratch memory, all of scratch_bytes. With its mutex held and its device current.
Status take_scratch(const Attachment& attachment, Stream& stream, std::size_t which, std::byte*& memory);

peercoll_status_t stream_create(int32_t device, peercoll_stream_t* stream, peercoll_reason_t* reason);
void stream_destroy(peercoll_stream_t stream);
peercoll_status_t stream_query(peercoll_stream_t stream, peercoll_reason_t* reason);
peercoll_status_t stream_synchronize(peercoll_stream_t stream, peercoll_reason_t* reason);
peercoll_status_t event_create(int32_t device, peercoll_event_t* event, peercoll_reason_t* reason);
void event_destroy(peercoll_event_t event);
peercoll_status_t event_record(peercoll_event_t event, peercoll_stream_t stream, peercoll_reason_t* reason);
peercoll_status_t event_query(peercoll_event_t event, peercoll_reason_t* reason);
peercoll_status_t stream_wait(peercoll_stream_t stream, peercoll_event_t event, peercoll_reason_t* reason);

}  // namespace peercoll::ascend
