// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/runtime_users.hpp"

#include <cstddef>
#include <map>
#include <mutex>
#include <new>

namespace peercoll {

namespace {

struct Users {
    std::mutex mutex;  // held while a runtime opens or closes, so that neither meets the other half done
    std::map<const peercoll_device_runtime_t*, std::size_t> count;
};

// Never destroyed: a context may end as late as the process.
Users& users() {
    alignas(Users) static std::byte memory[sizeof(Users)];
    static Users* const made = ::new (memory) Users;
    return *made;
}

}  // namespace

peercoll_status_t open_runtime(const peercoll_device_runtime_t& runtime, peercoll_reason_t& reason) {
    Users& all = users();
    const std::lock_guard lock(all.mutex);
    const peercoll_status_t status = runtime.open(&reason);
    if (status == PEERCOLL_SUCCESS) ++all.count[&runtime];
    return status;
}

void close_runtime(const peercoll_device_runtime_t& runtime) {
    Users& all = users();
    const std::lock_guard lock(all.mutex);
    const auto found = all.count.find(&runtime);
    if (found == all.count.end() || --found->second > 0) return;
    all.count.erase(found);
    runtime.close();
}

}  // namespace peercoll
