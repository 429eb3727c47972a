// SPDX-License-Identifier: BSD-3-Clause
// What all entry points of the simulated driver share: the gate they pass, contexts, and the lists of live objects.
#pragma once

#include "tests/simulated_devices/core/event.hpp"
#include "tests/simulated_devices/core/leaks.hpp"
#include "tests/simulated_devices/core/process.hpp"
#include "tests/simulated_devices/cuda/types.hpp"

#include <atomic>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

namespace peercoll::simulator::cuda {

// A device's primary context. Never goes away, so that a stale handle is told (709) and not followed.
struct Context {
    Context(int ordinal_of_process, int device_of_node)
        : ordinal(ordinal_of_process),
          execution(std::make_shared<ExecutionContext>(device_of_node)),
          legacy_stream(std::make_shared<Stream>(execution, StreamKind::Legacy)),
          thread_stream(std::make_shared<Stream>(execution, StreamKind::Blocking)) {}

    const int ordinal;
    const std::shared_ptr<ExecutionContext> execution;
    const std::shared_ptr<Stream> legacy_stream;
    const std::shared_ptr<Stream> thread_stream;
    std::atomic<bool> destroyed{false};
    std::atomic<unsigned> flags{0};
};

struct StreamObject {
    std::shared_ptr<Stream> stream;
    Context* context;
};

struct EventObject {
    std::shared_ptr<Event> event;
    unsigned flags;
    Context* context;
    bool imported;
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
    std::vector<std::shared_ptr<Object>> all() const {
        const std::lock_guard lock(mutex_);
        std::vector<std::shared_ptr<Object>> result;
        for (const auto& [handle, object] : objects_) {
            result.push_back(object);
        }
        return result;
    }

private:
    mutable std::mutex mutex_;
    std::map<const Object*, std::shared_ptr<Object>> objects_;
};

// One of the node's devices as this process sees it: its place in `devices` is its ordinal.
struct Device {
    int of_node = -1;
    std::unique_ptr<Context> primary;  // null: never retained
    unsigned retains = 0;
    unsigned flags = 0;  // for the next primary context
    std::vector<std::unique_ptr<Context>> destroyed;
};

struct ImportedMemory {
    std::shared_ptr<Mapping> mapping;
    unsigned opens = 0;
    Context* context = nullptr;
    ProcessName owner;
    std::uint64_t owner_base = 0;
};

class Driver {
public:
    // What CUDA_VISIBLE_DEVICES leaves of the node.
    void find_devices();

    std::vector<Device> devices;
    std::mutex mutex;  // guards the devices' contexts and `imports`
    Registry<StreamObject> streams;
    Registry<EventObject> events;
    Registry<ModuleObject> modules;
    Registry<FunctionObject> functions;
    Registry<PoolObject> pools;
    std::map<std::uint64_t, ImportedMemory> imports;  // by address
    std::atomic<long> pushed{0};                      // contexts pushed and not popped, over all threads
};

Driver& driver();

const DeviceProperties& properties(CUdevice device);
bool is_device(CUdevice device);
// -1: not visible here.
int ordinal_of(int device_of_node);

CUresult to_cuda(Result result);

// The contexts of the calling thread, the current one last. NULL is a legal one.
std::vector<Context*>& context_stack();
Context* current_context();
// Success, 201, 709, or the error that has poisoned it.
CUresult check(const Context* context);

// Why a call is refused whatever it asks: a stub, not initialised, torn down, forked, or from inside a host function.
CUresult gate();

// The body of an entry point, behind the gate. What the machine below refuses becomes a code.
template <typename Body>
CUresult call(Body body) noexcept {
    if (const CUresult refused = gate(); refused != CUDA_SUCCESS) {
        return refused;
    }
    try {
        return body();
    } catch (const std::bad_alloc&) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "peercoll simulator: %s\n", error.what());
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
}

// The same for the many that need a healthy current context.
template <typename Body>
CUresult call_with_context(Body body) noexcept {
    return call([&] {
        Context* const context = current_context();
        const CUresult bad = check(context);
        return bad != CUDA_SUCCESS ? bad : body(*context);
    });
}

inline std::shared_ptr<Mapping> find_mapping(CUdeviceptr address) {
    return process().addresses().find(address);
}

// Null: no such stream.
std::shared_ptr<StreamObject> find_stream(Context& context, CUstream stream);
void submit(const StreamObject& stream, std::function<Result()> run);

// Physical memory, reservations and pools that are left.
void add_virtual_memory_leaks(LeakCount& leaks);

// At the process's end: the threads end, what is still alive is told, and from then on calls return 4.
void tear_down();

}  // namespace peercoll::simulator::cuda
