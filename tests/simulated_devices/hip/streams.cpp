// SPDX-License-Identifier: BSD-3-Clause
// Streams, and what is queued in them besides copies and kernels. A stream that was destroyed is 709.
#include "tests/simulated_devices/core/access.hpp"
#include "tests/simulated_devices/core/call_counts.hpp"
#include "tests/simulated_devices/hip/entry_points.hpp"
#include "tests/simulated_devices/hip/runtime.hpp"

#include <atomic>

namespace peercoll::simulator::hip {

namespace {

template <typename Body>
hipError_t with_stream(hipStream_t handle, Body body) {
    return call_on_device([&](Device&) {
        const auto stream = find_stream(handle);
        if (!stream) {
            return hipErrorContextIsDestroyed;
        }
        Device& device = device_at(stream->device);
        const hipError_t bad = check(device);
        return bad != hipSuccess ? bad : body(device, *stream);
    });
}

template <typename Word>
hipError_t write_value(hipStream_t handle, void* to, Word value, unsigned flags) {
    return with_stream(handle, [&](Device& device, const StreamObject& stream) {
        const std::uint64_t address = number(to);
        const auto execution = device.execution;
        const auto mapping = find_mapping(to);
        if (flags != 0 || !mapping || address % sizeof(Word) != 0 ||
            resolve_for_kernel(*execution, address, sizeof(Word), true).address == nullptr) {
            return hipErrorInvalidValue;
        }
        submit(stream, [=] {
            const Resolved target = resolve_for_kernel(*execution, address, sizeof(Word), true);
            if (target.address == nullptr) {
                return Result::IllegalAddress;
            }
            if (!target.stores_lost) {
                std::atomic_ref(*static_cast<Word*>(target.address)).store(value, std::memory_order_release);
            }
            return Result::Ok;
        });
        return hipSuccess;
    });
}

hipError_t run_on_host(hipStream_t handle, std::function<void()> function) {
    return with_stream(handle, [&](Device&, const StreamObject& stream) {
        Operation operation;
        operation.on_host = true;
        operation.run = [function = std::move(function)] {
            function();
            return Result::Ok;
        };
        process().scheduler().submit(stream.stream, std::move(operation));
        return hipSuccess;
    });
}

}  // namespace

extern "C" {

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
    note_call(Call::Stream);
    return call_on_device([&](Device& device) {
        if (stream == nullptr || flags > hipStreamNonBlocking) {
            return hipErrorInvalidValue;
        }
        const StreamKind kind = flags == hipStreamNonBlocking ? StreamKind::NonBlocking : StreamKind::Blocking;
        *stream = runtime().streams.add(std::make_shared<StreamObject>(
            StreamObject{std::make_shared<Stream>(device.execution, kind), current_device()}));
        return hipSuccess;
    });
}

hipError_t hipStreamCreate(hipStream_t* stream) {
    return hipStreamCreateWithFlags(stream, 0);
}

hipError_t hipStreamDestroy(hipStream_t stream) {
    return call([&] {
        if (stream == nullptr) {
            return hipErrorInvalidHandle;
        }
        return runtime().streams.remove(stream) ? hipSuccess : hipErrorContextIsDestroyed;
    });
}

hipError_t hipStreamSynchronize(hipStream_t handle) {
    note_call(Call::Synchronisation);
    return with_stream(handle, [&](Device& device, const StreamObject& stream) {
        process().scheduler().synchronize(*stream.stream);
        return check(device);
    });
}

hipError_t hipStreamQuery(hipStream_t handle) {
    return with_stream(handle, [&](Device& device, const StreamObject& stream) {
        const bool idle = process().scheduler().idle(*stream.stream);
        const hipError_t bad = check(device);
        return bad != hipSuccess || idle ? bad : hipErrorNotReady;
    });
}

hipError_t hipStreamWaitEvent(hipStream_t handle, hipEvent_t event_handle, unsigned flags) {
    return with_stream(handle, [&](Device&, const StreamObject& stream) {
        const auto object = runtime().events.find(event_handle);
        if (!object || flags != 0) {
            return object ? hipErrorInvalidValue : hipErrorInvalidHandle;
        }
        // The record of now; one that comes later is not waited for.
        Operation operation;
        operation.ready = [event = object->event, record = object->event->last_record()] {
            return event->done(record);
        };
        operation.run = [] { return Result::Ok; };
        process().scheduler().submit(stream.stream, std::move(operation));
        return hipSuccess;
    });
}

hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t function, void* argument, unsigned flags) {
    if (function == nullptr || flags != 0) {
        return finish(hipErrorInvalidValue);
    }
    return run_on_host(stream, [=] { function(stream, hipSuccess, argument); });
}

hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* argument) {
    if (function == nullptr) {
        return finish(hipErrorInvalidValue);
    }
    return run_on_host(stream, [=] { function(argument); });
}

hipError_t hipThreadExchangeStreamCaptureMode(int* mode) {
    return call([&] {
        thread_local int current_mode = 0;
        if (mode == nullptr || *mode < 0 || *mode > 2) {
            return hipErrorInvalidValue;
        }
        std::swap(current_mode, *mode);
        return hipSuccess;
    });
}

hipError_t hipStreamWriteValue32(hipStream_t stream, void* address, std::uint32_t value, unsigned flags) {
    return write_value(stream, address, value, flags);
}

hipError_t hipStreamWriteValue64(hipStream_t stream, void* address, std::uint64_t value, unsigned flags) {
    return write_value(stream, address, value, flags);
}

}  // extern "C"

}  // namespace peercoll::simulator::hip
