// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/cuda/cuda_device.hpp"

#include "plugin/device/cuda/attachment.hpp"
#include "plugin/device/cuda/devices.hpp"
#include "plugin/device/cuda/exports.hpp"
#include "plugin/device/cuda/folds.hpp"
#include "plugin/device/cuda/imports.hpp"
#include "plugin/device/cuda/memory.hpp"
#include "plugin/device/cuda/peers.hpp"
#include "plugin/device/cuda/pointers.hpp"
#include "plugin/device/cuda/started.hpp"
#include "plugin/device/cuda/streams.hpp"

namespace peercoll {

const peercoll_device_runtime_t& cuda_device() {
    static constexpr const char* libraries[] = {"libcuda.so", nullptr};
    static const peercoll_device_runtime_t runtime = [] {
        peercoll_device_runtime_t made{};  // what only host memory has stays NULL
        made.abi_version = PEERCOLL_DEVICE_ABI_VERSION;
        made.struct_size = sizeof made;
        made.name = "cuda";
        made.libraries = libraries;
        made.open = cuda::open;
        made.close = cuda::close;
        made.device_count = cuda::device_count;
        made.device_info = cuda::device_info;
        made.version_text = cuda::version_text;
        made.classify = cuda::classify;
        made.is_live = cuda::is_live;
        made.settle = cuda::settle;
        made.can_access_peer = cuda::can_access_peer;
        made.enable_peer = cuda::enable_peer;
        made.disable_peer = cuda::disable_peer;
        made.export_memory = cuda::export_memory;
        made.import_memory = cuda::import_memory;
        made.release_mapping = cuda::release_mapping;
        made.allocate = cuda::allocate;
        made.free_memory = cuda::free_memory;
        made.allocate_host = cuda::allocate_host;
        made.free_host = cuda::free_host;
        made.register_host = cuda::register_host;
        made.unregister_host = cuda::unregister_host;
        made.stream_create = cuda::stream_create;
        made.stream_destroy = cuda::stream_destroy;
        made.stream_query = cuda::stream_query;
        made.stream_synchronize = cuda::stream_synchronize;
        made.event_create = cuda::event_create;
        made.event_destroy = cuda::event_destroy;
        made.event_record = cuda::event_record;
        made.event_query = cuda::event_query;
        made.stream_wait = cuda::stream_wait;
        made.copy = cuda::copy;
        made.can_fold = cuda::can_fold;
        made.fold = cuda::fold;
        made.write_flag = cuda::write_flag;
        made.unseen_import_kinds = cuda::unseen_import_kinds;
        made.is_started = cuda::is_started;
        return made;
    }();
    return runtime;
}

}  // namespace peercoll
