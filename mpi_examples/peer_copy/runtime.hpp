// SPDX-License-Identifier: BSD-3-Clause
// One of peercoll's device runtimes in this process, which uses all devices that the runtime knows.
#pragma once

#include "mpi_examples/peer_copy/application.hpp"
#include "mpi_examples/peer_copy/failure.hpp"

#include <peercoll/device.h>

#include <memory>
#include <string>
#include <vector>

namespace peercoll::peer_copy {

// "cuda", "hip" and so on, as far as they are in this build.
std::vector<std::string> runtime_names();

class Runtime {
public:
    // Throws Failure if the vendor's library is not there (`library`: see Application), or if the runtime is off.
    Runtime(const std::string& name, const std::string& library);
    // Closes it, and stops the vendor's library; throws Failure if that does not go. The last call.
    void close();
    // After a failure.
    ~Runtime();
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;

    const peercoll_device_runtime_t* operator->() const { return functions_; }
    const peercoll_device_runtime_t& operator*() const { return *functions_; }

private:
    const peercoll_device_runtime_t* functions_ = nullptr;
    bool open_ = false;
    std::unique_ptr<Application> application_;
};

}  // namespace peercoll::peer_copy
