// SPDX-License-Identifier: BSD-3-Clause
#include "tests/device_collectives/test_memory.hpp"

#include <cstring>
#include <new>

namespace peercoll::test {

namespace {

constexpr std::align_val_t host_alignment{64};

}  // namespace

TestMemory::TestMemory(const Application* application, Memory kind, std::size_t bytes, int device)
    : application_(application), kind_(kind) {
    if (kind == Memory::Host) {
        piece_ = {reinterpret_cast<std::uintptr_t>(::operator new(bytes, host_alignment)), bytes, nullptr};
    } else {
        piece_ = application->allocate(kind, bytes, device);
    }
}

TestMemory::~TestMemory() {
    if (kind_ == Memory::Host) {
        ::operator delete(reinterpret_cast<void*>(piece_.address), host_alignment);
    } else {
        application_->free(kind_, piece_);
    }
}

void TestMemory::write(std::size_t offset, const void* from, std::size_t bytes) const {
    if (bytes == 0) {
        return;
    }
    if (on_device(kind_)) {
        application_->upload(piece_.address + offset, from, bytes);
    } else {
        std::memcpy(address() + offset, from, bytes);
    }
}

void TestMemory::read(std::size_t offset, void* to, std::size_t bytes) const {
    if (bytes == 0) {
        return;
    }
    if (on_device(kind_)) {
        application_->download(to, piece_.address + offset, bytes);
    } else {
        std::memcpy(to, address() + offset, bytes);
    }
}

}  // namespace peercoll::test
