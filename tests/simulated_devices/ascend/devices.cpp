// SPDX-License-Identifier: BSD-3-Clause
// Devices and contexts: choosing a device counts, and a thread that never chose one has none.
#include "tests/simulated_devices/ascend/entry_points.hpp"
#include "tests/simulated_devices/ascend/runtime.hpp"
#include "tests/simulated_devices/core/call_counts.hpp"

#include <cstring>

namespace peercoll::simulator::acl {

namespace {

template <typename Body>
aclError about(std::int32_t device, const void* result, Body body) {
    return call([&]() -> aclError {
        if (result == nullptr) {
            return ACL_ERROR_INVALID_PARAM;
        }
        return is_device(device) ? body(properties(device)) : ACL_ERROR_RT_INVALID_DEVICEID;
    });
}

aclError reset(std::int32_t device, bool by_force) {
    return call([&]() -> aclError {
        if (!is_device(device)) {
            return ACL_ERROR_RT_INVALID_DEVICEID;
        }
        Runtime& all = runtime();
        const std::lock_guard lock(all.mutex);
        const auto index = static_cast<std::size_t>(device);
        if (all.uses[index] == 0) {
            return ACL_ERROR_RT_CONTEXT_NULL;
        }
        all.uses[index] = by_force ? 0 : all.uses[index] - 1;
        if (all.uses[index] > 0) {
            return ACL_SUCCESS;
        }
        process().scheduler().synchronize(*all.primary[index]->execution);
        all.contexts.remove(all.primary[index].get());
        if (current() == all.primary[index]) {
            current().reset();
        }
        all.primary[index].reset();
        return ACL_SUCCESS;
    });
}

}  // namespace

extern "C" {

aclError aclrtSetDevice(std::int32_t device) {
    return call([&]() -> aclError {
        if (!is_device(device)) {
            return ACL_ERROR_RT_INVALID_DEVICEID;
        }
        Runtime& all = runtime();
        const std::lock_guard lock(all.mutex);
        const auto index = static_cast<std::size_t>(device);
        if (all.uses[index]++ == 0) {
            all.primary[index] = std::make_shared<Context>(device, all.devices[index]);
            all.contexts.add(all.primary[index]);
        }
        current() = all.primary[index];
        return ACL_SUCCESS;
    });
}

aclError aclrtGetDevice(std::int32_t* device) {
    return call_in_context([&](Context& context) {
        *device = context.device;
        return ACL_SUCCESS;
    });
}

aclError aclrtResetDevice(std::int32_t device) {
    return reset(device, false);
}

// Whatever the count is.
aclError aclrtResetDeviceForce(std::int32_t device) {
    return reset(device, true);
}

aclError aclrtSynchronizeDevice(void) {
    note_call(Call::Synchronisation);
    return call_in_context([](Context& context) {
        process().scheduler().synchronize(*context.execution);
        return to_acl(context.execution->fault.load());
    });
}

aclError aclrtCreateContext(aclrtContext* context, std::int32_t device) {
    return call([&]() -> aclError {
        if (context == nullptr || !is_device(device)) {
            return context == nullptr ? ACL_ERROR_INVALID_PARAM : ACL_ERROR_RT_INVALID_DEVICEID;
        }
        auto made = std::make_shared<Context>(device, runtime().devices[static_cast<std::size_t>(device)]);
        *context = runtime().contexts.add(made);
        current() = std::move(made);
        return ACL_SUCCESS;
    });
}

aclError aclrtDestroyContext(aclrtContext context) {
    return call([&]() -> aclError {
        if (current() && current().get() == context) {
            current().reset();
        }
        return runtime().contexts.remove(context) ? ACL_SUCCESS : ACL_ERROR_RT_CONTEXT_NULL;
    });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
    return call_in_context([&](Context& here) {
        *context = &here;
        return ACL_SUCCESS;
    });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
    return call([&]() -> aclError {
        auto found = runtime().contexts.find(context);
        if (!found) {
            return ACL_ERROR_RT_CONTEXT_NULL;
        }
        current() = std::move(found);
        return ACL_SUCCESS;
    });
}

aclError aclrtGetPrimaryCtxState(std::int32_t device, std::uint32_t* flags, std::int32_t* active) {
    return about(device, active, [&](const DeviceProperties&) {
        const std::lock_guard lock(runtime().mutex);
        if (flags != nullptr) {
            *flags = 0;
        }
        *active = runtime().primary[static_cast<std::size_t>(device)] ? 1 : 0;
        return ACL_SUCCESS;
    });
}

aclError aclrtGetDeviceInfo(std::uint32_t device, int attribute, std::int64_t* value) {
    return about(static_cast<std::int32_t>(device), value, [&](const DeviceProperties& known) -> aclError {
        constexpr int total_memory = 301;
        if (attribute != total_memory) {
            return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
        }
        *value = static_cast<std::int64_t>(known.memory_bytes);
        return ACL_SUCCESS;
    });
}

// Of 910B, 910C and 950 alone.
aclError aclrtDeviceGetUuid(std::int32_t device, aclrtUuid* uuid) {
    return about(device, uuid, [&](const DeviceProperties& known) -> aclError {
        if (soc().rfind("Ascend910B", 0) != 0 && soc().rfind("Ascend910_93", 0) != 0 &&
            soc().rfind("Ascend950", 0) != 0) {
            return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
        }
        std::memcpy(uuid->bytes, known.uuid.data(), sizeof(uuid->bytes));
        return ACL_SUCCESS;
    });
}

aclError aclrtDeviceGetPCIBusId(std::int32_t device, char* id, std::int32_t bytes) {
    return about(device, id, [&](const DeviceProperties& known) -> aclError {
        if (bytes < 13) {
            return ACL_ERROR_INVALID_PARAM;
        }
        std::snprintf(id, static_cast<std::size_t>(bytes), "%s", known.pci_id.c_str());
        return ACL_SUCCESS;
    });
}

aclError aclrtGetLogicDevIdByUserDevId(std::int32_t user, std::int32_t* logical) {
    return about(user, logical, [&](const DeviceProperties&) {
        *logical = runtime().devices[static_cast<std::size_t>(user)];
        return ACL_SUCCESS;
    });
}

aclError aclrtGetPhyDevIdByLogicDevId(std::int32_t logical, std::int32_t* physical) {
    return call([&]() -> aclError {
        if (physical == nullptr || logical < 0 ||
            static_cast<std::size_t>(logical) >= process().node().devices.size()) {
            return ACL_ERROR_INVALID_PARAM;
        }
        *physical = logical;
        return ACL_SUCCESS;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::acl
