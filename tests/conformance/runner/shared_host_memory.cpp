// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/runner/shared_host_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

namespace peercoll::conformance {

SharedHostMemory::SharedHostMemory(std::size_t bytes)
    : descriptor_(memfd_create("peercoll-conformance", MFD_CLOEXEC)), bytes_(bytes) {
    if (ftruncate(descriptor_.get(), static_cast<off_t>(bytes)) != 0)
        throw std::runtime_error(std::string("no shared host memory: ") + std::strerror(errno));
    map();
}

SharedHostMemory::SharedHostMemory(Descriptor descriptor, std::size_t bytes)
    : descriptor_(std::move(descriptor)), bytes_(bytes) {
    map();
}

void SharedHostMemory::map() {
    void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_.get(), 0);
    if (mapped == MAP_FAILED) throw std::runtime_error(std::string("no shared host memory: ") + std::strerror(errno));
    address_ = mapped;
}

SharedHostMemory::~SharedHostMemory() {
    munmap(address_, bytes_);
}

std::atomic<std::uint64_t>& SharedHostMemory::word(std::size_t index) const {
    return *(static_cast<std::atomic<std::uint64_t>*>(address_) + index);
}

bool SharedHostMemory::wait_for(std::uint64_t value, std::size_t index) const {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (word(index).load(std::memory_order_acquire) != value) {
        if (std::chrono::steady_clock::now() >= until) return false;
        std::this_thread::yield();
    }
    return true;
}

}  // namespace peercoll::conformance
