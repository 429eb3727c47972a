// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated_devices/core/kernels.hpp"

#include "tests/simulated_devices/core/access.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

namespace peercoll::simulator {

namespace {

void* kernel_library() {
    static void* const library = []() -> void* {
        const char* path = std::getenv("PEERCOLL_SIMULATOR_KERNELS");
        if (path == nullptr || *path == '\0') {
            return nullptr;
        }
        void* opened = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (opened == nullptr) {
            std::fprintf(stderr, "peercoll simulator: PEERCOLL_SIMULATOR_KERNELS: %s\n", ::dlerror());
        }
        return opened;
    }();
    return library;
}

// What one launch has touched. Kernels may use threads of their own, so it is guarded.
struct LaunchState {
    const ExecutionContext* context = nullptr;
    std::mutex mutex;
    bool illegal = false;
    std::vector<std::shared_ptr<Mapping>> held;
    std::vector<std::unique_ptr<std::byte[]>> scratch;
};

void* translate(const peercoll_simulated_launch* launch, std::uint64_t address, std::uint64_t bytes, int write) {
    auto& state = *static_cast<LaunchState*>(launch->opaque);
    static std::byte nothing;
    if (bytes == 0) {
        return &nothing;
    }
    Resolved resolved = resolve_for_kernel(*state.context, address, bytes, write != 0);
    const std::lock_guard lock(state.mutex);
    if (resolved.address == nullptr) {
        state.illegal = true;
        return nullptr;
    }
    if (write != 0 && resolved.stores_lost) {
        auto copy = std::make_unique<std::byte[]>(bytes);
        std::memcpy(copy.get(), resolved.address, bytes);
        resolved.address = copy.get();
        state.scratch.push_back(std::move(copy));
    }
    for (auto& mapping : resolved.mappings) {
        if (state.held.empty() || state.held.back() != mapping) {
            state.held.push_back(std::move(mapping));
        }
    }
    return resolved.address;
}

}  // namespace

Kernel find_kernel(const std::string& name) {
    void* library = kernel_library();
    if (library == nullptr) {
        return Kernel();
    }
    void* function = ::dlsym(library, name.c_str());
    const void* bytes = ::dlsym(library, (name + "_parameter_bytes").c_str());
    if (function == nullptr || bytes == nullptr) {
        return Kernel();
    }
    return Kernel{reinterpret_cast<void (*)(void*, const peercoll_simulated_launch*)>(function),
                  *static_cast<const std::size_t*>(bytes), ::dlsym(library, (name + "_stays").c_str()) != nullptr};
}

Result run_kernel(const ExecutionContext& context, int ordinal, const Kernel& kernel, std::vector<std::byte> parameters,
                  const LaunchShape& shape) {
    LaunchState state;
    state.context = &context;
    peercoll_simulated_launch launch = {};
    launch.struct_size = sizeof(launch);
    std::memcpy(launch.grid, shape.grid.data(), sizeof(launch.grid));
    std::memcpy(launch.block, shape.block.data(), sizeof(launch.block));
    launch.shared_bytes = shape.shared_bytes;
    launch.device = ordinal;
    launch.translate = translate;
    launch.opaque = &state;
    kernel.function(parameters.data(), &launch);
    return state.illegal ? Result::IllegalAddress : Result::Ok;
}

}  // namespace peercoll::simulator
