// SPDX-License-Identifier: BSD-3-Clause
// Copies and fills. What CUDA calls synchronous is not always done when it returns: between device memories, for a
// fill, and for a small upload from pageable memory it is only queued, unless the memory's SYNC_MEMOPS is set.
#include "tests/simulated_devices/core/access.hpp"
#include "tests/simulated_devices/core/call_counts.hpp"
#include "tests/simulated_devices/cuda/driver.hpp"
#include "tests/simulated_devices/cuda/entry_points.hpp"

#include <cstddef>
#include <cstring>

namespace peercoll::simulator::cuda {

namespace {

constexpr std::size_t small_upload_bytes = 64 * 1024;

struct Side {
    std::uint64_t address;
    std::shared_ptr<Mapping> mapping;  // null: pageable host memory

    explicit Side(std::uint64_t at) : address(at), mapping(find_mapping(at)) {}
    bool pageable() const { return !mapping; }
    bool on_device() const { return mapping && !mapping->is_host(); }
    // Pools take the attribute, and it does nothing.
    bool synchronous() const {
        return mapping && mapping->kind != MemoryKind::Pool && mapping->kind != MemoryKind::ImportedPool &&
               mapping->synchronous.load();
    }
};

bool legal(Context& context, const Side& side, std::size_t bytes, bool write) {
    return resolve_for_copy(*context.execution, side.address, bytes, write).address != nullptr;
}

// The bytes of pageable memory are taken now: the application may change them once the call has returned.
std::function<Result()> copy_work(Context& context, const Side& to, const Side& from, std::size_t bytes) {
    const auto execution = context.execution;
    const std::uint64_t target = to.address;
    const std::uint64_t source = from.address;
    if (!from.pageable()) {
        return [=] { return copy_bytes(*execution, target, source, bytes); };
    }
    auto taken = std::make_shared<std::vector<std::byte>>(bytes);
    std::memcpy(taken->data(), reinterpret_cast<const void*>(static_cast<std::uintptr_t>(source)), bytes);
    return [=] { return copy_bytes(*execution, target, reinterpret_cast<std::uintptr_t>(taken->data()), bytes); };
}

enum class Wait { No, AsCudaDoes };

CUresult copy(Context& context, CUdeviceptr to_address, CUdeviceptr from_address, std::size_t bytes, CUstream handle,
              Wait wait) {
    const auto stream = find_stream(context, handle);
    if (!stream) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (bytes == 0) {
        return CUDA_SUCCESS;
    }
    const Side to(to_address);
    const Side from(from_address);
    if (!legal(context, to, bytes, true) || !legal(context, from, bytes, false)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    submit(*stream, copy_work(context, to, from, bytes));
    bool done = wait == Wait::AsCudaDoes || to.pageable();
    if (wait == Wait::AsCudaDoes && to.on_device()) {
        const bool deferred = from.on_device() || (from.pageable() && bytes <= small_upload_bytes);
        done = !deferred || to.synchronous() || from.synchronous();
    }
    if (done) {
        process().scheduler().synchronize(*stream->stream);
    }
    return check(&context);
}

bool on_device(CUdeviceptr address) {
    return Side(address).on_device();
}

// For the functions whose name says which side is the device's.
CUresult upload(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream, Wait wait) {
    return call_with_context([&](Context& context) {
        return on_device(to) ? copy(context, to, reinterpret_cast<std::uintptr_t>(from), bytes, stream, wait)
                             : CUDA_ERROR_INVALID_VALUE;
    });
}

CUresult download(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream, Wait wait) {
    return call_with_context([&](Context& context) {
        return on_device(from) ? copy(context, reinterpret_cast<std::uintptr_t>(to), from, bytes, stream, wait)
                               : CUDA_ERROR_INVALID_VALUE;
    });
}

CUresult between(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream, Wait wait) {
    return call_with_context([&](Context& context) {
        return find_mapping(to) && find_mapping(from) ? copy(context, to, from, bytes, stream, wait)
                                                      : CUDA_ERROR_INVALID_VALUE;
    });
}

CUresult fill(CUdeviceptr address, std::uint32_t pattern, std::size_t pattern_bytes, std::size_t count, CUstream handle,
              Wait wait) {
    return call_with_context([&](Context& context) {
        const Side to(address);
        const auto stream = find_stream(context, handle);
        if (!stream) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        if (count == 0) {
            return CUDA_SUCCESS;
        }
        if (to.pageable() || address % pattern_bytes != 0 || !legal(context, to, count * pattern_bytes, true)) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const auto execution = context.execution;
        submit(*stream, [=] { return fill_bytes(*execution, address, pattern, pattern_bytes, count); });
        if (wait == Wait::AsCudaDoes && (!to.on_device() || to.synchronous())) {
            process().scheduler().synchronize(*stream->stream);
        }
        return check(&context);
    });
}

}  // namespace

extern "C" {

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    note_call(Call::Copy);
    return call_with_context(
        [&](Context& context) { return copy(context, to, from, bytes, nullptr, Wait::AsCudaDoes); });
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    note_call(Call::Copy);
    return call_with_context([&](Context& context) { return copy(context, to, from, bytes, stream, Wait::No); });
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
    note_call(Call::Copy);
    return upload(to, from, bytes, nullptr, Wait::AsCudaDoes);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
    note_call(Call::Copy);
    return upload(to, from, bytes, stream, Wait::No);
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
    note_call(Call::Copy);
    return download(to, from, bytes, nullptr, Wait::AsCudaDoes);
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    note_call(Call::Copy);
    return download(to, from, bytes, stream, Wait::No);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    note_call(Call::Copy);
    return between(to, from, bytes, nullptr, Wait::AsCudaDoes);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    note_call(Call::Copy);
    return between(to, from, bytes, stream, Wait::No);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                           std::size_t bytes, CUstream stream) {
    note_call(Call::Copy);
    return call_with_context([&](Context& context) {
        if (to_context == nullptr || from_context == nullptr) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        if (check(to_context) != CUDA_SUCCESS || check(from_context) != CUDA_SUCCESS) {
            return CUDA_ERROR_CONTEXT_IS_DESTROYED;
        }
        return on_device(to) && on_device(from) ? copy(context, to, from, bytes, stream, Wait::No)
                                                : CUDA_ERROR_INVALID_VALUE;
    });
}

CUresult cuMemsetD8_v2(CUdeviceptr address, unsigned char value, std::size_t count) {
    note_call(Call::Copy);
    return fill(address, value, 1, count, nullptr, Wait::AsCudaDoes);
}

CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, std::size_t count, CUstream stream) {
    note_call(Call::Copy);
    return fill(address, value, 1, count, stream, Wait::No);
}

CUresult cuMemsetD32_v2(CUdeviceptr address, unsigned value, std::size_t count) {
    note_call(Call::Copy);
    return fill(address, value, 4, count, nullptr, Wait::AsCudaDoes);
}

CUresult cuMemsetD32Async(CUdeviceptr address, unsigned value, std::size_t count, CUstream stream) {
    note_call(Call::Copy);
    return fill(address, value, 4, count, stream, Wait::No);
}

}  // extern "C"

}  // namespace peercoll::simulator::cuda
