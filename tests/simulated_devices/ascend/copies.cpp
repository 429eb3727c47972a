// SPDX-License-Identifier: BSD-3-Clause
// Copies: their kind must be the true one, memory of other processes is taken between devices only, and two devices
// must reach each other. A synchronous one is done when it returns and waits for no stream.
#include "tests/simulated_devices/ascend/entry_points.hpp"
#include "tests/simulated_devices/ascend/runtime.hpp"
#include "tests/simulated_devices/core/access.hpp"
#include "tests/simulated_devices/core/call_counts.hpp"

#include <cstddef>
#include <cstring>

namespace peercoll::simulator::acl {

namespace {

struct Side {
    std::uint64_t address;
    std::shared_ptr<Mapping> mapping;  // null: pageable host memory

    explicit Side(const void* at) : address(number(at)), mapping(find_mapping(at)) {}
    bool on_device() const { return mapping && !mapping->is_host(); }
    bool imported() const { return mapping && mapping->kind == MemoryKind::Imported; }
    int device() const { return number_of(mapping->device); }
    bool holds(std::size_t bytes) const { return !on_device() || address + bytes <= mapping->end(); }
};

aclError check(const Side& to, const Side& from, std::size_t room, std::size_t bytes, int kind, bool asynchronous) {
    if (kind == InnerDevice || kind == InterDevice || kind < 0 || kind > InterDevice) {
        return ACL_ERROR_INVALID_PARAM;
    }
    if (bytes > room) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    const bool imported = to.imported() || from.imported();
    const bool as_said = (kind == Default && !is_old() && !imported) ||
                         (kind == HostToHost && !to.on_device() && !from.on_device()) ||
                         (kind == HostToDevice && to.on_device() && !from.on_device()) ||
                         (kind == DeviceToHost && !to.on_device() && from.on_device()) ||
                         (kind == DeviceToDevice && to.on_device() && from.on_device());
    if (!as_said || !to.holds(bytes) || !from.holds(bytes) || (imported && kind != DeviceToDevice)) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    // Of memory that another process has on the same device.
    const auto near = [](const Side& side) {
        return side.imported() && side.mapping->device == side.mapping->physical_device;
    };
    if (!asynchronous && (near(to) || near(from))) {
        return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    }
    if (kind == DeviceToDevice && !imported && !reach_each_other(to.device(), from.device())) {
        return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
    }
    return ACL_SUCCESS;
}

}  // namespace

extern "C" {

aclError aclrtMemcpy(void* to, std::size_t room, const void* from, std::size_t bytes, int kind) {
    note_call(Call::Copy);
    return call_in_context([&](Context& context) -> aclError {
        if (bytes == 0 || to == from) {
            return ACL_SUCCESS;
        }
        const Side target(to);
        const Side source(from);
        const aclError bad = check(target, source, room, bytes, kind, false);
        return bad != ACL_SUCCESS ? bad : to_acl(copy_bytes(*context.execution, target.address, source.address, bytes));
    });
}

aclError aclrtMemcpyAsync(void* to, std::size_t room, const void* from, std::size_t bytes, int kind,
                          aclrtStream stream) {
    note_call(Call::Copy);
    return call_on_stream(stream, [&](Context& context, const std::shared_ptr<Stream>& on) -> aclError {
        if (bytes == 0 || to == from) {
            return ACL_SUCCESS;
        }
        const Side target(to);
        const Side source(from);
        if (!target.on_device() && !source.on_device()) {
            return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
        }
        const bool pageable = !target.mapping || !source.mapping;
        if (pageable && is_old()) {
            return ACL_ERROR_RT_PARAM_INVALID;
        }
        const aclError bad = check(target, source, room, bytes, kind, true);
        if (bad != ACL_SUCCESS) {
            return bad;
        }
        submit(on, [execution = context.execution, to = target.address, from = source.address, bytes] {
            return copy_bytes(*execution, to, from, bytes);
        });
        if (pageable) {
            process().scheduler().synchronize(*on);
        }
        return ACL_SUCCESS;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::acl
