// SPDX-License-Identifier: BSD-3-Clause
// Primary contexts and each thread's stack of contexts. There are no others: applications of today use the primary one.
#include "tests/simulated_devices/core/call_counts.hpp"
#include "tests/simulated_devices/cuda/driver.hpp"
#include "tests/simulated_devices/cuda/entry_points.hpp"

namespace peercoll::simulator::cuda {

namespace {

// What lived in a context goes with it. Called with the driver's mutex held.
void destroy_primary(Device& device) {
    Context* const context = device.primary.get();
    context->destroyed.store(true);
    process().scheduler().synchronize(*context->execution);
    Driver& all = driver();
    for (const auto& mapping : process().addresses().all()) {
        if (mapping->context == context) {
            process().addresses().remove(mapping);
            all.imports.erase(mapping->base);
        }
    }
    for (const auto& stream : all.streams.all()) {
        if (stream->context == context) {
            all.streams.remove(stream.get());
        }
    }
    for (const auto& event : all.events.all()) {
        if (event->context == context) {
            all.events.remove(event.get());
        }
    }
    device.destroyed.push_back(std::move(device.primary));
}

}  // namespace

extern "C" {

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice number) {
    return call([&] {
        if (context == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (!is_device(number)) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
        const std::lock_guard lock(driver().mutex);
        Device& device = driver().devices[static_cast<std::size_t>(number)];
        if (!device.primary) {
            device.primary = std::make_unique<Context>(number, device.of_node);
            device.primary->flags.store(device.flags);
        }
        ++device.retains;
        *context = device.primary.get();
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice number) {
    return call([&] {
        if (!is_device(number)) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
        const std::lock_guard lock(driver().mutex);
        Device& device = driver().devices[static_cast<std::size_t>(number)];
        if (device.retains == 0) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        if (--device.retains == 0 && device.primary) {
            destroy_primary(device);
        }
        return CUDA_SUCCESS;
    });
}

// What cudaDeviceReset() does: the context goes although others have retained it.
CUresult cuDevicePrimaryCtxReset_v2(CUdevice number) {
    return call([&] {
        if (!is_device(number)) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
        const std::lock_guard lock(driver().mutex);
        Device& device = driver().devices[static_cast<std::size_t>(number)];
        if (device.primary) {
            destroy_primary(device);
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice number, unsigned flags) {
    return call([&] {
        if (!is_device(number)) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
        const std::lock_guard lock(driver().mutex);
        Device& device = driver().devices[static_cast<std::size_t>(number)];
        if (device.primary) {
            return CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE;
        }
        device.flags = flags;
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice number, unsigned* flags, int* active) {
    return call([&] {
        if (flags == nullptr || active == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (!is_device(number)) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
        const std::lock_guard lock(driver().mutex);
        const Device& device = driver().devices[static_cast<std::size_t>(number)];
        *active = device.primary ? 1 : 0;
        *flags = device.primary ? device.primary->flags.load() : device.flags;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
    return call([&] {
        if (context == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *context = current_context();
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxSetCurrent(CUcontext context) {
    return call([&] {
        if (context != nullptr && context->destroyed.load()) {
            return CUDA_ERROR_CONTEXT_IS_DESTROYED;
        }
        auto& stack = context_stack();
        if (!stack.empty()) {
            stack.back() = context;
        } else if (context != nullptr) {
            stack.push_back(context);
        }
        if (context == nullptr && !stack.empty()) {
            stack.pop_back();
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
    return call([&] {
        if (context == nullptr) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        if (context->destroyed.load()) {
            return CUDA_ERROR_CONTEXT_IS_DESTROYED;
        }
        context_stack().push_back(context);
        ++driver().pushed;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
    return call([&] {
        auto& stack = context_stack();
        if (stack.empty()) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        if (context != nullptr) {
            *context = stack.back();
        }
        stack.pop_back();
        --driver().pushed;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetDevice(CUdevice* device) {
    return call([&] {
        if (device == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const Context* const context = current_context();
        if (context == nullptr) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        *device = context->ordinal;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetFlags(unsigned* flags) {
    return call_with_context([&](Context& context) {
        if (flags == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *flags = context.flags.load();
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxSetFlags(unsigned flags) {
    return call_with_context([&](Context& context) {
        context.flags.store(flags);
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxSynchronize(void) {
    note_call(Call::Synchronisation);
    return call_with_context([&](Context& context) {
        process().scheduler().synchronize(*context.execution);
        return check(&context);
    });
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
    note_call(Call::Enable);
    return call_with_context([&](Context& context) {
        if (flags != 0) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (peer == nullptr) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        if (peer->destroyed.load()) {
            return CUDA_ERROR_CONTEXT_IS_DESTROYED;
        }
        ExecutionContext& from = *context.execution;
        const int to = peer->execution->device;
        if (to == from.device || !process().node().link(from.device, to).access) {
            return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
        }
        const std::lock_guard lock(driver().mutex);
        const DeviceSet peers = from.peers.load();
        if ((peers & one_device(to)) != 0) {
            return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
        }
        if (static_cast<std::size_t>(__builtin_popcountll(peers)) >= process().node().peer_limit) {
            return CUDA_ERROR_TOO_MANY_PEERS;
        }
        from.peers.store(peers | one_device(to));
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
    return call_with_context([&](Context& context) {
        if (peer == nullptr) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        const std::lock_guard lock(driver().mutex);
        const DeviceSet bit = one_device(peer->execution->device);
        const DeviceSet peers = context.execution->peers.load();
        if ((peers & bit) == 0) {
            return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
        }
        // What runs now may still use it, as on a device.
        process().scheduler().synchronize(*context.execution);
        context.execution->peers.store(peers & ~bit);
        return CUDA_SUCCESS;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::cuda
