// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated_devices/ascend/runtime.hpp"

#include <cstdlib>
#include <sstream>

namespace peercoll::simulator::acl {

Runtime& runtime() {
    static Runtime* const runtime = std::make_unique<Runtime>().release();
    return *runtime;
}

// Ascending numbers; the first that is none ends the list, and so does a space in it.
void Runtime::find_devices() {
    const char* words = std::getenv("ASCEND_RT_VISIBLE_DEVICES");
    const auto count = static_cast<int>(process().node().devices.size());
    if (words == nullptr) {
        for (int i = 0; i < count; ++i) {
            devices.push_back(i);
        }
    } else {
        std::istringstream list(words);
        std::string word;
        while (std::getline(list, word, ',')) {
            const bool digits = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
            const int device = digits ? std::atoi(word.c_str()) : -1;
            if (device < 0 || device >= count || (!devices.empty() && device <= devices.back())) {
                break;
            }
            devices.push_back(device);
        }
    }
    primary.resize(devices.size());
    uses.resize(devices.size());
}

bool is_device(int device) {
    return device >= 0 && static_cast<std::size_t>(device) < runtime().devices.size();
}

const DeviceProperties& properties(int device) {
    const int of_node = runtime().devices[static_cast<std::size_t>(device)];
    return process().node().devices[static_cast<std::size_t>(of_node)];
}

std::string soc() {
    const std::string& name = process().node().devices.front().name;
    return name.rfind("Ascend", 0) == 0 ? name : "Ascend910B3";
}

bool are_one_package(int device, int peer) {
    const std::string& one = properties(device).pci_id;
    const std::string& other = properties(peer).pci_id;
    return device != peer && one.substr(0, one.rfind('.')) == other.substr(0, other.rfind('.'));
}

bool reach_each_other(int device, int peer) {
    if (device == peer || are_one_package(device, peer)) {
        return true;
    }
    const std::lock_guard lock(runtime().mutex);
    const auto count = [&](int from, int to) {
        const auto found = runtime().peers.find({from, to});
        return found == runtime().peers.end() ? 0 : found->second;
    };
    return count(device, peer) > 0 && count(peer, device) > 0;
}

int number_of(int device_of_node) {
    const auto& devices = runtime().devices;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        if (devices[i] == device_of_node) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

std::shared_ptr<Context>& current() {
    thread_local std::shared_ptr<Context> context;
    return context;
}

aclError to_acl(Result result) {
    switch (result) {
        case Result::Ok:
            return ACL_SUCCESS;
        case Result::InvalidValue:
            return ACL_ERROR_RT_PARAM_INVALID;
        case Result::OutOfMemory:
            return ACL_ERROR_RT_MEMORY_ALLOCATION;
        case Result::NotSupported:
            return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
        case Result::NotPermitted:
            return ACL_ERROR_RT_NO_PERMISSION;
        default:
            return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
    }
}

}  // namespace peercoll::simulator::acl
