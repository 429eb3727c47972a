// SPDX-License-Identifier: BSD-3-Clause
// The C ABI's device memory.
#include "plugin/runtime/capi_functions.hpp"

#include "plugin/runtime/capi_guard.hpp"
#include "plugin/runtime/capi_objects.hpp"

#include <cstddef>

namespace peercoll::capi {

// These two are asked in every call of every collective: no try block, and nothing in them throws.
int devices_in_use(peercoll_context_t context) {
    return context != nullptr && context->implementation->devices().in_use() ? 1 : 0;
}

int memory_is_device(peercoll_context_t context, const void* address) {
    if (context == nullptr) return 0;
    ProcessDevices& devices = context->implementation->devices();
    return devices.in_use() && devices.classify(address).on_device() ? 1 : 0;
}

peercoll_status_t memory_copy(peercoll_context_t context, void* to, const void* from, size_t bytes) {
    return guarded([&]() -> Status {
        if (context == nullptr) return invalid("context is NULL");
        if (bytes > 0 && (to == nullptr || from == nullptr))
            return invalid("an address is NULL although bytes is not 0");
        return context->implementation->devices().copy(to, from, bytes);
    });
}

peercoll_status_t staging_take(peercoll_context_t context, size_t bytes, void** memory) {
    return guarded([&]() -> Status {
        if (context == nullptr || memory == nullptr) return invalid("context or the pointer for the memory is NULL");
        *memory = nullptr;
        std::byte* taken = nullptr;
        Status status = context->implementation->devices().take_staging(bytes, taken);
        *memory = taken;
        return status;
    });
}

void staging_give_back(peercoll_context_t context, void* memory) {
    if (context != nullptr && memory != nullptr)
        context->implementation->devices().staging().give_back(static_cast<std::byte*>(memory));
}

}  // namespace peercoll::capi
