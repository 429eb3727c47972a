// SPDX-License-Identifier: BSD-3-Clause
// Devices: which, what they can, and which is current.
#include "tests/simulated_devices/core/call_counts.hpp"
#include "tests/simulated_devices/hip/entry_points.hpp"
#include "tests/simulated_devices/hip/runtime.hpp"

#include <cstring>

namespace peercoll::simulator::hip {

namespace {

// -1: no such attribute.
int attribute_of(int device, int attribute) {
    const DeviceProperties& known = properties(device);
    const auto pci_part = [&](std::size_t from, std::size_t count) {
        return static_cast<int>(std::stoul(known.pci_id.substr(from, count), nullptr, 16));
    };
    switch (attribute) {
        case hipDeviceAttributeMaxThreadsPerBlock:
            return 1024;
        case hipDeviceAttributeMultiprocessorCount:
            return 4;
        case hipDeviceAttributeWarpSize:
            return wavefront(device);
        case hipDeviceAttributeComputeCapabilityMajor:
            return known.capability_major;
        case hipDeviceAttributeComputeCapabilityMinor:
            return known.capability_minor;
        case hipDeviceAttributePciDomainID:
            return pci_part(0, 4);
        case hipDeviceAttributePciBusId:
            return pci_part(5, 2);
        case hipDeviceAttributePciDeviceId:
            return pci_part(8, 2);
        case hipDeviceAttributeUnifiedAddressing:
        case hipDeviceAttributeManagedMemory:
        case hipDeviceAttributeMemoryPoolsSupported:
        case hipDeviceAttributeCanUseStreamWaitValue:
            return 1;
        case hipDeviceAttributeIntegrated:
            return 0;
        default:
            return -1;
    }
}

// The two layouts of the same struct: how long it is, and where the architecture is.
hipError_t write_properties(void* to, int device, std::size_t bytes, std::size_t architecture_offset) {
    return call([&] {
        if (to == nullptr) {
            return hipErrorInvalidValue;
        }
        if (!is_device(device)) {
            return hipErrorInvalidDevice;
        }
        std::vector<char> written(bytes, '\x5a');
        std::snprintf(written.data(), 256, "%s", properties(device).name.c_str());
        const bool has_features = architecture(device).rfind("gfx9", 0) == 0;
        std::snprintf(written.data() + architecture_offset, 256, "%s%s", architecture(device).c_str(),
                      has_features ? ":sramecc+:xnack-" : "");
        std::memcpy(to, written.data(), written.size());
        return hipSuccess;
    });
}

template <typename Body>
hipError_t about(int device, const void* to, Body body) {
    return call([&] {
        if (to == nullptr) {
            return hipErrorInvalidValue;
        }
        return is_device(device) ? body() : hipErrorInvalidDevice;
    });
}

}  // namespace

extern "C" {

hipError_t hipGetDevice(int* device) {
    return call([&] {
        if (device == nullptr) {
            return hipErrorInvalidValue;
        }
        *device = current_device();
        return hipSuccess;
    });
}

hipError_t hipSetDevice(int device) {
    return call([&] {
        if (!is_device(device)) {
            return hipErrorInvalidDevice;
        }
        current_device() = device;
        return hipSuccess;
    });
}

hipError_t hipDeviceSynchronize(void) {
    note_call(Call::Synchronisation);
    return call_on_device([&](Device& device) {
        process().scheduler().synchronize(*device.execution);
        return check(device);
    });
}

hipError_t hipDeviceGetName(char* name, int length, int device) {
    return about(device, name, [&] {
        std::snprintf(name, static_cast<std::size_t>(length), "%s", properties(device).name.c_str());
        return hipSuccess;
    });
}

hipError_t hipDeviceGetAttribute(int* value, int attribute, int device) {
    return about(device, value, [&] {
        const int found = attribute_of(device, attribute);
        if (found < 0) {
            return hipErrorInvalidValue;
        }
        *value = found;
        return hipSuccess;
    });
}

hipError_t hipDeviceTotalMem(std::size_t* bytes, int device) {
    return about(device, bytes, [&] {
        *bytes = properties(device).memory_bytes;
        return hipSuccess;
    });
}

// Sixteen letters, not sixteen bytes of a number.
hipError_t hipDeviceGetUuid(hipUUID* uuid, int device) {
    return about(device, uuid, [&] {
        constexpr const char* digits = "0123456789abcdef";
        const Uuid& known = properties(device).uuid;
        for (std::size_t i = 0; i < 8; ++i) {
            uuid->bytes[2 * i] = digits[known[i] >> 4];
            uuid->bytes[2 * i + 1] = digits[known[i] & 15];
        }
        return hipSuccess;
    });
}

hipError_t hipDeviceGetPCIBusId(char* id, int length, int device) {
    return about(device, id, [&] {
        if (length < 13) {
            return hipErrorInvalidValue;
        }
        std::snprintf(id, static_cast<std::size_t>(length), "%s", properties(device).pci_id.c_str());
        return hipSuccess;
    });
}

hipError_t hipDeviceGetByPCIBusId(int* device, const char* id) {
    return call([&] {
        if (device == nullptr || id == nullptr) {
            return hipErrorInvalidValue;
        }
        for (std::size_t i = 0; i < runtime().devices.size(); ++i) {
            if (properties(static_cast<int>(i)).pci_id == id) {
                *device = static_cast<int>(i);
                return hipSuccess;
            }
        }
        return hipErrorInvalidDevice;
    });
}

hipError_t hipGetDeviceProperties(void* to, int device) {
    return write_properties(to, device, 792, 396);
}

hipError_t hipGetDevicePropertiesR0600(void* to, int device) {
    return write_properties(to, device, 1472, 1160);
}

}  // extern "C"

}  // namespace peercoll::simulator::hip
