// SPDX-License-Identifier: BSD-3-Clause
// The fold kernels of one device: hipcc's code objects where this library has one for the device, else compiled by
// hiprtc where the process can have it, else none. Family by family, each when it is first asked for, once.
#pragma once

#include "collectives/reduction/device/fold_parameters.hpp"
#include "plugin/common/status.hpp"
#include "plugin/device/hip/hip_types.hpp"

#include <peercoll/peercoll.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>

namespace peercoll::hip {

struct Attachment;
struct Device;
struct HipFunctions;

class DeviceKernels {
public:
    DeviceKernels();
    // The kernel; null with a reason if this device has none for the two, which never changes. The device is current.
    Status find(const Attachment& attachment, const Device& device, peercoll_datatype_t datatype, peercoll_op_t op,
                HipFunction& kernel);
    // For people: "device, code of hipcc (gfx90a)". Loads the kernels that copy, to know.
    std::string describe(const Attachment& attachment, const Device& device);
    void unload(const HipFunctions& hip);

private:
    struct Family {
        bool tried = false;
        HipModule module = nullptr;
        std::string text;  // where the kernels are from
        Status absent;     // why there are none
    };
    // All with mutex_ held.
    const Family& load(const Attachment& attachment, const Device& device, int family);
    static void load_image(const Attachment& attachment, int family, Family& loaded, std::string& refused);
    static void load_compiled(const Attachment& attachment, const Device& device, int family, Family& loaded,
                              const std::string& refused);

    std::mutex mutex_;
    std::array<Family, fold_kernel_families> families_;
    // Found already: the way of every fold but the first.
    std::array<std::array<std::atomic<HipFunction>, PEERCOLL_OP_END>, PEERCOLL_DATATYPE_END> found_;
};

}  // namespace peercoll::hip
