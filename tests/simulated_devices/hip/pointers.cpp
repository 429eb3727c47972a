// SPDX-License-Identifier: BSD-3-Clause
// What a pointer is. Memory that HIP does not know is an error before ROCm 6, and "unregistered" since.
#include "tests/simulated_devices/hip/entry_points.hpp"
#include "tests/simulated_devices/hip/runtime.hpp"
#include "tests/simulated_devices/hip/version.hpp"

#include <cstring>

namespace peercoll::simulator::hip {

namespace {

template <typename Value>
hipError_t answer(void* where, Value value) {
    std::memcpy(where, &value, sizeof(value));
    return hipSuccess;
}

int type_of(const Mapping& mapping) {
    const MemoryTypes types = memory_types();
    if (mapping.kind == MemoryKind::Managed) {
        return types.managed;
    }
    return mapping.is_host() ? types.host : types.device;
}

int device_of(const Mapping& mapping) {
    return mapping.device < 0 ? mapping.handle_types : ordinal_of(mapping.device);
}

// Fewer bytes than CUDA's attributes of the same names: 1 for what is yes or no, 4 for the range and the number.
hipError_t about(const Mapping& mapping, int attribute, void* address, void* where) {
    switch (attribute) {
        case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
            return answer(where, type_of(mapping));
        case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
            return answer(where, address);
        case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
            return mapping.is_host() ? answer(where, address) : hipErrorInvalidValue;
        case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS:
            return answer(where, static_cast<std::uint8_t>(mapping.synchronous.load()));
        case HIP_POINTER_ATTRIBUTE_BUFFER_ID:
            return answer(where, static_cast<std::uint32_t>(mapping.id));
        case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
            return answer(where, static_cast<std::uint8_t>(mapping.kind == MemoryKind::Managed));
        case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            return answer(where, device_of(mapping));
        case HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE:
            return major() < 7 ? hipErrorNotSupported
                               : answer(where, static_cast<std::uint8_t>(mapping.kind == MemoryKind::Device));
        case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
            return answer(where, mapping.base);
        case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
            return answer(where, static_cast<std::uint32_t>(mapping.bytes));
        case HIP_POINTER_ATTRIBUTE_MAPPED:
            return answer(where, std::uint8_t{1});
        default:
            return hipErrorNotSupported;
    }
}

}  // namespace

extern "C" {

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* address) {
    return call([&] {
        const bool unknown_is_error = major() < 6;
        if (attributes == nullptr || (address == nullptr && major() < 7)) {
            return hipErrorInvalidValue;
        }
        const auto mapping = find_mapping(address);
        if (!mapping && unknown_is_error) {
            return hipErrorInvalidValue;
        }
        *attributes = {};
        if (!mapping) {
            attributes->device = -2;
            return hipSuccess;
        }
        attributes->type = type_of(*mapping);
        attributes->device = device_of(*mapping);
        attributes->devicePointer = const_cast<void*>(address);
        attributes->hostPointer = mapping->is_host() ? const_cast<void*>(address) : nullptr;
        attributes->isManaged = mapping->kind == MemoryKind::Managed ? 1 : 0;
        return hipSuccess;
    });
}

hipError_t hipPointerGetAttribute(void* data, int attribute, hipDeviceptr_t address) {
    return call([&] {
        const auto mapping = find_mapping(address);
        if (data == nullptr || attribute < 1 || attribute > 17 || !mapping) {
            return hipErrorInvalidValue;
        }
        return about(*mapping, attribute, address, data);
    });
}

hipError_t hipPointerSetAttribute(const void* value, int attribute, hipDeviceptr_t address) {
    return call([&] {
        const auto mapping = find_mapping(address);
        if (value == nullptr || attribute != HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS || !mapping) {
            return hipErrorInvalidValue;
        }
        std::uint8_t wanted = 0;
        std::memcpy(&wanted, value, sizeof(wanted));
        mapping->synchronous.store(wanted != 0);
        return hipSuccess;
    });
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, std::size_t* bytes, hipDeviceptr_t address) {
    return call([&] {
        const auto mapping = find_mapping(address);
        if (!mapping) {
            return major() < 6 ? hipErrorInvalidDevicePointer : hipErrorNotFound;
        }
        if (base != nullptr) {
            *base = pointer(mapping->base);
        }
        if (bytes != nullptr) {
            *bytes = mapping->bytes;
        }
        return hipSuccess;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::hip
