// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated_devices/cuda/driver.hpp"

#include "tests/simulated_devices/cuda/state.hpp"

#include <cstdlib>
#include <sstream>
#include <string>

namespace peercoll::simulator::cuda {

namespace {

// "3" or "GPU-00112233-..." (a beginning of it is enough); -1: neither.
int device_of_word(const std::string& word) {
    const auto& devices = process().node().devices;
    if (word.rfind("GPU-", 0) == 0) {
        int found = -1;
        for (std::size_t i = 0; i < devices.size(); ++i) {
            const std::string name = uuid_text(devices[i].uuid);
            if (name.compare(0, word.size(), word) == 0) {
                if (found >= 0) {
                    return -1;
                }
                found = static_cast<int>(i);
            }
        }
        return found;
    }
    char* end = nullptr;
    const long index = std::strtol(word.c_str(), &end, 10);
    const bool good = !word.empty() && *end == '\0' && index >= 0 && index < static_cast<long>(devices.size());
    return good ? static_cast<int>(index) : -1;
}

}  // namespace

Driver& driver() {
    static Driver* const driver = std::make_unique<Driver>().release();
    return *driver;
}

std::string uuid_text(const Uuid& uuid) {
    std::string text = "GPU-";
    for (std::size_t i = 0; i < uuid.size(); ++i) {
        constexpr const char* digits = "0123456789abcdef";
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            text += '-';
        }
        text += digits[uuid[i] >> 4];
        text += digits[uuid[i] & 15];
    }
    return text;
}

void Driver::find_devices() {
    std::vector<int> visible;
    const char* words = std::getenv("CUDA_VISIBLE_DEVICES");
    if (words == nullptr) {
        for (std::size_t i = 0; i < process().node().devices.size(); ++i) {
            visible.push_back(static_cast<int>(i));
        }
    } else {
        // As the real one: what comes behind the first word that names no device is not seen.
        std::istringstream list(words);
        std::string word;
        while (std::getline(list, word, ',')) {
            const int device = device_of_word(word);
            if (device < 0) {
                break;
            }
            visible.push_back(device);
        }
    }
    devices.resize(visible.size());
    for (std::size_t i = 0; i < visible.size(); ++i) {
        devices[i].of_node = visible[i];
    }
}

bool is_device(CUdevice device) {
    return device >= 0 && static_cast<std::size_t>(device) < driver().devices.size();
}

const DeviceProperties& properties(CUdevice device) {
    const int of_node = driver().devices[static_cast<std::size_t>(device)].of_node;
    return process().node().devices[static_cast<std::size_t>(of_node)];
}

int ordinal_of(int device_of_node) {
    const auto& devices = driver().devices;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        if (devices[i].of_node == device_of_node) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

CUresult to_cuda(Result result) {
    switch (result) {
        case Result::Ok:
            return CUDA_SUCCESS;
        case Result::InvalidValue:
            return CUDA_ERROR_INVALID_VALUE;
        case Result::OutOfMemory:
            return CUDA_ERROR_OUT_OF_MEMORY;
        case Result::NotPermitted:
            return CUDA_ERROR_NOT_PERMITTED;
        case Result::NotSupported:
            return CUDA_ERROR_NOT_SUPPORTED;
        case Result::NotFound:
            return CUDA_ERROR_NOT_FOUND;
        case Result::AlreadyMapped:
            return CUDA_ERROR_ALREADY_MAPPED;
        case Result::IllegalAddress:
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        case Result::LaunchFailed:
            return CUDA_ERROR_LAUNCH_FAILED;
        case Result::SystemFault:
            return CUDA_ERROR_OPERATING_SYSTEM;
    }
    return CUDA_ERROR_UNKNOWN;
}

std::vector<Context*>& context_stack() {
    thread_local std::vector<Context*> stack;
    return stack;
}

Context* current_context() {
    const auto& stack = context_stack();
    return stack.empty() ? nullptr : stack.back();
}

CUresult check(const Context* context) {
    if (context == nullptr) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (context->destroyed.load()) {
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    return to_cuda(context->execution->fault.load());
}

std::shared_ptr<StreamObject> find_stream(Context& context, CUstream stream) {
    const auto number = reinterpret_cast<std::uintptr_t>(stream);
    if (number <= 1) {  // the default stream, also under its name CU_STREAM_LEGACY
        return std::make_shared<StreamObject>(StreamObject{context.legacy_stream, &context});
    }
    if (number == 2) {  // CU_STREAM_PER_THREAD
        return std::make_shared<StreamObject>(StreamObject{context.thread_stream, &context});
    }
    return driver().streams.find(stream);
}

void submit(const StreamObject& stream, std::function<Result()> run) {
    Operation operation;
    operation.run = std::move(run);
    process().scheduler().submit(stream.stream, std::move(operation));
}

}  // namespace peercoll::simulator::cuda
