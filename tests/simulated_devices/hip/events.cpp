// SPDX-License-Identifier: BSD-3-Clause
// Events of one process.
#include "tests/simulated_devices/core/call_counts.hpp"
#include "tests/simulated_devices/hip/entry_points.hpp"
#include "tests/simulated_devices/hip/runtime.hpp"

namespace peercoll::simulator::hip {

namespace {

template <typename Body>
hipError_t with_event(hipEvent_t handle, Body body) {
    return call([&] {
        const auto event = runtime().events.find(handle);
        return event ? body(*event) : hipErrorInvalidHandle;
    });
}

}  // namespace

extern "C" {

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
    return call_on_device([&](Device&) {
        constexpr unsigned both_releases = 0xc0000000;
        if (event == nullptr || (flags & ~hipEventAllFlags) != 0 || (flags & both_releases) == both_releases) {
            return hipErrorInvalidValue;
        }
        *event = runtime().events.add(
            std::make_shared<EventObject>(EventObject{std::make_shared<Event>(), flags, current_device()}));
        return hipSuccess;
    });
}

hipError_t hipEventDestroy(hipEvent_t event) {
    return call([&] { return runtime().events.remove(event) ? hipSuccess : hipErrorInvalidHandle; });
}

// Of the same device as the stream.
hipError_t hipEventRecord(hipEvent_t handle, hipStream_t stream_handle) {
    return with_event(handle, [&](const EventObject& object) {
        const auto stream = find_stream(stream_handle);
        if (!stream) {
            return hipErrorContextIsDestroyed;
        }
        if (stream->device != object.device) {
            return hipErrorInvalidHandle;
        }
        Operation operation;
        operation.even_after_fault = true;
        operation.run = [event = object.event, record = object.event->record()] {
            event->complete(record);
            return Result::Ok;
        };
        process().scheduler().submit(stream->stream, std::move(operation));
        return hipSuccess;
    });
}

hipError_t hipEventQuery(hipEvent_t handle) {
    return with_event(handle, [&](const EventObject& object) {
        const bool done = object.event->done();
        const hipError_t bad = check(device_at(object.device));
        return bad != hipSuccess || done ? bad : hipErrorNotReady;
    });
}

hipError_t hipEventSynchronize(hipEvent_t handle) {
    note_call(Call::Synchronisation);
    return with_event(handle, [&](const EventObject& object) {
        const auto event = object.event;
        const Event::Record record = event->last_record();
        process().scheduler().wait_for([&] { return event->done(record); });
        return check(device_at(object.device));
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::hip
