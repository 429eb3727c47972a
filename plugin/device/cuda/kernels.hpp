// SPDX-License-Identifier: BSD-3-Clause
// The fold kernels of one device: nvcc's image where this library has one and the driver takes it, else compiled by
// NVRTC where the process can load that, else none. Family by family, each when it is first asked for, once.
#pragma once

#include "collectives/reduction/device/fold_parameters.hpp"
#include "plugin/common/status.hpp"
#include "plugin/device/cuda/driver_types.hpp"

#include <peercoll/peercoll.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>

namespace peercoll::cuda {

struct Attachment;
struct Device;
struct DriverFunctions;

class DeviceKernels {
public:
    DeviceKernels();
    // The kernel; null with a reason if this device has none for the two, which never changes. The device's context is
    // current.
    Status find(const Attachment& attachment, const Device& device, peercoll_datatype_t datatype, peercoll_op_t op,
                CuFunction& kernel);
    // The one that stays on the device for more of the same; null if there is none. After find() of the two.
    CuFunction find_standing(const Attachment& attachment, peercoll_datatype_t datatype, peercoll_op_t op);
    // For people: "device, sm_90 code of nvcc". Loads the kernels that copy, to know.
    std::string describe(const Attachment& attachment, const Device& device);
    void unload(const DriverFunctions& driver);

private:
    struct Family {
        bool tried = false;
        CuModule module = nullptr;
        std::string text;  // where the kernels are from
        Status absent;     // why there are none
    };
    void forget_all();
    // All with mutex_ held.
    const Family& load(const Attachment& attachment, const Device& device, int family);
    static void load_image(const Attachment& attachment, int family, Family& loaded, std::string& refused);
    static void load_compiled(const Attachment& attachment, const Device& device, int family, Family& loaded,
                              const std::string& refused);

    std::mutex mutex_;
    std::array<Family, fold_kernel_families> families_;
    // Found already: the way of every fold but the first.
    using Found = std::array<std::array<std::atomic<CuFunction>, PEERCOLL_OP_END>, PEERCOLL_DATATYPE_END>;
    Found found_;
    Found found_standing_;
};

}  // namespace peercoll::cuda
