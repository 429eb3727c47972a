// SPDX-License-Identifier: BSD-3-Clause
// Events, also those that several processes use.
#include "tests/simulated_devices/core/call_counts.hpp"
#include "tests/simulated_devices/cuda/driver.hpp"
#include "tests/simulated_devices/cuda/entry_points.hpp"
#include "tests/simulated_devices/cuda/ipc_handle.hpp"

namespace peercoll::simulator::cuda {

namespace {

template <typename Body>
CUresult with_event(CUevent handle, Body body) {
    return call_with_context([&](Context& context) {
        const auto event = driver().events.find(handle);
        return event ? body(context, *event) : CUDA_ERROR_INVALID_HANDLE;
    });
}

}  // namespace

extern "C" {

CUresult cuEventCreate(CUevent* event, unsigned flags) {
    return call_with_context([&](Context& context) {
        const bool shared_and_timed = (flags & CU_EVENT_INTERPROCESS) != 0 && (flags & CU_EVENT_DISABLE_TIMING) == 0;
        if (event == nullptr || flags > 7 || shared_and_timed) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *event = driver().events.add(
            std::make_shared<EventObject>(EventObject{std::make_shared<Event>(), flags, &context, false}));
        return CUDA_SUCCESS;
    });
}

CUresult cuEventDestroy_v2(CUevent event) {
    return call([&] { return driver().events.remove(event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; });
}

CUresult cuEventRecord(CUevent handle, CUstream stream_handle) {
    return with_event(handle, [&](Context& context, const EventObject& object) {
        const auto stream = find_stream(context, stream_handle);
        // Of the same context as the stream's.
        if (!stream || (!object.imported && stream->context != object.context)) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        Operation operation;
        operation.even_after_fault = true;
        operation.run = [event = object.event, record = object.event->record()] {
            event->complete(record);
            return Result::Ok;
        };
        process().scheduler().submit(stream->stream, std::move(operation));
        return CUDA_SUCCESS;
    });
}

CUresult cuEventQuery(CUevent handle) {
    return with_event(handle, [&](Context& context, const EventObject& object) {
        const bool done = object.event->done();
        const CUresult bad = check(&context);
        return bad != CUDA_SUCCESS || done ? bad : CUDA_ERROR_NOT_READY;
    });
}

CUresult cuEventSynchronize(CUevent handle) {
    note_call(Call::Synchronisation);
    return with_event(handle, [&](Context& context, const EventObject& object) {
        const auto event = object.event;
        const Event::Record record = event->last_record();
        process().scheduler().wait_for([&] { return event->done(record); });
        return check(&context);
    });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start_handle, CUevent end_handle) {
    return call_with_context([&](Context&) {
        const auto start = driver().events.find(start_handle);
        const auto end = driver().events.find(end_handle);
        if (milliseconds == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (!start || !end || ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0 ||
            start->event->last_record().number == 0 || end->event->last_record().number == 0) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        if (!start->event->done() || !end->event->done()) {
            return CUDA_ERROR_NOT_READY;
        }
        *milliseconds = static_cast<float>(static_cast<double>(end->event->nanoseconds()) -
                                           static_cast<double>(start->event->nanoseconds())) *
                        1e-6F;
        return CUDA_SUCCESS;
    });
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
    return cuEventElapsedTime(milliseconds, start, end);
}

CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event_handle) {
    return with_event(event_handle, [&](Context&, const EventObject& object) {
        if (handle == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if ((object.flags & CU_EVENT_INTERPROCESS) == 0 || object.imported) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        HandleContents contents;
        contents.magic = event_magic;
        contents.owner = this_process();
        contents.descriptor = object.event->descriptor();
        contents.id = object.event->id();
        *handle = to_handle<CUipcEventHandle>(contents);
        return CUDA_SUCCESS;
    });
}

CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle) {
    return call_with_context([&](Context& context) {
        const HandleContents contents = from_handle(handle);
        if (event == nullptr || contents.magic != event_magic) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (contents.owner == this_process() || process().node().ipc_refused) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        auto opened = Event::open(open_of(contents.owner, contents.descriptor), contents.id);
        if (!opened) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        *event = driver().events.add(std::make_shared<EventObject>(
            EventObject{std::move(opened), CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING, &context, true}));
        return CUDA_SUCCESS;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::cuda
