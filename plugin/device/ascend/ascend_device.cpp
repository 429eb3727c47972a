// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/ascend_device.hpp"

#include "plugin/device/ascend/attachment.hpp"
#include "plugin/device/ascend/copies.hpp"
#include "plugin/device/ascend/devices.hpp"
#include "plugin/device/ascend/exports.hpp"
#include "plugin/device/ascend/folds.hpp"
#include "plugin/device/ascend/imports.hpp"
#include "plugin/device/ascend/memory.hpp"
#include "plugin/device/ascend/peers.hpp"
#include "plugin/device/ascend/pointers.hpp"
#include "plugin/device/ascend/reductions.hpp"
#include "plugin/device/ascend/started.hpp"
#include "plugin/device/ascend/streams.hpp"

namespace peercoll {

const peercoll_device_runtime_t& ascend_device() {
    static constexpr const char* libraries[] = {"libascendcl.so", "libacl_rt.so", nullptr};
    static const peercoll_device_runtime_t runtime = [] {
        peercoll_device_runtime_t made{};  // what only host memory has stays NULL
        made.abi_version = PEERCOLL_DEVICE_ABI_VERSION;
        made.struct_size = sizeof made;
        made.name = "ascend";
        made.libraries = libraries;
        made.open = ascend::open;
        made.close = ascend::close;
        made.device_count = ascend::device_count;
        made.device_info = ascend::device_info;
        made.version_text = ascend::version_text;
        made.classify = ascend::classify;
        made.is_live = ascend::is_live;
        made.settle = ascend::settle;
        made.can_access_peer = ascend::can_access_peer;
        made.enable_peer = ascend::enable_peer;
        made.disable_peer = ascend::disable_peer;
        made.export_memory = ascend::export_memory;
        made.import_memory = ascend::import_memory;
        made.release_mapping = ascend::release_mapping;
        made.allocate = ascend::allocate;
        made.free_memory = ascend::free_memory;
        made.allocate_host = ascend::allocate_host;
        made.free_host = ascend::free_host;
        made.register_host = ascend::register_host;
        made.unregister_host = ascend::unregister_host;
        made.stream_create = ascend::stream_create;
        made.stream_destroy = ascend::stream_destroy;
        made.stream_query = ascend::stream_query;
        made.stream_synchronize = ascend::stream_synchronize;
        made.event_create = ascend::event_create;
        made.event_destroy = ascend::event_destroy;
        made.event_record = ascend::event_record;
        made.event_query = ascend::event_query;
        made.stream_wait = ascend::stream_wait;
        made.copy = ascend::copy;
        made.can_fold = ascend::can_fold;
        made.fold = ascend::fold;
        made.write_flag = ascend::write_flag;
        made.is_started = ascend::is_started;
        return made;
    }();
    return runtime;
}

}  // namespace peercoll
