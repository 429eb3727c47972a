// SPDX-License-Identifier: BSD-3-Clause
// Modules and launches. A module's image is looked at only as far as telling what is none; its functions are the
// processor's (core/kernels.hpp).
#include "tests/simulated_devices/core/call_counts.hpp"
#include "tests/simulated_devices/core/kernels.hpp"
#include "tests/simulated_devices/cuda/driver.hpp"
#include "tests/simulated_devices/cuda/entry_points.hpp"

#include <cctype>
#include <cstring>
#include <string>

namespace peercoll::simulator::cuda {

struct ModuleObject {
    std::string ptx;  // empty: native code, whose names are not known
    Context* context;
};

struct FunctionObject {
    Kernel kernel;
    Context* context;
};

namespace {

constexpr std::uint32_t fatbin_wrapper_magic = 0x466243b1;
constexpr std::uint32_t fatbin_magic = 0xba55ed50;
constexpr std::uint32_t elf_magic = 0x464c457f;
constexpr unsigned most_threads = 1024;

struct FatbinWrapper {
    std::uint32_t magic;
    std::uint32_t version;
    const void* data;
    const void* unused;
};

std::uint32_t first_word(const void* image) {
    std::uint32_t word = 0;
    std::memcpy(&word, image, sizeof(word));
    return word;
}

// PTX begins, after blanks and comments, with its version.
bool is_ptx(const char* text) {
    for (;;) {
        while (std::isspace(static_cast<unsigned char>(*text)) != 0) {
            ++text;
        }
        if (text[0] != '/' || text[1] != '/') {
            break;
        }
        while (*text != '\0' && *text != '\n') {
            ++text;
        }
    }
    return std::strncmp(text, ".version", 8) == 0;
}

bool is_native(const void* image) {
    const std::uint32_t word = first_word(image);
    if (word != fatbin_wrapper_magic) {
        return word == fatbin_magic || word == elf_magic;
    }
    FatbinWrapper wrapper = {};
    std::memcpy(&wrapper, image, sizeof(wrapper));
    return wrapper.data != nullptr && first_word(wrapper.data) == fatbin_magic;
}

CUresult load(Context& context, CUmodule* module, const void* image) {
    if (module == nullptr || image == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    auto object = std::make_shared<ModuleObject>(ModuleObject{"", &context});
    if (is_ptx(static_cast<const char*>(image))) {
        object->ptx = static_cast<const char*>(image);
    } else if (!is_native(image)) {
        return CUDA_ERROR_INVALID_IMAGE;
    }
    *module = driver().modules.add(std::move(object));
    return CUDA_SUCCESS;
}

std::size_t threads_of(const LaunchShape& shape) {
    return std::size_t{shape.block[0]} * shape.block[1] * shape.block[2];
}

bool good(const LaunchShape& shape) {
    for (int i = 0; i < 3; ++i) {
        const std::uint32_t most = i == 0 ? 0x7fffffffu : 65535u;
        if (shape.grid[static_cast<std::size_t>(i)] == 0 || shape.block[static_cast<std::size_t>(i)] == 0 ||
            shape.grid[static_cast<std::size_t>(i)] > most) {
            return false;
        }
    }
    return threads_of(shape) <= most_threads && shape.block[2] <= 64 && shape.shared_bytes <= 48 * 1024;
}

}  // namespace

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
    return call_with_context([&](Context& context) { return load(context, module, image); });
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned /*count*/, int* /*options*/,
                            void** /*values*/) {
    return call_with_context([&](Context& context) { return load(context, module, image); });
}

CUresult cuModuleUnload(CUmodule module) {
    return call_with_context([&](Context& context) {
        if (!driver().modules.remove(module)) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        process().scheduler().synchronize(*context.execution);
        return CUDA_SUCCESS;
    });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module_handle, const char* name) {
    return call_with_context([&](Context& context) {
        const auto module = driver().modules.find(module_handle);
        if (function == nullptr || name == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (!module || module->context != &context) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        // A text that lists its kernels has no others.
        const bool listed = module->ptx.find(".entry") == std::string::npos ||
                            module->ptx.find(std::string(".entry ") + name) != std::string::npos;
        const Kernel kernel = listed ? find_kernel(name) : Kernel();
        if (kernel.function == nullptr) {
            return CUDA_ERROR_NOT_FOUND;
        }
        *function = driver().functions.add(std::make_shared<FunctionObject>(FunctionObject{kernel, &context}));
        return CUDA_SUCCESS;
    });
}

CUresult cuFuncGetAttribute(int* value, int attribute, CUfunction function) {
    return call_with_context([&](Context&) {
        if (value == nullptr || attribute < 0 || attribute > 15) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (!driver().functions.find(function)) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        *value = attribute == 0 ? static_cast<int>(most_threads) : 0;
        return CUDA_SUCCESS;
    });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     std::size_t /*shared_bytes*/) {
    return call_with_context([&](Context&) {
        if (blocks == nullptr || threads < 1) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (!driver().functions.find(function)) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        *blocks = threads > static_cast<int>(most_threads) ? 0 : 2048 / threads;
        return CUDA_SUCCESS;
    });
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream_handle,
                        void** parameters, void** extra) {
    note_call(Call::Launch);
    return call_with_context([&](Context& context) {
        const auto object = driver().functions.find(function);
        const auto stream = find_stream(context, stream_handle);
        if (!object || object->context != &context || !stream || stream->context != &context) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        const LaunchShape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes};
        if (!good(shape) || parameters == nullptr || parameters[0] == nullptr || extra != nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const auto* first = static_cast<const std::byte*>(parameters[0]);
        Operation operation;
        operation.run = [execution = context.execution, ordinal = context.ordinal, kernel = object->kernel, shape,
                         copy = std::vector<std::byte>(first, first + object->kernel.parameter_bytes)] {
            return run_kernel(*execution, ordinal, kernel, copy, shape);
        };
        operation.beside = object->kernel.stays;
        process().scheduler().submit(stream->stream, std::move(operation));
        return CUDA_SUCCESS;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::cuda
