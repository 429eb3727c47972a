// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated_devices/hip/runtime.hpp"

#include "tests/simulated_devices/core/leaks.hpp"
#include "tests/simulated_devices/hip/version.hpp"

#include <cstdlib>
#include <sstream>

namespace peercoll::simulator::hip {

namespace {

// -1: no number of a device.
int device_of_word(const std::string& word) {
    char* end = nullptr;
    const long index = std::strtol(word.c_str(), &end, 10);
    const bool good =
        !word.empty() && *end == '\0' && index >= 0 && index < static_cast<long>(process().node().devices.size());
    return good ? static_cast<int>(index) : -1;
}

}  // namespace

Runtime& runtime() {
    static Runtime* const runtime = std::make_unique<Runtime>().release();
    return *runtime;
}

void Runtime::find_devices() {
    const char* words = std::getenv("HIP_VISIBLE_DEVICES");
    if (words == nullptr) {
        for (std::size_t i = 0; i < process().node().devices.size(); ++i) {
            devices.push_back(std::make_unique<Device>(static_cast<int>(i)));
        }
        return;
    }
    std::istringstream list(words);
    std::string word;
    while (std::getline(list, word, ',')) {
        const int device = device_of_word(word);
        if (device < 0) {
            break;  // what comes behind a word that names no device is not seen
        }
        devices.push_back(std::make_unique<Device>(device));
    }
}

bool is_device(int device) {
    return device >= 0 && static_cast<std::size_t>(device) < runtime().devices.size();
}

Device& device_at(int device) {
    return *runtime().devices[static_cast<std::size_t>(device)];
}

const DeviceProperties& properties(int device) {
    return process().node().devices[static_cast<std::size_t>(device_at(device).of_node)];
}

int ordinal_of(int device_of_node) {
    const auto& devices = runtime().devices;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        if (devices[i]->of_node == device_of_node) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

std::string architecture(int device) {
    const DeviceProperties& known = properties(device);
    if (known.capability_major == 9 && known.capability_minor == 0) {
        return "gfx90a";
    }
    constexpr const char* digits = "0123456789abcdef";
    return "gfx" + std::to_string(known.capability_major) + digits[known.capability_minor / 16 % 16] +
           digits[known.capability_minor % 16];
}

int wavefront(int device) {
    return properties(device).capability_major >= 10 ? 32 : 64;
}

int& current_device() {
    thread_local int device = 0;
    return device;
}

Device& current() {
    return device_at(current_device());
}

hipError_t to_hip(Result result) {
    switch (result) {
        case Result::Ok:
            return hipSuccess;
        case Result::InvalidValue:
            return hipErrorInvalidValue;
        case Result::OutOfMemory:
            return hipErrorOutOfMemory;
        case Result::NotFound:
            return hipErrorNotFound;
        case Result::IllegalAddress:
            return hipErrorIllegalAddress;
        case Result::LaunchFailed:
            return hipErrorLaunchFailure;
        case Result::NotSupported:
            return hipErrorNotSupported;
        default:
            return hipErrorUnknown;
    }
}

hipError_t check(const Device& device) {
    return to_hip(device.execution->fault.load());
}

std::shared_ptr<StreamObject> find_stream(hipStream_t stream) {
    const auto value = reinterpret_cast<std::uintptr_t>(stream);
    if (value == 0) {
        return std::make_shared<StreamObject>(StreamObject{current().null_stream, current_device()});
    }
    if (value == 2) {  // hipStreamPerThread
        return std::make_shared<StreamObject>(StreamObject{current().thread_stream, current_device()});
    }
    auto found = runtime().streams.find(stream);
    if (!found && major() >= 7) {
        report_line("a stream was used that is none: HIP 7 may crash");
    }
    return found;
}

void submit(const StreamObject& stream, std::function<Result()> run) {
    Operation operation;
    operation.run = std::move(run);
    process().scheduler().submit(stream.stream, std::move(operation));
}

}  // namespace peercoll::simulator::hip
