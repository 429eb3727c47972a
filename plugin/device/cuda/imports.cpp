// SPDX-License-Identifier: BSD-3-Clause
// What release_mapping() needs lies in a mapping's `opaque`: the attachment's generation, then
//   IPC        the address that was opened
//   FD, FABRIC the reserved address and its size
//   POOL_FD    the address, the imported pool
#include "plugin/device/cuda/imports.hpp"

#include "plugin/device/cuda/contexts.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace peercoll::cuda {

namespace {

enum Opaque { Generation, First, Second };

constexpr std::string_view mapping_it = "mapping another process's memory";

std::string_view advice_for(CuResult error) {
    switch (error) {
        case code::already_mapped:
            return "an earlier mapping of memory that its owner has freed is still open: release it, then try again";
        case code::invalid_context:
            return "it is this process's own, or its owner is in another pid namespace";
        case code::peer_access_unsupported:
            return "the two devices cannot reach each other's memory";
        case code::invalid_device:
            return "its device is not seen here (CUDA_VISIBLE_DEVICES)";
        case code::too_many_peers:
            return "the device has as many peers as its hardware can have";
        case code::not_permitted:
            return "this process may not use such handles";
        default:
            return {};
    }
}

Status import_error(const DriverFunctions& driver, CuResult error) {
    Status status = driver_error(driver, error, mapping_it, advice_for(error));
    // Nothing of the handle is wrong: it means something to other processes.
    return error == code::invalid_device ? Status(PEERCOLL_ERR_NOT_SUPPORTED, status.sentence()) : status;
}

Status missing(std::string_view what) {
    return {PEERCOLL_ERR_NOT_SUPPORTED, fmt::format("this CUDA driver cannot map {}", what)};
}

Status import_ipc(const DriverFunctions& driver, const peercoll_memory_handle_t& handle, peercoll_mapping_t& mapping) {
    CuIpcHandle name{};
    std::memcpy(&name, handle.data, sizeof name);
    CuAddress address = 0;
    if (const CuResult error = driver.ipc_open_handle(&address, name, ipc_lazy_peer_access); error != code::success)
        return import_error(driver, error);
    mapping.address = address;
    mapping.opaque[First] = address;
    return {};
}

// The physical allocation while it is being mapped; a mapping keeps it alive afterwards.
class ImportedAllocation {
public:
    explicit ImportedAllocation(const DriverFunctions& driver) : driver_(driver) {}
    ~ImportedAllocation() {
        if (there_) driver_.allocation_release(allocation_);
    }
    ImportedAllocation(const ImportedAllocation&) = delete;
    ImportedAllocation& operator=(const ImportedAllocation&) = delete;
    CuResult import(void* os_handle, int type) {
        const CuResult error = driver_.allocation_import(&allocation_, os_handle, type);
        there_ = error == code::success;
        return error;
    }
    CuResult granularity(std::size_t& bytes) const {
        CuAllocationProperties properties{};
        const CuResult error = driver_.allocation_get_properties(&properties, allocation_);
        return error == code::success ? driver_.allocation_get_granularity(&bytes, &properties, granularity_minimum)
                                      : error;
    }
    CuAllocation get() const { return allocation_; }

private:
    const DriverFunctions& driver_;
    CuAllocation allocation_ = 0;
    bool there_ = false;
};

Status map_allocation(const DriverFunctions& driver, const Device& device, CuAllocation allocation, std::size_t bytes,
                      peercoll_mapping_t& mapping) {
    CuAddress address = 0;
    if (const CuResult error = driver.address_reserve(&address, bytes, 0, 0, 0); error != code::success)
        return import_error(driver, error);
    CuResult error = driver.memory_map(address, bytes, 0, allocation, 0);
    if (error == code::success) {
        const CuAccess access = {{location_device, device.handle}, access_read_write};
        error = driver.memory_set_access(address, bytes, &access, 1);
        if (error != code::success) driver.memory_unmap(address, bytes);
    }
    if (error != code::success) {
        driver.address_free(address, bytes);
        return import_error(driver, error);
    }
    mapping.address = address;
    mapping.opaque[First] = address;
    mapping.opaque[Second] = bytes;
    return {};
}

Status import_allocation(const DriverFunctions& driver, const Device& device, const peercoll_memory_handle_t& handle,
                         int fd, peercoll_mapping_t& mapping) {
    if (!driver.has_virtual_memory()) return missing("physical memory");
    ImportedAllocation allocation(driver);
    CuFabricHandle name{};
    std::memcpy(&name, handle.data, sizeof name);
    const bool by_fd = handle.kind == PEERCOLL_HANDLE_FD;
    if (const CuResult error =
            by_fd ? allocation.import(reinterpret_cast<void*>(static_cast<std::uintptr_t>(fd)), handle_type_posix_fd)
                  : allocation.import(&name, handle_type_fabric);
        error != code::success)
        return import_error(driver, error);
    std::size_t granularity = 0;
    if (const CuResult error = allocation.granularity(granularity); error != code::success)
        return import_error(driver, error);
    if (granularity == 0 || handle.bytes % granularity != 0)
        return {PEERCOLL_ERR_INVALID_ARGUMENT,
                fmt::format("a handle names {} bytes: expected a multiple of {}, as physical memory is mapped",
                            handle.bytes, granularity)};
    return map_allocation(driver, device, allocation.get(), handle.bytes, mapping);
}

Status import_from_pool(const DriverFunctions& driver, const Device& device, const peercoll_memory_handle_t& handle,
                        int fd, peercoll_mapping_t& mapping) {
    if (!driver.has_pools()) return missing("memory of a pool");
    CuMemoryPool pool = nullptr;
    CuResult error =
        driver.pool_import(&pool, reinterpret_cast<void*>(static_cast<std::uintptr_t>(fd)), handle_type_posix_fd, 0);
    if (error != code::success) return import_error(driver, error);
    // The pool's own device reaches it anyway.
    if (std::memcmp(handle.device_uuid, device.info.uuid, sizeof handle.device_uuid) != 0) {
        const CuAccess access = {{location_device, device.handle}, access_read_write};
        error = driver.pool_set_access(pool, &access, 1);
    }
    CuPoolPointer pointer{};
    std::memcpy(&pointer, handle.data, sizeof pointer);
    CuAddress address = 0;
    if (error == code::success) error = driver.pool_import_pointer(&address, pool, &pointer);
    if (error != code::success) {
        driver.pool_destroy(pool);
        return import_error(driver, error);
    }
    mapping.address = address;
    mapping.opaque[First] = address;
    mapping.opaque[Second] = reinterpret_cast<std::uintptr_t>(pool);
    return {};
}

void unmap(const DriverFunctions& driver, const peercoll_mapping_t& mapping) {
    switch (mapping.kind) {
        case PEERCOLL_HANDLE_IPC:
            driver.ipc_close_handle(mapping.opaque[First]);
            break;
        case PEERCOLL_HANDLE_FD:
        case PEERCOLL_HANDLE_FABRIC:
            driver.memory_unmap(mapping.opaque[First], mapping.opaque[Second]);
            driver.address_free(mapping.opaque[First], mapping.opaque[Second]);
            break;
        case PEERCOLL_HANDLE_POOL_FD:
            driver.memory_free(mapping.opaque[First]);
            driver.pool_destroy(reinterpret_cast<CuMemoryPool>(mapping.opaque[Second]));
            break;
        default:
            break;
    }
}

// The size came from another process: what was mapped must be at least as large.
Status check_size(const DriverFunctions& driver, const peercoll_mapping_t& mapping) {
    CuAddress base = 0;
    std::size_t bytes = 0;
    if (const CuResult error = driver.memory_get_address_range(&base, &bytes, mapping.address); error != code::success)
        return driver_error(driver, error, "asking how much of another process's memory was mapped");
    const std::size_t left = bytes - std::min<std::size_t>(mapping.address - base, bytes);
    if (left >= mapping.bytes) return {};
    return {PEERCOLL_ERR_INVALID_ARGUMENT,
            fmt::format("a handle says that its allocation has {} bytes, but it has {}", mapping.bytes, left)};
}

// Whether the process sees the device where the memory is does not matter: no handle needs its number, and the driver
// knows what it can open.
Status check(const Device& device, const peercoll_memory_handle_t& handle, int fd) {
    if (handle.kind < PEERCOLL_HANDLE_IPC || handle.kind > PEERCOLL_HANDLE_FABRIC || handle.bytes == 0)
        return {PEERCOLL_ERR_INVALID_ARGUMENT,
                fmt::format("a handle of kind {} and {} bytes: expected kind 1 to 4, and more than 0 bytes",
                            handle.kind, handle.bytes)};
    if ((device.info.import_kinds & (1U << handle.kind)) == 0)
        return {PEERCOLL_ERR_NOT_SUPPORTED,
                fmt::format("CUDA device {} cannot map handles of kind {}", device.ordinal, handle.kind)};
    const bool needs_fd = handle.kind == PEERCOLL_HANDLE_FD || handle.kind == PEERCOLL_HANDLE_POOL_FD;
    if (needs_fd && fd < 0)
        return {PEERCOLL_ERR_INVALID_ARGUMENT, "a handle by descriptor came without one: expected its descriptor"};
    return {};
}

}  // namespace

