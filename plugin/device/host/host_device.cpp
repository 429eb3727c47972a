// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/host/host_device.hpp"

#include "plugin/device/host/process_memory.hpp"
#include "plugin/device/host/shared_memory.hpp"

namespace peercoll {

const peercoll_device_runtime_t& host_device() {
    static const peercoll_device_runtime_t runtime = [] {
        peercoll_device_runtime_t made{};  // what only other devices have stays NULL
        made.abi_version = PEERCOLL_DEVICE_ABI_VERSION;
        made.struct_size = sizeof made;
        made.name = "host";
        made.share_allocate = host::share_allocate;
        made.share_attach = host::share_attach;
        made.share_seal = host::share_seal;
        made.share_release = host::share_release;
        made.access_export = host::access_export;
        made.access_open = host::access_open;
        made.access_read = host::access_read;
        made.access_write = host::access_write;
        made.access_close = host::access_close;
        return made;
    }();
    return runtime;
}

}  // namespace peercoll
