// SPDX-License-Identifier: BSD-3-Clause
// Devices: how many, which, and what they can.
#include "tests/simulated_devices/cuda/driver.hpp"
#include "tests/simulated_devices/cuda/entry_points.hpp"
#include "tests/simulated_devices/cuda/state.hpp"

#include <cctype>
#include <cstring>
#include <string>

namespace peercoll::simulator::cuda {

namespace {

// -1: no such attribute.
int attribute_of(CUdevice device, int attribute) {
    const DeviceProperties& known = properties(device);
    const bool virtual_memory = reported_driver_version() >= 11050;
    const auto pci_part = [&](std::size_t from, std::size_t count) {
        return static_cast<int>(std::stoul(known.pci_id.substr(from, count), nullptr, 16));
    };
    switch (attribute) {
        case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            return 1024;
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
            return 48 * 1024;
        case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
            return 32;
        case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
            return 4;
        case CU_DEVICE_ATTRIBUTE_INTEGRATED:
        case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
            return 0;
        case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
            return pci_part(0, 4);
        case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
            return pci_part(5, 2);
        case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
            return pci_part(8, 2);
        case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
            return 2048;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
            return known.capability_major;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
            return known.capability_minor;
        case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
        case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
        case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
        case CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES:
        case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
        case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR:
        case CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED:
            return 1;
        case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:  // yes, and asking for one is refused, as measured
        case CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES:
            return virtual_memory ? 1 : 0;
        case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
            return known.numa_node;
        default:
            return attribute > 0 && attribute < 150 ? 0 : -1;
    }
}

const Link& link_of(CUdevice from, CUdevice to) {
    const auto& devices = driver().devices;
    return process().node().link(devices[static_cast<std::size_t>(from)].of_node,
                                 devices[static_cast<std::size_t>(to)].of_node);
}

}  // namespace

extern "C" {

CUresult cuDeviceGetCount(int* count) {
    return call([&] {
        if (count == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *count = static_cast<int>(driver().devices.size());
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    return call([&] {
        if (device == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (!is_device(ordinal)) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
        *device = ordinal;
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
    return call([&] {
        if (name == nullptr || length < 1) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (!is_device(device)) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
        std::snprintf(name, static_cast<std::size_t>(length), "%s", properties(device).name.c_str());
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
    return call([&] {
        if (value == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (!is_device(device)) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
        const int found = attribute_of(device, attribute);
        if (found < 0) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *value = found;
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
    return call([&] {
        if (bytes == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (!is_device(device)) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
        *bytes = properties(device).memory_bytes;
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
    return call([&] {
        if (uuid == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (!is_device(device)) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
        std::memcpy(uuid->bytes, properties(device).uuid.data(), sizeof(uuid->bytes));
        return CUDA_SUCCESS;
    });
}

// Digits in upper case, as the real one writes them.
CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
    return call([&] {
        if (id == nullptr || length < 13) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (!is_device(device)) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
        std::snprintf(id, static_cast<std::size_t>(length), "%s", properties(device).pci_id.c_str());
        for (char* letter = id; *letter != '\0'; ++letter) {
            *letter = static_cast<char>(std::toupper(static_cast<unsigned char>(*letter)));
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
    return call([&] {
        if (device == nullptr || id == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        std::string wanted;
        for (const char* letter = id; *letter != '\0'; ++letter) {
            wanted += static_cast<char>(std::tolower(static_cast<unsigned char>(*letter)));
        }
        for (std::size_t i = 0; i < driver().devices.size(); ++i) {
            if (properties(static_cast<CUdevice>(i)).pci_id == wanted) {
                *device = static_cast<CUdevice>(i);
                return CUDA_SUCCESS;
            }
        }
        return CUDA_ERROR_INVALID_DEVICE;
    });
}

// A device does not count as its own peer: 0.
CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
    return call([&] {
        if (can == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (!is_device(device) || !is_device(peer)) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
        *can = device != peer && link_of(device, peer).access ? 1 : 0;
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetP2PAttribute(int* value, int attribute, CUdevice from, CUdevice to) {
    return call([&] {
        if (value == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (!is_device(from) || !is_device(to) || from == to) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
        switch (attribute) {
            case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
                *value = 0;
                return CUDA_SUCCESS;
            case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
            case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
            case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
                *value = link_of(from, to).access ? 1 : 0;
                return CUDA_SUCCESS;
            default:
                return CUDA_ERROR_INVALID_VALUE;
        }
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::cuda
