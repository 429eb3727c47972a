// SPDX-License-Identifier: BSD-3-Clause
// What all entry points of the simulated HIP share: the gate they pass, devices, and the lists of live objects.
#pragma once

#include "tests/simulated_devices/core/event.hpp"
#include "tests/simulated_devices/core/process.hpp"
#include "tests/simulated_devices/hip/last_error.hpp"
#include "tests/simulated_devices/hip/types.hpp"

#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace peercoll::simulator::hip {

struct StreamObject {
    std::shared_ptr<Stream> stream;
    int device;
};

struct EventObject {
    std::shared_ptr<Event> event;
    unsigned flags;
    int device;
};

// The objects of a kind that are alive, by the handle that applications hold.
template <typename Object>
class Registry {
public:
    Object* add(std::shared_ptr<Object> object) {
        const std::lock_guard lock(mutex_);
        Object* handle = object.get();
        objects_.emplace(handle, std::move(object));
        return handle;
    }
    std::shared_ptr<Object> find(const Object* handle) const {
        const std::lock_guard lock(mutex_);
        const auto found = objects_.find(handle);
        return found == objects_.end() ? nullptr : found->second;
    }
    std::shared_ptr<Object> remove(const Object* handle) {
        const std::lock_guard lock(mutex_);
        const auto found = objects_.find(handle);
        if (found == objects_.end()) {
            return nullptr;
        }
        std::shared_ptr<Object> object = std::move(found->second);
        objects_.erase(found);
        return object;
    }
    std::size_t size() const {
        const std::lock_guard lock(mutex_);
        return objects_.size();
    }

private:
    mutable std::mutex mutex_;
    std::map<const Object*, std::shared_ptr<Object>> objects_;
};

// One of the node's devices as this process sees it: its place in `devices` is its number.
struct Device {
    explicit Device(int device_of_node)
        : of_node(device_of_node),
          execution(std::make_shared<ExecutionContext>(device_of_node)),
          null_stream(std::make_shared<Stream>(execution, StreamKind::Legacy)),
          thread_stream(std::make_shared<Stream>(execution, StreamKind::Blocking)) {}

    const int of_node;
    const std::shared_ptr<ExecutionContext> execution;
    const std::shared_ptr<Stream> null_stream;
    const std::shared_ptr<Stream> thread_stream;
};

struct ImportedMemory {
    std::shared_ptr<Mapping> mapping;
    std::uint64_t address = 0;  // that was given, which need not be the mapping's begin
    unsigned opens = 0;
};

class Runtime {
public:
    // What HIP_VISIBLE_DEVICES leaves of the node.
    void find_devices();

    std::vector<std::unique_ptr<Device>> devices;
    std::mutex mutex;  // guards `imports` and the devices' peers
    Registry<StreamObject> streams;
    Registry<EventObject> events;
    Registry<ModuleObject> modules;
    Registry<FunctionObject> functions;
    std::vector<ImportedMemory> imports;
};

Runtime& runtime();

bool is_device(int device);
Device& device_at(int device);
const DeviceProperties& properties(int device);
// -1: not visible here.
int ordinal_of(int device_of_node);
// "gfx90a", from the node's capability: 9.0 stands for that; else the minor number is two hexadecimal digits, as 9.66
// for gfx942 and 10.48 for gfx1030.
std::string architecture(int device);
int wavefront(int device);

// The calling thread's. hipSetDevice changes it.
int& current_device();
Device& current();

hipError_t to_hip(Result result);
// Success, or the error that has spoiled the device for this process.
hipError_t check(const Device& device);

// Why a call is refused whatever it asks: no device, torn down, forked, or from inside a host function. Starts the
// runtime with the first call, as HIP does.
hipError_t gate();

// The body of an entry point, behind the gate.
template <typename Body>
hipError_t call(Body body) noexcept {
    if (const hipError_t refused = gate(); refused != hipSuccess) {
        return finish(refused);
    }
    try {
        return finish(body());
    } catch (const std::bad_alloc&) {
        return finish(hipErrorOutOfMemory);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "peercoll simulator: %s\n", error.what());
        return finish(hipErrorUnknown);
    }
}

// The same for the many that need the current device to be well.
template <typename Body>
hipError_t call_on_device(Body body) noexcept {
    return call([&] {
        Device& device = current();
        const hipError_t bad = check(device);
        return bad != hipSuccess ? bad : body(device);
    });
}

inline std::uint64_t number(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address);
}
inline void* pointer(std::uint64_t address) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}
inline std::shared_ptr<Mapping> find_mapping(const void* address) {
    return process().addresses().find(number(address));
}

// Null: no such stream, which is told as misuse where the real one may crash.
std::shared_ptr<StreamObject> find_stream(hipStream_t stream);
void submit(const StreamObject& stream, std::function<Result()> run);

// At the process's end: the threads end, what is still alive is told, and from then on calls return 4.
void tear_down();

}  // namespace peercoll::simulator::hip
