// SPDX-License-Identifier: BSD-3-Clause
// Streams, and what is queued in them besides copies and kernels.
#include "tests/simulated_devices/core/access.hpp"
#include "tests/simulated_devices/core/call_counts.hpp"
#include "tests/simulated_devices/cuda/driver.hpp"
#include "tests/simulated_devices/cuda/entry_points.hpp"

#include <atomic>

namespace peercoll::simulator::cuda {

namespace {

// The calls of a stream: with a context that is healthy, and a stream that is there.
template <typename Body>
CUresult with_stream(CUstream handle, Body body) {
    return call_with_context([&](Context& context) {
        const auto stream = find_stream(context, handle);
        return stream ? body(context, *stream) : CUDA_ERROR_INVALID_HANDLE;
    });
}

// Where a stream may wait and write: not in managed memory.
bool good_target(const Context& context, CUdeviceptr address, std::size_t bytes) {
    const auto mapping = find_mapping(address);
    return mapping && address % bytes == 0 && mapping->kind != MemoryKind::Managed &&
           resolve_for_kernel(*context.execution, address, bytes, true).address != nullptr;
}

template <typename Word>
CUresult write_value(CUstream handle, CUdeviceptr address, Word value, unsigned flags) {
    return with_stream(handle, [&](Context& context, const StreamObject& stream) {
        if (flags > CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER || !good_target(context, address, sizeof(Word))) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const auto execution = stream.stream->context();
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
        return CUDA_SUCCESS;
    });
}

template <typename Word>
bool satisfied(Word seen, Word value, unsigned condition) {
    using Signed = std::make_signed_t<Word>;
    switch (condition) {
        case CU_STREAM_WAIT_VALUE_GEQ:
            return static_cast<Signed>(seen - value) >= 0;
        case CU_STREAM_WAIT_VALUE_EQ:
            return seen == value;
        case CU_STREAM_WAIT_VALUE_AND:
            return (seen & value) != 0;
        default:
            return static_cast<Word>(~(seen | value)) != 0;
    }
}

template <typename Word>
CUresult wait_value(CUstream handle, CUdeviceptr address, Word value, unsigned flags) {
    return with_stream(handle, [&](Context& context, const StreamObject& stream) {
        const unsigned condition = flags & ~CU_STREAM_WAIT_VALUE_FLUSH;
        if (condition > CU_STREAM_WAIT_VALUE_NOR || !good_target(context, address, sizeof(Word))) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const auto execution = stream.stream->context();
        Operation operation;
        operation.ready = [=] {
            const Resolved target = resolve_for_kernel(*execution, address, sizeof(Word), false);
            // Memory that has gone is found out when the operation runs.
            return target.address == nullptr ||
                   satisfied(std::atomic_ref(*static_cast<Word*>(target.address)).load(std::memory_order_acquire),
                             value, condition);
        };
        operation.run = [=] {
            return resolve_for_kernel(*execution, address, sizeof(Word), false).address == nullptr
                       ? Result::IllegalAddress
                       : Result::Ok;
        };
        process().scheduler().submit(stream.stream, std::move(operation));
        return CUDA_SUCCESS;
    });
}

}  // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
    note_call(Call::Stream);
    return call_with_context([&](Context& context) {
        if (stream == nullptr || flags > CU_STREAM_NON_BLOCKING) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const StreamKind kind = flags == CU_STREAM_NON_BLOCKING ? StreamKind::NonBlocking : StreamKind::Blocking;
        *stream = driver().streams.add(
            std::make_shared<StreamObject>(StreamObject{std::make_shared<Stream>(context.execution, kind), &context}));
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int /*priority*/) {
    return cuStreamCreate(stream, flags);
}

// What it still has to do is done.
CUresult cuStreamDestroy_v2(CUstream stream) {
    return call([&] { return driver().streams.remove(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; });
}

CUresult cuStreamSynchronize(CUstream handle) {
    note_call(Call::Synchronisation);
    return with_stream(handle, [&](Context&, const StreamObject& stream) {
        process().scheduler().synchronize(*stream.stream);
        return check(stream.context);
    });
}

CUresult cuStreamQuery(CUstream handle) {
    return with_stream(handle, [&](Context&, const StreamObject& stream) {
        const bool idle = process().scheduler().idle(*stream.stream);
        const CUresult bad = check(stream.context);
        return bad != CUDA_SUCCESS || idle ? bad : CUDA_ERROR_NOT_READY;
    });
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned flags) {
    return with_stream(handle, [&](Context&, const StreamObject& stream) {
        if (flags > 1) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const auto object = driver().events.find(event_handle);
        if (!object) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        // The record of now; one that comes later is not waited for.
        Operation operation;
        operation.ready = [event = object->event, record = object->event->last_record()] {
            return event->done(record);
        };
        operation.run = [] { return Result::Ok; };
        process().scheduler().submit(stream.stream, std::move(operation));
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
    return with_stream(handle, [&](Context&, const StreamObject& stream) {
        if (context == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *context = stream.context;
        return CUDA_SUCCESS;
    });
}

// Nothing is ever captured here: there is no call that begins it.
CUresult cuStreamIsCapturing(CUstream handle, int* status) {
    return with_stream(handle, [&](Context&, const StreamObject&) {
        if (status == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *status = 0;
        return CUDA_SUCCESS;
    });
}

CUresult cuThreadExchangeStreamCaptureMode(int* mode) {
    return call([&] {
        thread_local int current = 0;
        if (mode == nullptr || *mode < 0 || *mode > 2) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        std::swap(current, *mode);
        return CUDA_SUCCESS;
    });
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* argument) {
    return with_stream(handle, [&](Context&, const StreamObject& stream) {
        if (function == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        Operation operation;
        operation.on_host = true;
        operation.run = [=] {
            function(argument);
            return Result::Ok;
        };
        process().scheduler().submit(stream.stream, std::move(operation));
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, std::uint32_t value, unsigned flags) {
    return write_value(stream, address, value, flags);
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, std::uint64_t value, unsigned flags) {
    return write_value(stream, address, value, flags);
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, std::uint32_t value, unsigned flags) {
    return wait_value(stream, address, value, flags);
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, std::uint64_t value, unsigned flags) {
    return wait_value(stream, address, value, flags);
}

}  // extern "C"

}  // namespace peercoll::simulator::cuda
