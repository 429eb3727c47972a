// SPDX-License-Identifier: BSD-3-Clause
#include "cuda_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace peercoll::devices {

namespace {

constexpr std::size_t page_bytes = std::size_t{2} << 20;

constexpr std::size_t window_bytes = std::size_t{16} << 20;
constexpr unsigned non_blocking_stream = 1;
constexpr unsigned lazy_peer_access = 1;

// Made for the device by its driver, which knows every device newer than this text.
constexpr const char* empty_kernel_text = R"(
.version 6.0
.target sm_50
.address_size 64
.visible .entry peercoll_bench_empty()
{
    ret;
}
)";

CudaDriver::Address address_of(const void* memory) {
    return reinterpret_cast<CudaDriver::Address>(memory);
}

void* pointer_to(CudaDriver::Address address) {
    return reinterpret_cast<void*>(address);
}

}  // namespace

CudaDevice::CudaDevice(const Choice& choice, const LocalRank& local) : pool_(choice.pool) {
    int devices = 0;
    driver_.require(driver_.device_count(&devices), "cuDeviceGetCount");
    if (pool_ && (driver_.pool_allocate == nullptr || driver_.pool_free == nullptr)) {
        throw std::runtime_error("stream-ordered memory: this driver is older than CUDA 11.2");
    }
    const int number = choose_device(choice, local, devices);
    driver_.require(driver_.device_get(&device_, number), "cuDeviceGet");
    driver_.require(driver_.device_name(facts_.name.data(), static_cast<int>(facts_.name.size()), device_),
                    "cuDeviceGetName");
    driver_.require(driver_.device_pci_id(facts_.pci_id.data(), static_cast<int>(facts_.pci_id.size()), device_),
                    "cuDeviceGetPCIBusId");
    CudaDriver::Uuid uuid{};
    driver_.require(driver_.device_uuid(&uuid, device_), "cuDeviceGetUuid");
    std::memcpy(facts_.uuid.data(), uuid.bytes, facts_.uuid.size());
    int version = 0;
    driver_.require(driver_.driver_version(&version), "cuDriverGetVersion");
    fmt::format_to_n(facts_.driver.data(), facts_.driver.size() - 1, "CUDA {}.{}", version / 1000, version % 1000 / 10);

    CudaDriver::Context context = nullptr;
    driver_.require(driver_.primary_retain(&context, device_), "cuDevicePrimaryCtxRetain");
    driver_.require(driver_.context_push(context), "cuCtxPushCurrent");
    driver_.require(driver_.stream_create(&stream_, non_blocking_stream), "cuStreamCreate");
    driver_.require(driver_.host_allocate(&window_, window_bytes, 0), "cuMemHostAlloc");
}

CudaDevice::~CudaDevice() {
    if (module_ != nullptr) driver_.module_unload(module_);
    driver_.host_free(window_);
    driver_.stream_destroy(stream_);
    CudaDriver::Context context = nullptr;
    driver_.context_pop(&context);
    driver_.primary_release(device_);
}

void* CudaDevice::allocate(std::size_t bytes) {
    // Whole pages of the device, as frameworks allocate; another process may map memory of other sizes in smaller
    // pages.
    bytes = (bytes + page_bytes - 1) / page_bytes * page_bytes;
    CudaDriver::Address address = 0;
    const int result =
        pool_ ? driver_.pool_allocate(&address, bytes, stream_) : driver_.memory_allocate(&address, bytes);
    std::size_t free_bytes = 0;
    std::size_t all_bytes = 0;
    if (result != 0) driver_.memory_info(&free_bytes, &all_bytes);
    driver_.require(result, fmt::format("{} bytes of device memory ({} of {} are free)", bytes, free_bytes, all_bytes));
    synchronize();
    return pointer_to(address);
}

void CudaDevice::release(void* memory) noexcept {
    if (pool_) {
        driver_.pool_free(address_of(memory), stream_);
        driver_.stream_synchronize(stream_);
    } else {
        driver_.memory_free(address_of(memory));
    }
}

void CudaDevice::write(void* buffer, std::size_t bytes, const Edit& edit) {
    for (std::size_t offset = 0; offset < bytes; offset += window_bytes) {
        const std::size_t part = std::min(window_bytes, bytes - offset);
        edit(window_, offset, part);
        driver_.require(driver_.copy_to_device(address_of(buffer) + offset, window_, part, stream_),
                        "a copy to the device");
        synchronize();
    }
}

void CudaDevice::read(const void* buffer, std::size_t bytes, const Look& look) {
    for (std::size_t offset = 0; offset < bytes; offset += window_bytes) {
        const std::size_t part = std::min(window_bytes, bytes - offset);
        driver_.require(driver_.copy_to_host(window_, address_of(buffer) + offset, part, stream_),
                        "a copy from the device");
        synchronize();
        look(window_, offset, part);
    }
}

void CudaDevice::set(void* buffer, unsigned char value, std::size_t bytes) {
    driver_.require(driver_.set_bytes(address_of(buffer), value, bytes, stream_), "cuMemsetD8Async");
    synchronize();
}

void CudaDevice::synchronize() {
    driver_.require(driver_.stream_synchronize(stream_), "cuStreamSynchronize");
}

void CudaDevice::launch_empty_kernel() {
    if (empty_kernel_ == nullptr) {
        driver_.require(driver_.module_load(&module_, empty_kernel_text), "cuModuleLoadData of an empty kernel");
        driver_.require(driver_.module_function(&empty_kernel_, module_, "peercoll_bench_empty"),
                        "cuModuleGetFunction of an empty kernel");
    }
    driver_.require(driver_.launch(empty_kernel_, 1, 1, 1, 32, 1, 1, 0, stream_, nullptr, nullptr), "cuLaunchKernel");
}

void CudaDevice::start_copy(void* to, const void* from, std::size_t bytes) {
    driver_.require(driver_.copy(address_of(to), address_of(from), bytes, stream_), "cuMemcpyAsync");
}

SharedMemoryHandle CudaDevice::share(void* memory) {
    CudaDriver::IpcHandle handle{};
    driver_.require(driver_.ipc_get(&handle, address_of(memory)), "cuIpcGetMemHandle");
    SharedMemoryHandle shared;
    std::memcpy(shared.bytes.data(), handle.bytes, shared.bytes.size());
    return shared;
}

void* CudaDevice::open_shared(const SharedMemoryHandle& shared) {
    CudaDriver::IpcHandle handle{};
    std::memcpy(handle.bytes, shared.bytes.data(), shared.bytes.size());
    CudaDriver::Address address = 0;
    driver_.require(driver_.ipc_open(&address, handle, lazy_peer_access), "cuIpcOpenMemHandle");
    return pointer_to(address);
}

void CudaDevice::close_shared(void* memory) noexcept {
    driver_.ipc_close(address_of(memory));
}

}  // namespace peercoll::devices
