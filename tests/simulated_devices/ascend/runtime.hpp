// SPDX-License-Identifier: BSD-3-Clause
// What all entry points of the simulated ACL share: the gate they pass, devices and contexts, and the lists of live
// objects.
#pragma once

#include "tests/simulated_devices/ascend/types.hpp"
#include "tests/simulated_devices/core/event.hpp"
#include "tests/simulated_devices/core/process.hpp"

#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace peercoll::simulator::acl {

// All threads of the process that choose a device share its primary one.
struct Context {
    explicit Context(int number, int device_of_node)
        : device(number),
          of_node(device_of_node),
          execution(std::make_shared<ExecutionContext>(device_of_node)),
          default_stream(std::make_shared<Stream>(execution, StreamKind::NonBlocking)) {}
    const int device;  // as this process numbers it
    const int of_node;
    const std::shared_ptr<ExecutionContext> execution;
    const std::shared_ptr<Stream> default_stream;
};

struct StreamObject {
    std::shared_ptr<Stream> stream;
    std::shared_ptr<Context> context;
};

enum class EventKind { Plain, WithFlag, Extended };
struct EventObject {
    std::shared_ptr<Event> event;
    EventKind kind;
    bool for_streams;
    int device;
    bool recorded = false;
};

// The objects of a kind that are alive, by the handle that applications hold.
template <typename Object>
class Objects {
public:
    void* add(std::shared_ptr<Object> object) {
        const std::lock_guard lock(mutex_);
        void* const handle = object.get();
        objects_.emplace(handle, std::move(object));
        return handle;
    }
    std::shared_ptr<Object> find(const void* handle) const {
        const std::lock_guard lock(mutex_);
        const auto found = objects_.find(handle);
        return found == objects_.end() ? nullptr : found->second;
    }
    bool remove(const void* handle) {
        const std::lock_guard lock(mutex_);
        return objects_.erase(handle) != 0;
    }
    std::size_t size() const {
        const std::lock_guard lock(mutex_);
        return objects_.size();
    }

private:
    mutable std::mutex mutex_;
    std::map<const void*, std::shared_ptr<Object>> objects_;
};

struct KeyFile;  // ipc.cpp

struct Runtime {
    // What ASCEND_RT_VISIBLE_DEVICES leaves of the node.
    void find_devices();

    std::vector<int> devices;  // of the node, by this process's numbers
    Objects<Context> contexts;
    Objects<StreamObject> streams;
    Objects<EventObject> events;

    std::mutex mutex;  // for what follows
    std::vector<std::shared_ptr<Context>> primary;
    std::vector<int> uses;                     // of each primary context
    std::map<std::pair<int, int>, int> peers;  // how often each direction was enabled
    std::map<std::string, std::shared_ptr<KeyFile>> exported;
    std::multimap<std::string, std::shared_ptr<Mapping>> imported;
};
Runtime& runtime();

// Of the release: true for the library of CANN 5.1.
bool is_old();

bool is_device(int device);
const DeviceProperties& properties(int device);
// "Ascend910B3", or the node's name of the first device if that is one of these.
std::string soc();
// Two dies of one package have the same place on PCI but for the function.
bool are_one_package(int device, int peer);
// Whether both directions are on.
bool reach_each_other(int device, int peer);
int number_of(int device_of_node);  // -1: not visible here

// The calling thread's; null: none was chosen.
std::shared_ptr<Context>& current();

// Notes an error for the thread, and gives it back.
aclError finish(aclError result);
aclError to_acl(Result result);
// Why a call is refused whatever it asks: a stub, not initialised, finalised, or forked.
aclError gate();
std::size_t key_count();

template <typename Body>
aclError call(Body body) noexcept {
    if (const aclError refused = gate(); refused != ACL_SUCCESS) {
        return finish(refused);
    }
    try {
        return finish(body());
    } catch (const std::bad_alloc&) {
        return finish(ACL_ERROR_RT_MEMORY_ALLOCATION);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "peercoll simulator: %s\n", error.what());
        return finish(ACL_ERROR_RT_DRV_INTERNAL_ERROR);
    }
}

// The same for the many that need a context.
template <typename Body>
aclError call_in_context(Body body) noexcept {
    return call([&]() -> aclError {
        const std::shared_ptr<Context> context = current();
        if (!context) {
            return ACL_ERROR_RT_CONTEXT_NULL;
        }
        return body(*context);
    });
}

// And a stream of it: null is the context's own.
template <typename Body>
aclError call_on_stream(aclrtStream handle, Body body) noexcept {
    return call_in_context([&](Context& context) -> aclError {
        if (handle == nullptr) {
            return body(context, context.default_stream);
        }
        const auto object = runtime().streams.find(handle);
        if (!object) {
            return ACL_ERROR_RT_PARAM_INVALID;
        }
        if (object->context.get() != &context) {
            return ACL_ERROR_RT_STREAM_CONTEXT;
        }
        return body(context, object->stream);
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
inline void submit(const std::shared_ptr<Stream>& stream, std::function<Result()> run) {
    Operation operation;
    operation.run = std::move(run);
    process().scheduler().submit(stream, std::move(operation));
}

}  // namespace peercoll::simulator::acl
