// SPDX-License-Identifier: BSD-3-Clause
// Peer access, with HIP's codes: 101 where CUDA says 217, and one's own device counts as no peer.
#include "tests/simulated_devices/core/call_counts.hpp"
#include "tests/simulated_devices/hip/entry_points.hpp"
#include "tests/simulated_devices/hip/runtime.hpp"

namespace peercoll::simulator::hip {

namespace {

bool reaches(const Device& from, int peer) {
    return is_device(peer) && device_at(peer).of_node != from.of_node &&
           process().node().link(from.of_node, device_at(peer).of_node).access;
}

}  // namespace

extern "C" {

// Whether both are the same is looked at first: 0 even for a device that is not there.
hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
    return call([&] {
        if (can == nullptr) {
            return hipErrorInvalidValue;
        }
        *can = 0;
        if (device == peer) {
            return hipSuccess;
        }
        if (!is_device(device) || !is_device(peer)) {
            return hipErrorInvalidDevice;
        }
        *can = reaches(device_at(device), peer) ? 1 : 0;
        return hipSuccess;
    });
}

hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
    note_call(Call::Enable);
    return call_on_device([&](Device& device) {
        if (flags != 0) {
            return hipErrorInvalidValue;
        }
        if (!reaches(device, peer)) {
            return hipErrorInvalidDevice;
        }
        const std::lock_guard lock(runtime().mutex);
        const DeviceSet bit = one_device(device_at(peer).of_node);
        const DeviceSet peers = device.execution->peers.load();
        if ((peers & bit) != 0) {
            return hipErrorPeerAccessAlreadyEnabled;
        }
        device.execution->peers.store(peers | bit);
        return hipSuccess;
    });
}

hipError_t hipDeviceDisablePeerAccess(int peer) {
    return call_on_device([&](Device& device) {
        if (!reaches(device, peer)) {
            return hipErrorInvalidDevice;
        }
        const std::lock_guard lock(runtime().mutex);
        const DeviceSet bit = one_device(device_at(peer).of_node);
        const DeviceSet peers = device.execution->peers.load();
        if ((peers & bit) == 0) {
            return hipErrorPeerAccessNotEnabled;
        }
        // What runs now may still use it.
        process().scheduler().synchronize(*device.execution);
        device.execution->peers.store(peers & ~bit);
        return hipSuccess;
    });
}

hipError_t hipDeviceGetP2PAttribute(int* value, int attribute, int from, int to) {
    return call([&] {
        if (value == nullptr || attribute < 0 || attribute > 3) {
            return hipErrorInvalidValue;
        }
        if (!is_device(from) || !is_device(to) || from == to) {
            return hipErrorInvalidDevice;
        }
        constexpr int xgmi = 4;
        const bool access = reaches(device_at(from), to);
        *value = attribute == 0 ? xgmi : access ? 1 : 0;  // the rank of performance is the type of the link
        return hipSuccess;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::hip
