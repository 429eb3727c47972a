// SPDX-License-Identifier: BSD-3-Clause
// Streams and events of our own, and what runs on them but for folds.
#pragma once

#include "plugin/device/cuda/attachment.hpp"
#include "plugin/device/cuda/contexts.hpp"
#include "plugin/device/cuda/standby.hpp"

#include <mutex>

namespace peercoll::cuda {

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
    CuContext context = nullptr;
    CuStream handle = nullptr;
    std::mutex mutex;       // what follows
    CuAddress counter = 0;  // a zero word on the device, and the relay of kernels that stay; 0 until a fold needs one
    LastFold last;
    Standby standby;
};

struct Event {
    uint64_t generation = 0;
    Device* device = nullptr;
    CuContext context = nullptr;
    CuEvent handle = nullptr;
};

inline Stream& stream_of(peercoll_stream_t stream) {
    return *reinterpret_cast<Stream*>(stream);
}
inline Event& event_of(peercoll_event_t event) {
    return *reinterpret_cast<Event*>(event);
}

// Calls `work(attachment)`, which gives a Status, with the context of a stream or an event current, as a function of
// the interface.
template <typename Object, typename Work>
peercoll_status_t in_context_of(const Object& object, peercoll_reason_t* reason, Work work) noexcept {
    return attached(reason, [&](Attachment& attachment) -> Status {
        if (object.generation != attachment.generation)
            return {PEERCOLL_ERR_INVALID_ARGUMENT, "a stream or event that was made before the runtime was closed"};
        const ContextScope scope(attachment.driver, object.context);
        if (scope.result() != code::success)
            return driver_error(attachment.driver, scope.result(), "making the context of a stream current",
                                "was the device reset?");
        return work(attachment);
    });
}

// `error`, as `what` told it; an error of a kernel, with what the stream was given last.
Status stream_error(const Attachment& attachment, Stream& stream, CuResult error, std::string_view what);

peercoll_status_t stream_create(int32_t device, peercoll_stream_t* stream, peercoll_reason_t* reason);
void stream_destroy(peercoll_stream_t stream);
peercoll_status_t stream_query(peercoll_stream_t stream, peercoll_reason_t* reason);
peercoll_status_t stream_synchronize(peercoll_stream_t stream, peercoll_reason_t* reason);
peercoll_status_t event_create(int32_t device, peercoll_event_t* event, peercoll_reason_t* reason);
void event_destroy(peercoll_event_t event);
peercoll_status_t event_record(peercoll_event_t event, peercoll_stream_t stream, peercoll_reason_t* reason);
peercoll_status_t event_query(peercoll_event_t event, peercoll_reason_t* reason);
peercoll_status_t stream_wait(peercoll_stream_t stream, peercoll_event_t event, peercoll_reason_t* reason);

peercoll_status_t copy(peercoll_stream_t stream, uint64_t to, uint64_t from, size_t bytes, peercoll_reason_t* reason);
peercoll_status_t write_flag(peercoll_stream_t stream, uint64_t flag, uint64_t value, peercoll_reason_t* reason);

}  // namespace peercoll::cuda
