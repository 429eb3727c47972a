// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/host/host_device.hpp"

#include "plugin/device/host/process_memory.hpp"
#include "plugin/device/host/shared_memory.hpp"

namespace peercoll {

const peercoll_device_runtime_t& host_device() {
    static const peercoll_device_runtime_t runtime{
        PEERCOLL_DEVICE_ABI_VERSION,
        sizeof(peercoll_device_runtime_t),
        "host",
        host::share_allocate,
        host::share_attach,
        host::share_seal,
        host::share_release,
        host::access_export,
        host::access_open,
        host::access_read,
        host::access_write,
        host::access_close,
    };
    return runtime;
}

}  // namespace peercoll
