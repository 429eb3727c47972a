// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/cuda/exports.hpp"

#include "plugin/device/cuda/contexts.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include <fmt/format.h>

namespace peercoll::cuda {

namespace {

static_assert(sizeof(CuIpcHandle) <= sizeof(peercoll_memory_handle_t::data));
static_assert(sizeof(CuPoolPointer) <= sizeof(peercoll_memory_handle_t::data));
static_assert(sizeof(CuFabricHandle) <= sizeof(peercoll_memory_handle_t::data));

constexpr std::string_view naming = "naming an allocation to other processes";

Status export_ipc(const DriverFunctions& driver, peercoll_memory_handle_t& handle) {
    CuIpcHandle name{};
    if (const CuResult error = driver.ipc_get_handle(&name, handle.base); error != code::success)
        return driver_error(driver, error, naming, "expected memory of cuMemAlloc or cudaMalloc");
    std::memcpy(handle.data, &name, sizeof name);
    return {};
}

// Descriptors of the driver would be inherited by every program that the application starts.
void close_on_exec(int fd) {
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

Status export_allocation(const DriverFunctions& driver, peercoll_memory_handle_t& handle, int type, void* out) {
    if (!driver.has_virtual_memory())
        return {PEERCOLL_ERR_NOT_SUPPORTED, "this CUDA driver cannot export physical memory"};
    CuAllocation allocation = 0;
    if (const CuResult error = driver.allocation_retain(&allocation, reinterpret_cast<void*>(handle.base));
        error != code::success)
        return driver_error(driver, error, naming, "expected memory of cuMemCreate");
    const CuResult error = driver.allocation_export(out, allocation, type, 0);
    driver.allocation_release(allocation);
    if (error == code::success) return {};
    return driver_error(driver, error, naming,
                        error == code::not_permitted && type == handle_type_fabric
                            ? "this process has no channel of the fabric"
                            : "expected memory that was made to be shared so");
}

Status export_pool(const DriverFunctions& driver, peercoll_memory_handle_t& handle, int* fd) {
    if (!driver.has_pools()) return {PEERCOLL_ERR_NOT_SUPPORTED, "this CUDA driver cannot export memory pools"};
    CuMemoryPool pool = nullptr;
    if (const CuResult error = driver.pointer_get_attribute(&pool, pointer_attribute::mempool_handle, handle.base);
        error != code::success)
        return driver_error(driver, error, naming, "expected memory of a pool");
    // The pool first: its pointers cannot be named before it has been (CUDA_ERROR_INVALID_VALUE).
    int made = -1;
    if (const CuResult error = driver.pool_export(&made, pool, handle_type_posix_fd, 0); error != code::success)
        return driver_error(driver, error, naming, "expected a pool that was made to be shared by descriptor");
    CuPoolPointer pointer{};
    if (const CuResult error = driver.pool_export_pointer(&pointer, handle.base); error != code::success) {
        ::close(made);
        return driver_error(driver, error, naming, "expected memory of a pool that was made to be shared");
    }
    *fd = made;
    std::memcpy(handle.data, &pointer, sizeof pointer);
    return {};
}

Status export_by(const DriverFunctions& driver, peercoll_memory_handle_t& handle, int* fd) {
    switch (handle.kind) {
        case PEERCOLL_HANDLE_IPC:
            return export_ipc(driver, handle);
        case PEERCOLL_HANDLE_FD: {
            int made = -1;
            Status status = export_allocation(driver, handle, handle_type_posix_fd, &made);
            if (status.ok()) *fd = made;
            return status;
        }
        case PEERCOLL_HANDLE_POOL_FD:
            return export_pool(driver, handle, fd);
        case PEERCOLL_HANDLE_FABRIC: {
            CuFabricHandle name{};
            Status status = export_allocation(driver, handle, handle_type_fabric, &name);
            std::memcpy(handle.data, &name, sizeof name);
            return status;
        }
        default:
            return {PEERCOLL_ERR_INVALID_ARGUMENT, fmt::format("there is no handle of kind {}", handle.kind)};
    }
}

}  // namespace

peercoll_status_t export_memory(const peercoll_pointer_info_t* info, peercoll_handle_kind_t kind, int32_t,
                                peercoll_memory_handle_t* handle, int* fd, peercoll_reason_t* reason) {
    *handle = {};
    *fd = -1;
    const peercoll_status_t status = attached(reason, [&](Attachment& attachment) -> Status {
        if (info->kind != PEERCOLL_MEMORY_DEVICE || info->bytes == 0 || kind > 31 ||
            (info->handle_kinds & (1U << kind)) == 0)
            return {PEERCOLL_ERR_INVALID_ARGUMENT,
                    fmt::format("memory at {:#x} cannot be named by a handle of kind {}: expected one of classify()'s",
                                info->base, kind)};
        return on_device(attachment, info->device, [&](Device& device) {
            handle->kind = kind;
            handle->allocation_id = info->allocation_id;
            handle->base = info->base;
            handle->bytes = info->bytes;
            std::memcpy(handle->device_uuid, device.info.uuid, sizeof handle->device_uuid);
            return export_by(attachment.driver, *handle, fd);
        });
    });
    if (status != PEERCOLL_SUCCESS) *handle = {};
    if (*fd >= 0) close_on_exec(*fd);
    return status;
}

}  // namespace peercoll::cuda
