// SPDX-License-Identifier: BSD-3-Clause
// What a pointer is. A pointer that the driver does not know is an error for the singular question, and for the plural
// one a success with the answers of "nothing".
#include "tests/simulated_devices/cuda/driver.hpp"
#include "tests/simulated_devices/cuda/entry_points.hpp"

#include <cstring>

namespace peercoll::simulator::cuda {

namespace {

template <typename Value>
CUresult answer(void* where, Value value) {
    std::memcpy(where, &value, sizeof(value));
    return CUDA_SUCCESS;
}

bool knows(int attribute) {
    return attribute >= 1 && attribute <= 21 && attribute != 5 && attribute != 15;
}

int ordinal(const Mapping& mapping) {
    if (mapping.device < 0) {
        // Pinned host memory belongs to the context it was made in.
        return mapping.context == nullptr ? 0 : static_cast<Context*>(mapping.context)->ordinal;
    }
    return ordinal_of(mapping.device);
}

CUresult about(const Mapping& mapping, int attribute, CUdeviceptr address, void* where) {
    const bool host = mapping.is_host();
    switch (attribute) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
            return answer(where, static_cast<Context*>(mapping.context));
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            return answer(where, host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
            return current_context() == nullptr ? CUDA_ERROR_INVALID_CONTEXT : answer(where, address);
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
            if (!host && mapping.kind != MemoryKind::Managed) {
                return CUDA_ERROR_INVALID_VALUE;
            }
            return answer(where, address);
        case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
            return answer(where, static_cast<unsigned>(mapping.synchronous.load()));
        case CU_POINTER_ATTRIBUTE_BUFFER_ID:
            return answer(where, static_cast<unsigned long long>(mapping.id));
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
            return answer(where, static_cast<unsigned>(mapping.kind == MemoryKind::Managed));
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            return answer(where, ordinal(mapping));
        // One byte each: who reads more without having cleared it reads garbage.
        case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
            return answer(where, static_cast<std::uint8_t>(mapping.kind == MemoryKind::Device));
        case CU_POINTER_ATTRIBUTE_MAPPED:
            return answer(where, std::uint8_t{1});
        // Of virtual memory: of the whole reservation.
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
            return answer(where, static_cast<CUdeviceptr>(mapping.range && mapping.kind == MemoryKind::Virtual
                                                              ? mapping.range->base()
                                                              : mapping.base));
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
            return answer(where, static_cast<std::size_t>(mapping.range && mapping.kind == MemoryKind::Virtual
                                                              ? mapping.range->bytes()
                                                              : mapping.bytes));
        case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
            return answer(where, static_cast<unsigned long long>(mapping.handle_types));
        case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: {
            const Context* const context = current_context();
            const DeviceSet me = context == nullptr ? 0 : one_device(context->execution->device);
            const bool everybody = host || mapping.kind == MemoryKind::Managed;
            if (everybody || (mapping.writers.load() & me) != 0) {
                return answer(where, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
            }
            return answer(where, (mapping.readers.load() & me) != 0 ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                                                    : CU_MEM_ACCESS_FLAGS_PROT_NONE);
        }
        case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
            return answer(where, mapping.pool.get());
        case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
            return answer(where, static_cast<std::size_t>(mapping.bytes));
        case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
            return answer(where, static_cast<CUdeviceptr>(mapping.base));
        case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
            return answer(where, static_cast<unsigned long long>(mapping.block ? mapping.block->id() : mapping.id));
        default:
            return answer(where, 0);
    }
}

CUresult about_nothing(int attribute, void* where) {
    switch (attribute) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
            return answer(where, std::uint64_t{0});
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            return answer(where, -2);
        case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        case CU_POINTER_ATTRIBUTE_MAPPED:
            return answer(where, std::uint8_t{0});
        default:
            return answer(where, 0);
    }
}

}  // namespace

extern "C" {

CUresult cuPointerGetAttribute(void* data, int attribute, CUdeviceptr address) {
    return call([&] {
        if (data == nullptr || !knows(attribute)) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const auto mapping = find_mapping(address);
        return mapping ? about(*mapping, attribute, address, data) : CUDA_ERROR_INVALID_VALUE;
    });
}

CUresult cuPointerGetAttributes(unsigned count, int* attributes, void** data, CUdeviceptr address) {
    return call([&] {
        if (count == 0 || attributes == nullptr || data == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const auto mapping = find_mapping(address);
        for (unsigned i = 0; i < count; ++i) {
            if (data[i] == nullptr || !knows(attributes[i])) {
                return CUDA_ERROR_INVALID_VALUE;
            }
            const CUresult result =
                mapping ? about(*mapping, attributes[i], address, data[i]) : about_nothing(attributes[i], data[i]);
            if (result == CUDA_ERROR_INVALID_VALUE) {
                about_nothing(attributes[i], data[i]);  // this memory has none: no error here
            } else if (result != CUDA_SUCCESS) {
                return result;
            }
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuPointerSetAttribute(const void* value, int attribute, CUdeviceptr address) {
    return call([&] {
        const auto mapping = find_mapping(address);
        if (value == nullptr || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !mapping) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (mapping->kind == MemoryKind::Virtual) {
            return CUDA_ERROR_NOT_SUPPORTED;
        }
        unsigned wanted = 0;
        std::memcpy(&wanted, value, sizeof(wanted));
        mapping->synchronous.store(wanted != 0);
        return CUDA_SUCCESS;
    });
}

// Unlike the queries of attributes it needs a current context.
CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
    return call_with_context([&](Context&) {
        const auto mapping = find_mapping(address);
        if (!mapping) {
            return CUDA_ERROR_NOT_FOUND;
        }
        if (base != nullptr) {
            *base = mapping->base;
        }
        if (bytes != nullptr) {
            *bytes = mapping->bytes;
        }
        return CUDA_SUCCESS;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::cuda
