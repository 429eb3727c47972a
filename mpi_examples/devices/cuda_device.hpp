// SPDX-License-Identifier: BSD-3-Clause
// A CUDA device by its driver's interface, used as a program that knows nothing of peercoll would: primary context,
// current on the thread from start to end.
#pragma once

#include "cuda_driver.hpp"
#include "device.hpp"

namespace peercoll::devices {

class CudaDevice : public Device {
public:
    CudaDevice(const Choice& choice, const LocalRank& local);
    ~CudaDevice() override;

    void* allocate(std::size_t bytes) override;
    void release(void* memory) noexcept override;
    void write(void* buffer, std::size_t bytes, const Edit& edit) override;
    void read(const void* buffer, std::size_t bytes, const Look& look) override;
    void set(void* buffer, unsigned char value, std::size_t bytes) override;
    std::size_t alignment() const override { return 512; }
    std::size_t largest_rewritten() const override { return std::size_t{16} << 20; }

    const DeviceFacts& facts() const override { return facts_; }
    void* stream() override { return stream_; }
    void synchronize() override;
    void launch_empty_kernel() override;
    void start_copy(void* to, const void* from, std::size_t bytes) override;
    SharedMemoryHandle share(void* memory) override;
    void* open_shared(const SharedMemoryHandle& handle) override;
    void close_shared(void* memory) noexcept override;

private:
    CudaDriver driver_;
    bool pool_;
    DeviceFacts facts_;
    CudaDriver::Device device_ = 0;
    CudaDriver::Stream stream_ = nullptr;
    CudaDriver::Module module_ = nullptr;
    CudaDriver::Function empty_kernel_ = nullptr;
    void* window_ = nullptr;  // pinned host memory that contents pass through
};

}  // namespace peercoll::devices
