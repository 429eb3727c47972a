// SPDX-License-Identifier: BSD-3-Clause
// The C ABI: one struct of functions.
#include <peercoll/peercoll.h>

#include "collectives/reduction/host_kernels.hpp"
#include "plugin/runtime/capi_functions.hpp"
#include "plugin/runtime/last_error.hpp"

extern "C" {

const peercoll_plugin_t peercoll_plugin_v1 = {
    PEERCOLL_ABI_VERSION,
    sizeof(peercoll_plugin_t),
    "peercoll",
    peercoll::capi::version,
    peercoll::last_error,
    peercoll::capi::status_name,
    peercoll::datatype_size,
    peercoll::datatype_name,
    peercoll::op_name,
    peercoll::capi::op_supports,
    peercoll::capi::option_info,
    peercoll::capi::context_create,
    peercoll::capi::context_destroy,
    peercoll::capi::context_progress,
    peercoll::capi::context_option,
    peercoll::capi::comm_create,
    peercoll::capi::comm_destroy,
    peercoll::capi::allreduce,
    peercoll::capi::broadcast,
    peercoll::capi::allreduce_start,
    peercoll::capi::broadcast_start,
    peercoll::capi::allreduce_init,
    peercoll::capi::broadcast_init,
    peercoll::capi::request_start,
    peercoll::capi::request_test,
    peercoll::capi::request_wait,
    peercoll::capi::request_free,
    peercoll::capi::comm_passed_on,
    peercoll::capi::statistic,
    peercoll::capi::describe_topology,
    peercoll::capi::describe_comm,
    peercoll::capi::memory_is_device,
    peercoll::capi::memory_copy,
    peercoll::capi::staging_take,
    peercoll::capi::staging_give_back,
    peercoll::capi::count,
    peercoll::capi::describe_devices,
    peercoll::capi::devices_in_use,
};
}
