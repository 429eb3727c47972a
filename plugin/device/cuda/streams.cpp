// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/cuda/streams.hpp"

#include "plugin/device/cuda/folds.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

namespace peercoll::cuda {

namespace {

// Errors of code that ran on the device. They are sticky: every later call in the context gives the same.
bool is_fault(CuResult error) {
    constexpr std::array faults = {code::illegal_address,     code::launch_timeout,     code::hardware_stack_error,
                                   code::illegal_instruction, code::misaligned_address, code::invalid_address_space,
                                   code::invalid_pc,          code::launch_failed};
    return std::find(faults.begin(), faults.end(), error) != faults.end();
}

// Work that is not done yet is the most usual answer: without a sentence, which would cost more than the question.
Status progress(const Attachment& attachment, Stream& stream, CuResult error) {
    if (error == code::success) return {};
    return stream_error(attachment, stream, error, "work on a stream");
}

// Before anything but a fold is given to the stream, or waited for: behind a kernel that stays it would wait.
Status clear_way(Attachment& attachment, Stream& stream) {
    const std::lock_guard lock(stream.mutex);
    return dismiss_standby(attachment, stream);
}

}  // namespace

Status stream_error(const Attachment& attachment, Stream& stream, CuResult error, std::string_view what) {
    Status plain =
        driver_error(attachment.driver, error, fmt::format("{} of CUDA device {}", what, stream.device->ordinal));
    if (!is_fault(error)) return plain;
    const std::lock_guard lock(stream.mutex);
    const LastFold& last = stream.last;
    if (last.kernel == nullptr)
        return {PEERCOLL_ERR_SYSTEM, plain.sentence() + "; the device's context is lost to this process"};
    return {PEERCOLL_ERR_SYSTEM,
            fmt::format("{}; last fold: {} of {} elements, {} inputs from {:#x}, {} outputs from {:#x}, flag {:#x}; "
                        "the context is lost",
                        plain.sentence(), last.kernel, last.count, last.n_inputs, last.first_input, last.n_outputs,
                        last.first_output, last.flag)};
}

peercoll_status_t stream_create(int32_t ordinal, peercoll_stream_t* stream, peercoll_reason_t* reason) {
    *stream = nullptr;
    return attached(reason, [&](Attachment& attachment) {
        return on_device(attachment, ordinal, [&](Device& device) -> Status {
            auto made = std::make_unique<Stream>();
            if (const CuResult error = attachment.driver.stream_create(&made->handle, stream_non_blocking);
                error != code::success)
                return driver_error(attachment.driver, error,
                                    fmt::format("creating a stream on CUDA device {}", ordinal));
            made->generation = attachment.generation;
            made->device = &device;
            made->context = device.context.load();
            *stream = reinterpret_cast<peercoll_stream_t>(made.release());
            return {};
        });
    });
}

void stream_destroy(peercoll_stream_t stream) {
    if (stream == nullptr) return;
    const std::unique_ptr<Stream> last(&stream_of(stream));
    in_context_of(*last, nullptr, [&](Attachment& attachment) {
        // The device may write into the mailbox until its kernel is gone.
        if (clear_way(attachment, *last).ok() && last->standby.mailbox != nullptr)
            attachment.driver.stream_synchronize(last->handle);
        free_standby(attachment, last->standby);
        attachment.driver.stream_destroy(last->handle);
        give_back_counter(*last);
        return Status();
    });
}

peercoll_status_t stream_query(peercoll_stream_t stream, peercoll_reason_t* reason) {
    Stream& asked = stream_of(stream);
    CuResult error = code::success;
    const peercoll_status_t status = in_context_of(asked, reason, [&](Attachment& attachment) -> Status {
        {
            const std::lock_guard lock(asked.mutex);
            if (Status status = look_after_standby(attachment, asked); !status.ok()) return status;
        }
        error = attachment.driver.stream_query(asked.handle);
        return error == code::not_ready ? Status() : progress(attachment, asked, error);
    });
    return error == code::not_ready ? PEERCOLL_ERR_BUSY : status;
}

peercoll_status_t stream_synchronize(peercoll_stream_t stream, peercoll_reason_t* reason) {
    Stream& asked = stream_of(stream);
    return in_context_of(asked, reason, [&](Attachment& attachment) -> Status {
        if (Status status = clear_way(attachment, asked); !status.ok()) return status;
        return progress(attachment, asked, attachment.driver.stream_synchronize(asked.handle));
    });
}

peercoll_status_t event_create(int32_t ordinal, peercoll_event_t* event, peercoll_reason_t* reason) {
    *event = nullptr;
    return attached(reason, [&](Attachment& attachment) {
        return on_device(attachment, ordinal, [&](Device& device) -> Status {
            auto made = std::make_unique<Event>();
            if (const CuResult error = attachment.driver.event_create(&made->handle, event_disable_timing);
                error != code::success)
                return driver_error(attachment.driver, error,
                                    fmt::format("creating an event on CUDA device {}", ordinal));
            made->generation = attachment.generation;
            made->device = &device;
            made->context = device.context.load();
            *event = reinterpret_cast<peercoll_event_t>(made.release());
            return {};
        });
    });
}

void event_destroy(peercoll_event_t event) {
    if (event == nullptr) return;
    const std::unique_ptr<Event> last(&event_of(event));
    in_context_of(*last, nullptr, [&](Attachment& attachment) {
        attachment.driver.event_destroy(last->handle);
        return Status();
    });
}

peercoll_status_t event_record(peercoll_event_t event, peercoll_stream_t stream, peercoll_reason_t* reason) {
    Stream& on = stream_of(stream);
    const Event& recorded = event_of(event);
    return in_context_of(on, reason, [&](Attachment& attachment) -> Status {
        if (recorded.context != on.context)
            return {PEERCOLL_ERR_INVALID_ARGUMENT,
                    fmt::format("an event of CUDA device {} on a stream of device {}: expected the same device",
                                recorded.device->ordinal, on.device->ordinal)};
        if (Status status = clear_way(attachment, on); !status.ok()) return status;
        const CuResult error = attachment.driver.event_record(recorded.handle, on.handle);
        return error == code::success ? Status()
                                      : stream_error(attachment, on, error, "recording an event on a stream");
    });
}

peercoll_status_t event_query(peercoll_event_t event, peercoll_reason_t* reason) {
    const Event& asked = event_of(event);
    CuResult error = code::success;
    const peercoll_status_t status = in_context_of(asked, reason, [&](Attachment& attachment) -> Status {
        error = attachment.driver.event_query(asked.handle);
        if (error == code::success || error == code::not_ready) return {};
        return driver_error(attachment.driver, error,
                            fmt::format("work before an event of CUDA device {}", asked.device->ordinal));
    });
    return error == code::not_ready ? PEERCOLL_ERR_BUSY : status;
}

peercoll_status_t stream_wait(peercoll_stream_t stream, peercoll_event_t event, peercoll_reason_t* reason) {
    Stream& waiting = stream_of(stream);
    return in_context_of(waiting, reason, [&](Attachment& attachment) -> Status {
        if (Status status = clear_way(attachment, waiting); !status.ok()) return status;
        const CuResult error = attachment.driver.stream_wait_event(waiting.handle, event_of(event).handle, 0);
        return error == code::success ? Status() : stream_error(attachment, waiting, error, "waiting on a stream");
    });
}

peercoll_status_t copy(peercoll_stream_t stream, uint64_t to, uint64_t from, size_t bytes, peercoll_reason_t* reason) {
    Stream& on = stream_of(stream);
    return in_context_of(on, reason, [&](Attachment& attachment) -> Status {
        if (bytes == 0) return {};
        if (Status status = clear_way(attachment, on); !status.ok()) return status;
        const CuResult error = attachment.driver.memory_copy_async(to, from, bytes, on.handle);
        if (error == code::success) return {};
        return stream_error(attachment, on, error,
                            fmt::format("copying {} bytes from {:#x} to {:#x} on a stream", bytes, from, to));
    });
}

peercoll_status_t write_flag(peercoll_stream_t stream, uint64_t flag, uint64_t value, peercoll_reason_t* reason) {
    Stream& on = stream_of(stream);
    return in_context_of(on, reason, [&](Attachment& attachment) -> Status {
        if (!on.device->writes_flags)
            return {PEERCOLL_ERR_NOT_SUPPORTED,
                    fmt::format("CUDA device {} cannot write a flag of 64 bits behind a stream's work",
                                on.device->ordinal)};
        if (Status status = clear_way(attachment, on); !status.ok()) return status;
        const CuResult error = attachment.driver.stream_write_value_64(on.handle, flag, value, 0);
        return error == code::success
                   ? Status()
                   : stream_error(attachment, on, error, fmt::format("writing flag {:#x} on a stream", flag));
    });
}

}  // namespace peercoll::cuda
