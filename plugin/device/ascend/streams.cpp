// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/streams.hpp"

#include "plugin/device/ascend/event_kinds.hpp"

#include <memory>

#include <fmt/format.h>

namespace peercoll::ascend {

namespace {

// Releases before CANN 7: an event behind what was started, and another one if there was more since.
AclError query_by_marker(const AclFunctions& acl, Stream& stream, bool& done) {
    const std::lock_guard lock(stream.mutex);
    done = false;
    for (;;) {
        if (stream.marker == nullptr) {
            if (!stream.unmarked) {
                done = true;
                return code::success;
            }
            if (const AclError error = acl.event_create(&stream.marker); error != code::success) return error;
            if (const AclError error = acl.event_record(stream.marker, stream.handle); error != code::success)
                return error;
            stream.unmarked = false;
        }
        int status = event_complete;
        const AclError error = acl.event_query(stream.marker, &status);
        if (error != code::success || status != event_complete) return error;
        (void)acl.event_destroy(stream.marker);
        stream.marker = nullptr;
    }
}

AclError query(const AclFunctions& acl, Stream& stream, bool& done) {
    if (acl.stream_query == nullptr) return query_by_marker(acl, stream, done);
    int status = stream_complete;
    const AclError error = acl.stream_query(stream.handle, &status);
    done = status == stream_complete;
    return error;
}

}  // namespace

Status stream_error(const Attachment& attachment, const Stream& stream, AclError error, std::string_view what) {
    return acl_error(attachment.acl, error, fmt::format("{} of Ascend device {}", what, stream.device->ordinal));
}

Status take_scratch(const Attachment& attachment, Stream& stream, std::size_t which, std::byte*& memory) {
    void*& kept = stream.scratch[which];
    if (kept == nullptr)
        if (const AclError error = attachment.acl.memory_allocate(&kept, scratch_bytes, malloc_huge_first_p2p);
            error != code::success) {
            kept = nullptr;
            return acl_error(
                attachment.acl, error,
                fmt::format("allocating {} bytes on Ascend device {}", scratch_bytes, stream.device->ordinal));
        }
    memory = static_cast<std::byte*>(kept);
    return {};
}

peercoll_status_t stream_create(int32_t ordinal, peercoll_stream_t* stream, peercoll_reason_t* reason) {
    *stream = nullptr;
    return attached(reason, [&](Attachment& attachment) {
        return on_device(attachment, ordinal, [&](Device& device) -> Status {
            auto made = std::make_unique<Stream>();
            if (const AclError error = attachment.acl.stream_create(&made->handle); error != code::success)
                return acl_error(attachment.acl, error, fmt::format("creating a stream on Ascend device {}", ordinal));
            made->generation = attachment.generation;
            made->device = &device;
            *stream = reinterpret_cast<peercoll_stream_t>(made.release());
            return {};
        });
    });
}

void stream_destroy(peercoll_stream_t stream) {
    if (stream == nullptr) return;
    const std::unique_ptr<Stream> last(&stream_of(stream));
    on_device_of(*last, nullptr, [&](Attachment& attachment) {
        const AclFunctions& acl = attachment.acl;
        (void)acl.stream_synchronize(last->handle);  // its scratch memory must not be in use any more
        if (last->marker != nullptr) (void)acl.event_destroy(last->marker);
        (void)acl.stream_destroy(last->handle);
        for (void* memory : last->scratch)
            if (memory != nullptr) (void)acl.memory_free(memory);
        return Status();
    });
}

peercoll_status_t stream_query(peercoll_stream_t stream, peercoll_reason_t* reason) {
    Stream& asked = stream_of(stream);
    bool done = true;
    const peercoll_status_t status = on_device_of(asked, reason, [&](Attachment& attachment) {
        const AclError error = query(attachment.acl, asked, done);
        return error == code::success ? Status() : stream_error(attachment, asked, error, "work on a stream");
    });
    return status == PEERCOLL_SUCCESS && !done ? PEERCOLL_ERR_BUSY : status;
}

peercoll_status_t stream_synchronize(peercoll_stream_t stream, peercoll_reason_t* reason) {
    const Stream& asked = stream_of(stream);
    return on_device_of(asked, reason, [&](Attachment& attachment) {
        const AclError error = attachment.acl.stream_synchronize(asked.handle);
        return error == code::success ? Status() : stream_error(attachment, asked, error, "work on a stream");
    });
}

peercoll_status_t event_create(int32_t ordinal, peercoll_event_t* event, peercoll_reason_t* reason) {
    *event = nullptr;
    return attached(reason, [&](Attachment& attachment) {
        return on_device(attachment, ordinal, [&](Device& device) -> Status {
            auto made = std::make_unique<Event>();
            if (const AclError error = create_event(attachment.acl, made->handle, made->needs_reset);
                error != code::success)
                return acl_error(attachment.acl, error, fmt::format("creating an event on Ascend device {}", ordinal));
            made->generation = attachment.generation;
            made->device = &device;
            *event = reinterpret_cast<peercoll_event_t>(made.release());
            return {};
        });
    });
}

void event_destroy(peercoll_event_t event) {
    if (event == nullptr) return;
    const std::unique_ptr<Event> last(&event_of(event));
    on_device_of(*last, nullptr, [&](Attachment& attachment) {
        (void)attachment.acl.event_destroy(last->handle);
        return Status();
    });
}

peercoll_status_t event_record(peercoll_event_t event, peercoll_stream_t stream, peercoll_reason_t* reason) {
    Stream& on = stream_of(stream);
    Event& recorded = event_of(event);
    return on_device_of(on, reason, [&](Attachment& attachment) -> Status {
        if (recorded.device != on.device)
            return {PEERCOLL_ERR_INVALID_ARGUMENT,
                    fmt::format("an event of Ascend device {} on a stream of device {}: expected the same device",
                                recorded.device->ordinal, on.device->ordinal)};
        AclError error = code::success;
        if (recorded.recorded && recorded.needs_reset) error = attachment.acl.event_reset(recorded.handle, on.handle);
        if (error == code::success) error = attachment.acl.event_record(recorded.handle, on.handle);
        if (error != code::success) return stream_error(attachment, on, error, "recording an event on a stream");
        recorded.recorded = true;
        return {};
    });
}

peercoll_status_t event_query(peercoll_event_t event, peercoll_reason_t* reason) {
    const Event& asked = event_of(event);
    if (!asked.recorded) return PEERCOLL_SUCCESS;
    bool done = true;
    const peercoll_status_t status = on_device_of(asked, reason, [&](Attachment& attachment) -> Status {
        const AclError error = query_event(attachment.acl, asked.handle, done);
        if (error == code::success) return {};
        return acl_error(attachment.acl, error,
                         fmt::format("work before an event of Ascend device {}", asked.device->ordinal));
    });
    return status == PEERCOLL_SUCCESS && !done ? PEERCOLL_ERR_BUSY : status;
}

peercoll_status_t stream_wait(peercoll_stream_t stream, peercoll_event_t event, peercoll_reason_t* reason) {
    Stream& waiting = stream_of(stream);
    const Event& awaited = event_of(event);
    return on_device_of(waiting, reason, [&](Attachment& attachment) -> Status {
        if (awaited.device != waiting.device)
            return {PEERCOLL_ERR_INVALID_ARGUMENT,
                    fmt::format("a stream of Ascend device {} that waits for an event of device {}: expected the same "
                                "device",
                                waiting.device->ordinal, awaited.device->ordinal)};
        if (!awaited.recorded) return {};
        const std::lock_guard lock(waiting.mutex);
        waiting.unmarked = true;
        const AclError error = attachment.acl.stream_wait_event(waiting.handle, awaited.handle);
        return error == code::success ? Status() : stream_error(attachment, waiting, error, "waiting on a stream");
    });
}

}  // namespace peercoll::ascend
