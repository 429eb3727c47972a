// SPDX-License-Identifier: BSD-3-Clause
// Streams and events of our own, and what runs on them but for folds.
#pragma once

#include "plugin/device/hip/attachment.hpp"
#include "plugin/device/hip/current_device.hpp"

#include <atomic>
#include <mutex>

namespace peercoll::hip {

// What a stream was given last, for the sentence about a failure that a device tells only later.
struct LastFold {
    const char* kernel = nullptr;  // null: no fold yet
    uint64_t count = 0;
    uint32_t n_inputs = 0;
    uint32_t n_outputs = 0;
    uint64_t first_input = 0;
    uint64_t first_output = 0;
    uint64_t flag = 0;
};

struct Stream {
    uint64_t generation = 0;  // of the attachment it belongs to
    Device* device = nullptr;
    HipStream handle = nullptr;
    // Given work since its caches were written back.
    std::atomic<bool> unreleased{false};
    std::mutex mutex;            // what follows
    HipEvent release = nullptr;  // for release_to_system(); null until it is needed
    void* counter = nullptr;     // a zero word on the device; null until a fold needs one
    LastFold last;
};

struct Event {
    uint64_t generation = 0;
    Device* device = nullptr;
    HipEvent handle = nullptr;
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

// `error`, as `what` told it; an error of a kernel, with what the stream was given last.
Status stream_error(const Attachment& attachment, Stream& stream, HipError error, std::string_view what);

// What has been started on the stream so far is, before what is started next, written back from the device's caches for
// everybody. Between two kernels HIP does no more than the device itself needs.
HipError release_to_system(const HipFunctions& hip, Stream& stream);

peercoll_status_t stream_create(int32_t device, peercoll_stream_t* stream, peercoll_reason_t* reason);
void stream_destroy(peercoll_stream_t stream);
peercoll_status_t stream_query(peercoll_stream_t stream, peercoll_reason_t* reason);
peercoll_status_t stream_synchronize(peercoll_stream_t stream, peercoll_reason_t* reason);
peercoll_status_t event_create(int32_t device, peercoll_event_t* event, peercoll_reason_t* reason);
void event_destroy(peercoll_event_t event);
peercoll_status_t event_record(peercoll_event_t event, peercoll_stream_t stream, peercoll_reason_t* reason);
peercoll_status_t event_query(peercoll_event_t event, peercoll_reason_t* reason);
peercoll_status_t stream_wait(peercoll_stream_t stream, peercoll_event_t event, peercoll_reason_t* reason);

}  // namespace peercoll::hip
