// SPDX-License-Identifier: BSD-3-Clause
// Modules and launches. Of a module's image only the architectures it has code for are looked at; its functions are the
// processor's (core/kernels.hpp).
#include "tests/simulated_devices/core/call_counts.hpp"
#include "tests/simulated_devices/core/kernels.hpp"
#include "tests/simulated_devices/hip/entry_points.hpp"
#include "tests/simulated_devices/hip/runtime.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace peercoll::simulator::hip {

struct ModuleObject {
    int device;
};

struct FunctionObject {
    Kernel kernel;
    int device;
};

namespace {

constexpr unsigned most_threads = 1024;
constexpr const char bundle_magic[] = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::uint16_t amdgpu_machine = 224;

struct BundleEntry {
    std::uint64_t offset;
    std::uint64_t bytes;
    std::uint64_t name_bytes;
};

// A bundle lists its code objects: "hipv4-amdgcn-amd-amdhsa--gfx90a".
bool bundle_has(const char* image, const std::string& architecture) {
    std::uint64_t count = 0;
    const char* at = image + sizeof bundle_magic - 1;
    std::memcpy(&count, at, sizeof(count));
    at += sizeof(count);
    for (std::uint64_t i = 0; i < count && i < 64; ++i) {
        BundleEntry entry = {};
        std::memcpy(&entry, at, sizeof(entry));
        at += sizeof(entry);
        const std::string name(at, entry.name_bytes);
        at += entry.name_bytes;
        if (name.rfind("hip", 0) == 0 && name.find("--" + architecture) != std::string::npos) {
            return true;
        }
    }
    return false;
}

// A single code object tells its architecture by a number in its header; that of the simulated compiler, in a text.
hipError_t look_at(const char* image, const std::string& architecture) {
    if (std::memcmp(image, bundle_magic, sizeof bundle_magic - 1) == 0) {
        return bundle_has(image, architecture) ? hipSuccess : hipErrorNoBinaryForGpu;
    }
    std::uint16_t machine = 0;
    std::memcpy(&machine, image + 18, sizeof(machine));
    if (std::memcmp(image, "\177ELF", 4) != 0 || machine != amdgpu_machine) {
        return hipErrorInvalidImage;
    }
    constexpr const char simulated[] = "simulated ";
    if (std::memcmp(image + 64, simulated, sizeof simulated - 1) != 0) {
        return hipErrorNoBinaryForGpu;
    }
    return architecture == image + 64 + sizeof simulated - 1 ? hipSuccess : hipErrorNoBinaryForGpu;
}

std::size_t threads_of(const LaunchShape& shape) {
    return std::size_t{shape.block[0]} * shape.block[1] * shape.block[2];
}

bool good(const LaunchShape& shape) {
    const auto none = [](const std::array<std::uint32_t, 3>& sizes) {
        return std::any_of(sizes.begin(), sizes.end(), [](std::uint32_t size) { return size == 0; });
    };
    return !none(shape.grid) && !none(shape.block) && threads_of(shape) <= most_threads &&
           shape.shared_bytes <= 64 * 1024;
}

}  // namespace

extern "C" {

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
    return call_on_device([&](Device&) {
        if (module == nullptr || image == nullptr) {
            return hipErrorInvalidValue;
        }
        const hipError_t bad = look_at(static_cast<const char*>(image), architecture(current_device()));
        if (bad == hipSuccess) {
            *module = runtime().modules.add(std::make_shared<ModuleObject>(ModuleObject{current_device()}));
        }
        return bad;
    });
}

hipError_t hipModuleUnload(hipModule_t module) {
    return call_on_device([&](Device& device) {
        if (!runtime().modules.remove(module)) {
            return hipErrorInvalidHandle;
        }
        process().scheduler().synchronize(*device.execution);
        return hipSuccess;
    });
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module_handle, const char* name) {
    return call_on_device([&](Device&) {
        if (function == nullptr || name == nullptr) {
            return hipErrorInvalidValue;
        }
        const auto module = runtime().modules.find(module_handle);
        if (!module) {
            return hipErrorInvalidHandle;
        }
        const Kernel kernel = find_kernel(name);
        if (kernel.function == nullptr) {
            return hipErrorNotFound;
        }
        *function = runtime().functions.add(std::make_shared<FunctionObject>(FunctionObject{kernel, module->device}));
        return hipSuccess;
    });
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                 hipStream_t stream_handle, void** parameters, void** extra) {
    note_call(Call::Launch);
    return call_on_device([&](Device& device) {
        const auto object = runtime().functions.find(function);
        const auto stream = find_stream(stream_handle);
        if (!stream) {
            return hipErrorContextIsDestroyed;
        }
        if (!object || object->device != current_device() || stream->device != current_device()) {
            return hipErrorInvalidHandle;
        }
        const LaunchShape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes};
        if (!good(shape) || parameters == nullptr || parameters[0] == nullptr || extra != nullptr) {
            return hipErrorInvalidValue;
        }
        const auto* first = static_cast<const std::byte*>(parameters[0]);
        submit(*stream, [execution = device.execution, ordinal = current_device(), kernel = object->kernel, shape,
                         copy = std::vector<std::byte>(first, first + object->kernel.parameter_bytes)] {
            return run_kernel(*execution, ordinal, kernel, copy, shape);
        });
        return hipSuccess;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::hip
