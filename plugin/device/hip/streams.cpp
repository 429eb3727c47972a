// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/hip/streams.hpp"

#include "plugin/device/hip/folds.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

namespace peercoll::hip {

namespace {

// Errors of code that ran on the device: every later call gives the same.
bool is_fault(HipError error) {
    constexpr std::array faults = {code::illegal_address, code::launch_timeout, code::launch_failure};
    return std::find(faults.begin(), faults.end(), error) != faults.end();
}

Status progress(const Attachment& attachment, Stream& stream, HipError error) {
    return error == code::success ? Status() : stream_error(attachment, stream, error, "work on a stream");
}

// Waiting for a stream writes its caches back; being told that its kernels have ended need not have.
HipError synchronize(const HipFunctions& hip, Stream& stream) {
    stream.unreleased.store(false, std::memory_order_relaxed);
    return hip.stream_synchronize(stream.handle);
}

constexpr unsigned event_flags = event_disable_timing | event_release_to_system;

}  // namespace

Status stream_error(const Attachment& attachment, Stream& stream, HipError error, std::string_view what) {
    Status plain = hip_error(attachment.hip, error, fmt::format("{} of HIP device {}", what, stream.device->ordinal));
    if (!is_fault(error)) return plain;
    const std::lock_guard lock(stream.mutex);
    const LastFold& last = stream.last;
    if (last.kernel == nullptr) return {PEERCOLL_ERR_SYSTEM, plain.sentence() + "; the device is lost to this process"};
    return {PEERCOLL_ERR_SYSTEM,
            fmt::format("{}; last fold: {} of {} elements, {} inputs from {:#x}, {} outputs from {:#x}, flag {:#x}; "
                        "the device is lost to this process",
                        plain.sentence(), last.kernel, last.count, last.n_inputs, last.first_input, last.n_outputs,
                        last.first_output, last.flag)};
}

HipError release_to_system(const HipFunctions& hip, Stream& stream) {
    const std::lock_guard lock(stream.mutex);
    if (stream.release == nullptr)
        if (const HipError error = hip.event_create(&stream.release, event_flags); error != code::success) {
            stream.release = nullptr;
            return error;
        }
    return hip.event_record(stream.release, stream.handle);
}

peercoll_status_t stream_create(int32_t ordinal, peercoll_stream_t* stream, peercoll_reason_t* reason) {
    *stream = nullptr;
    return attached(reason, [&](Attachment& attachment) {
        return on_device(attachment, ordinal, [&](Device& device) -> Status {
            auto made = std::make_unique<Stream>();
            if (const HipError error = attachment.hip.stream_create(&made->handle, stream_non_blocking);
                error != code::success)
                return hip_error(attachment.hip, error, fmt::format("creating a stream on HIP device {}", ordinal));
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
        if (last->release != nullptr) (void)attachment.hip.event_destroy(last->release);
        (void)attachment.hip.stream_destroy(last->handle);
        give_back_counter(*last);
        return Status();
    });
}

peercoll_status_t stream_query(peercoll_stream_t stream, peercoll_reason_t* reason) {
    Stream& asked = stream_of(stream);
    HipError error = code::success;
    const peercoll_status_t status = on_device_of(asked, reason, [&](Attachment& attachment) -> Status {
        error = attachment.hip.stream_query(asked.handle);
        if (error == code::not_ready) return {};  // the most usual answer: without a sentence
        if (error == code::success && asked.unreleased.load(std::memory_order_relaxed))
            error = synchronize(attachment.hip, asked);
        return progress(attachment, asked, error);
    });
    return error == code::not_ready ? PEERCOLL_ERR_BUSY : status;
}

peercoll_status_t stream_synchronize(peercoll_stream_t stream, peercoll_reason_t* reason) {
    Stream& asked = stream_of(stream);
    return on_device_of(asked, reason, [&](Attachment& attachment) {
        return progress(attachment, asked, synchronize(attachment.hip, asked));
    });
}

peercoll_status_t event_create(int32_t ordinal, peercoll_event_t* event, peercoll_reason_t* reason) {
    *event = nullptr;
    return attached(reason, [&](Attachment& attachment) {
        return on_device(attachment, ordinal, [&](Device& device) -> Status {
            auto made = std::make_unique<Event>();
            if (const HipError error = attachment.hip.event_create(&made->handle, event_flags); error != code::success)
                return hip_error(attachment.hip, error, fmt::format("creating an event on HIP device {}", ordinal));
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
        (void)attachment.hip.event_destroy(last->handle);
        return Status();
    });
}

peercoll_status_t event_record(peercoll_event_t event, peercoll_stream_t stream, peercoll_reason_t* reason) {
    Stream& on = stream_of(stream);
    const Event& recorded = event_of(event);
    return on_device_of(on, reason, [&](Attachment& attachment) -> Status {
        if (recorded.device != on.device)
            return {PEERCOLL_ERR_INVALID_ARGUMENT,
                    fmt::format("an event of HIP device {} on a stream of device {}: expected the same device",
                                recorded.device->ordinal, on.device->ordinal)};
        const HipError error = attachment.hip.event_record(recorded.handle, on.handle);
        return error == code::success ? Status()
                                      : stream_error(attachment, on, error, "recording an event on a stream");
    });
}

peercoll_status_t event_query(peercoll_event_t event, peercoll_reason_t* reason) {
    const Event& asked = event_of(event);
    HipError error = code::success;
    const peercoll_status_t status = on_device_of(asked, reason, [&](Attachment& attachment) -> Status {
        error = attachment.hip.event_query(asked.handle);
        if (error == code::success || error == code::not_ready) return {};
        return hip_error(attachment.hip, error,
                         fmt::format("work before an event of HIP device {}", asked.device->ordinal));
    });
    return error == code::not_ready ? PEERCOLL_ERR_BUSY : status;
}

peercoll_status_t stream_wait(peercoll_stream_t stream, peercoll_event_t event, peercoll_reason_t* reason) {
    Stream& waiting = stream_of(stream);
    return on_device_of(waiting, reason, [&](Attachment& attachment) {
        const HipError error = attachment.hip.stream_wait_event(waiting.handle, event_of(event).handle, 0);
        return error == code::success ? Status() : stream_error(attachment, waiting, error, "waiting on a stream");
    });
}

}  // namespace peercoll::hip
