// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_examples/peer_copy/runtime.hpp"

#include "plugin/device/built_in_runtimes.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace peercoll::peer_copy {

namespace {

const peercoll_device_runtime_t* find(const std::string& name) {
    const std::vector<const peercoll_device_runtime_t*> all = built_in_runtimes();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const peercoll_device_runtime_t* one) { return name == one->name; });
    if (found == all.end())
        throw Failure(
            fmt::format("this build has no runtime '{}': expected one of {}", name, fmt::join(runtime_names(), ", ")));
    return *found;
}

}  // namespace

std::vector<std::string> runtime_names() {
    std::vector<std::string> names;
    for (const peercoll_device_runtime_t* one : built_in_runtimes()) names.emplace_back(one->name);
    return names;
}

Runtime::Runtime(const std::string& name, const std::string& library)
    : functions_(find(name)), application_(Application::start(name, library)) {
    peercoll_reason_t reason{};
    if (functions_->open(&reason) != PEERCOLL_SUCCESS) throw Failure(fmt::format("{} is off: {}", name, reason.text));
    try {
        for (std::int32_t device = 0; device < functions_->device_count(); ++device) application_->use(device);
    } catch (...) {
        functions_->close();
        throw;
    }
    open_ = true;
}

void Runtime::close() {
    open_ = false;
    functions_->close();
    application_->stop();
}

Runtime::~Runtime() {
    if (open_) functions_->close();
}

}  // namespace peercoll::peer_copy