peercoll_status_t import_memory(int32_t ordinal, const peercoll_memory_handle_t* handle, int fd,
                                peercoll_mapping_t* mapping, peercoll_reason_t* reason) {
    *mapping = {};
    peercoll_mapping_t made{};
    const peercoll_status_t status = attached(reason, [&](Attachment& attachment) -> Status {
        const Device* const checked = attachment.device(ordinal);
        if (checked == nullptr) return no_device(attachment, ordinal);
        if (Status status = check(*checked, *handle, fd); !status.ok()) return status;
        return on_device(attachment, ordinal, [&](Device& device) -> Status {
            const DriverFunctions& driver = attachment.driver;
            made.bytes = handle->bytes;
            made.device = ordinal;
            made.kind = handle->kind;
            made.opaque[Generation] = attachment.generation;
            Status status = handle->kind == PEERCOLL_HANDLE_IPC ? import_ipc(driver, *handle, made)
                            : handle->kind == PEERCOLL_HANDLE_POOL_FD
                                ? import_from_pool(driver, device, *handle, fd, made)
                                : import_allocation(driver, device, *handle, fd, made);
            if (!status.ok()) return status;
            status = check_size(driver, made);
            if (!status.ok()) unmap(driver, made);
            return status;
        });
    });
    if (status == PEERCOLL_SUCCESS) *mapping = made;
    return status;
}

uint32_t unseen_import_kinds(int32_t ordinal) {
    // Measured on two H200s: all kinds open, and kernels and copies reach the memory (tests/conformance/results).
    const Attachment* const present = attachment();
    const Device* const device = present == nullptr ? nullptr : present->device(ordinal);
    return device == nullptr ? 0 : device->info.import_kinds;
}

void release_mapping(peercoll_mapping_t* mapping) {
    const peercoll_mapping_t gone = *mapping;
    *mapping = {};
    attached(nullptr, [&](Attachment& attachment) -> Status {
        if (gone.kind == 0 || gone.opaque[Generation] != attachment.generation) return {};
        return on_device(attachment, gone.device, [&](Device&) {
            unmap(attachment.driver, gone);  // an error: it went with its context or with the driver
            return Status();
        });
    });
}

}  // namespace peercoll::cuda
