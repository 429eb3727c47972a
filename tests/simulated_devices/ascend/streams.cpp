// SPDX-License-Identifier: BSD-3-Clause
// Streams, which belong to a context, and the three kinds of events.
#include "tests/simulated_devices/ascend/entry_points.hpp"
#include "tests/simulated_devices/ascend/runtime.hpp"
#include "tests/simulated_devices/core/call_counts.hpp"
#include "tests/simulated_devices/core/leaks.hpp"

namespace peercoll::simulator::acl {

namespace {

aclError fault(const Context& context) {
    return to_acl(context.execution->fault.load());
}

aclError make_event(aclrtEvent* event, EventKind kind, bool for_streams) {
    return call_in_context([&](Context& context) -> aclError {
        if (event == nullptr) {
            return ACL_ERROR_INVALID_PARAM;
        }
        *event = runtime().events.add(
            std::make_shared<EventObject>(EventObject{std::make_shared<Event>(), kind, for_streams, context.device}));
        return ACL_SUCCESS;
    });
}

template <typename Body>
aclError with_event(aclrtEvent handle, Body body) {
    return call([&]() -> aclError {
        const auto event = runtime().events.find(handle);
        return event ? body(*event) : ACL_ERROR_RT_PARAM_INVALID;
    });
}

constexpr std::uint32_t sync = 1;
constexpr std::uint32_t time_line = 8;

}  // namespace

extern "C" {

aclError aclrtCreateStream(aclrtStream* stream) {
    note_call(Call::Stream);
    return call_in_context([&](Context& context) -> aclError {
        if (stream == nullptr) {
            return ACL_ERROR_INVALID_PARAM;
        }
        *stream = runtime().streams.add(std::make_shared<StreamObject>(
            StreamObject{std::make_shared<Stream>(context.execution, StreamKind::NonBlocking), current()}));
        return ACL_SUCCESS;
    });
}

// Waits for its work.
aclError aclrtDestroyStream(aclrtStream stream) {
    if (stream == nullptr) {
        return finish(ACL_ERROR_INVALID_PARAM);
    }
    return call_on_stream(stream, [&](Context&, const std::shared_ptr<Stream>& on) {
        process().scheduler().synchronize(*on);
        runtime().streams.remove(stream);
        return ACL_SUCCESS;
    });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
    note_call(Call::Synchronisation);
    return call_on_stream(stream, [](Context& context, const std::shared_ptr<Stream>& on) {
        process().scheduler().synchronize(*on);
        return fault(context);
    });
}

aclError aclrtStreamQuery(aclrtStream stream, int* status) {
    return call_on_stream(stream, [&](Context& context, const std::shared_ptr<Stream>& on) {
        *status = process().scheduler().idle(*on) ? 0 : 1;
        return fault(context);
    });
}

aclError aclrtCreateEvent(aclrtEvent* event) {
    return make_event(event, EventKind::Plain, true);
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, std::uint32_t flag) {
    if ((flag & ~(sync | time_line | 2U)) != 0) {
        return finish(ACL_ERROR_RT_PARAM_INVALID);
    }
    return make_event(event, EventKind::WithFlag, (flag & sync) != 0);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, std::uint32_t flag) {
    if ((flag & ~(sync | time_line | 2U)) != 0) {
        return finish(ACL_ERROR_RT_PARAM_INVALID);
    }
    return make_event(event, EventKind::Extended, (flag & sync) != 0);
}

aclError aclrtDestroyEvent(aclrtEvent event) {
    return call([&] { return runtime().events.remove(event) ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID; });
}

// One with a flag is recorded again only after it was reset.
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
    return with_event(event, [&](EventObject& object) {
        return call_on_stream(stream, [&](Context& context, const std::shared_ptr<Stream>& on) -> aclError {
            if (object.device != context.device || (object.kind == EventKind::WithFlag && object.recorded)) {
                return ACL_ERROR_RT_PARAM_INVALID;
            }
            object.recorded = true;
            Operation operation;
            operation.even_after_fault = true;
            operation.run = [event = object.event, record = object.event->record()] {
                event->complete(record);
                return Result::Ok;
            };
            process().scheduler().submit(on, std::move(operation));
            return ACL_SUCCESS;
        });
    });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
    return with_event(event, [&](EventObject& object) {
        return call_on_stream(stream, [&](Context&, const std::shared_ptr<Stream>&) -> aclError {
            if (object.kind != EventKind::WithFlag) {
                report_line("aclrtResetEvent() on an event that must not be reset: its state is undefined");
                return ACL_ERROR_RT_PARAM_INVALID;
            }
            object.recorded = false;
            return ACL_SUCCESS;
        });
    });
}

// 0 is "complete".
aclError aclrtQueryEvent(aclrtEvent event, int* status) {
    return with_event(event, [&](const EventObject& object) -> aclError {
        if (object.kind == EventKind::Extended) {
            return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
        }
        *status = object.event->done() ? 0 : 1;
        return ACL_SUCCESS;
    });
}

// 1 is "complete", and what was never recorded is not.
aclError aclrtQueryEventStatus(aclrtEvent event, int* status) {
    return with_event(event, [&](const EventObject& object) {
        *status = object.recorded && object.event->done() ? 1 : 0;
        return ACL_SUCCESS;
    });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
    return with_event(event, [&](const EventObject& object) {
        return call_on_stream(stream, [&](Context& context, const std::shared_ptr<Stream>& on) -> aclError {
            if (!object.for_streams || object.device != context.device) {
                return ACL_ERROR_RT_PARAM_INVALID;
            }
            Operation operation;
            operation.ready = [event = object.event, record = object.event->last_record()] {
                return event->done(record);
            };
            operation.run = [] { return Result::Ok; };
            process().scheduler().submit(on, std::move(operation));
            return ACL_SUCCESS;
        });
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::acl
