// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/hip/hip_device.hpp"

#include "plugin/device/hip/attachment.hpp"
#include "plugin/device/hip/copies.hpp"
#include "plugin/device/hip/devices.hpp"
#include "plugin/device/hip/exports.hpp"
#include "plugin/device/hip/folds.hpp"
#include "plugin/device/hip/imports.hpp"
#include "plugin/device/hip/memory.hpp"
#include "plugin/device/hip/peers.hpp"
#include "plugin/device/hip/pointers.hpp"
#include "plugin/device/hip/started.hpp"
#include "plugin/device/hip/streams.hpp"

namespace peercoll {

const peercoll_device_runtime_t& hip_device() {
    static constexpr const char* libraries[] = {"libamdhip64.so", nullptr};
    static const peercoll_device_runtime_t runtime = [] {
        peercoll_device_runtime_t made{};  // what only host memory has stays NULL
        made.abi_version = PEERCOLL_DEVICE_ABI_VERSION;
        made.struct_size = sizeof made;
        made.name = "hip";
        made.libraries = libraries;
        made.open = hip::open;
        made.close = hip::close;
        made.device_count = hip::device_count;
        made.device_info = hip::device_info;
        made.version_text = hip::version_text;
        made.classify = hip::classify;
        made.is_live = hip::is_live;
        made.settle = hip::settle;
        made.can_access_peer = hip::can_access_peer;
        made.enable_peer = hip::enable_peer;
        made.disable_peer = hip::disable_peer;
        made.export_memory = hip::export_memory;
        made.import_memory = hip::import_memory;
        made.release_mapping = hip::release_mapping;
        made.allocate = hip::allocate;
        made.free_memory = hip::free_memory;
        made.allocate_host = hip::allocate_host;
        made.free_host = hip::free_host;
        made.register_host = hip::register_host;
        made.unregister_host = hip::unregister_host;
        made.stream_create = hip::stream_create;
        made.stream_destroy = hip::stream_destroy;
        made.stream_query = hip::stream_query;
        made.stream_synchronize = hip::stream_synchronize;
        made.event_create = hip::event_create;
        made.event_destroy = hip::event_destroy;
        made.event_record = hip::event_record;
        made.event_query = hip::event_query;
        made.stream_wait = hip::stream_wait;
        made.copy = hip::copy;
        made.can_fold = hip::can_fold;
        made.fold = hip::fold;
        made.write_flag = hip::write_flag;
        made.is_started = hip::is_started;
        return made;
    }();
    return runtime;
}

}  // namespace peercoll
