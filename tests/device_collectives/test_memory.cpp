// SPDX-License-Identifier: BSD-3-Clause
#include "tests/device_collectives/test_memory.hpp"

#include <array>
#include <cstring>
#include <new>
#include <ostream>

namespace peercoll::test {

namespace {

constexpr std::align_val_t host_alignment{64};
constexpr int posix_descriptor = 1;  // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

std::size_t granules(std::size_t bytes) {
    return (bytes + granule - 1) / granule * granule;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, Memory kind) {
    constexpr std::array<const char*, 8> names{"host",         "pinned",      "device",   "managed",
                                               "default_pool", "shared_pool", "physical", "shared_physical"};
    return out << names.at(static_cast<std::size_t>(kind));
}

void TestMemory::allocate_from_pool(int handle_types, int device) {
    pool_ = application_->make_pool(handle_types, device);
    address_ = application_->allocate_from(pool_, bytes_);
}

TestMemory::TestMemory(const Application* application, Memory kind, std::size_t bytes, int device)
    : application_(application), kind_(kind), bytes_(bytes) {
    switch (kind) {
        case Memory::Host:
            address_ = reinterpret_cast<std::uintptr_t>(::operator new(bytes, host_alignment));
            break;
        case Memory::Pinned: {
            void* memory = nullptr;
            EXPECT_EQ(application->call("cuMemHostAlloc", &memory, bytes, 0U), cuda::code::success);
            address_ = reinterpret_cast<std::uintptr_t>(memory);
            break;
        }
        case Memory::Device:
            address_ = application->allocate(bytes);
            break;
        case Memory::Managed:
            address_ = application->allocate_managed(bytes);
            break;
        case Memory::DefaultPool:
            address_ = application->allocate_async(bytes);
            break;
        case Memory::SharedPool:
            allocate_from_pool(posix_descriptor, device);
            break;
        case Memory::Physical:
            bytes_ = granules(bytes);
            address_ = application->map_physical(bytes_, 0, device);
            break;
        case Memory::SharedPhysical:
            bytes_ = granules(bytes);
            address_ = application->map_physical(bytes_, posix_descriptor, device);
            break;
    }
}

TestMemory::~TestMemory() {
    cuda::CuResult result = cuda::code::success;
    switch (kind_) {
        case Memory::Host:
            ::operator delete(reinterpret_cast<void*>(address_), host_alignment);
            break;
        case Memory::Pinned:
            result = application_->call("cuMemFreeHost", reinterpret_cast<void*>(address_));
            break;
        case Memory::Device:
        case Memory::Managed:
            result = application_->cu.memory_free(address_);
            break;
        case Memory::DefaultPool:
        case Memory::SharedPool:
            result = application_->call("cuMemFreeAsync", address_, cuda::CuStream{nullptr});
            EXPECT_EQ(application_->cu.context_synchronize(), cuda::code::success);
            if (pool_ != nullptr) {
                EXPECT_EQ(application_->call("cuMemPoolDestroy", pool_), cuda::code::success);
            }
            break;
        case Memory::Physical:
        case Memory::SharedPhysical:
            result = application_->cu.memory_unmap(address_, bytes_);
            EXPECT_EQ(application_->cu.address_free(address_, bytes_), cuda::code::success);
            break;
    }
    EXPECT_EQ(result, cuda::code::success) << "freeing " << kind_ << " memory";
}

void TestMemory::write(std::size_t offset, const void* from, std::size_t bytes) const {
    if (bytes == 0) {
        return;
    }
    if (!on_device(kind_)) {
        std::memcpy(address() + offset, from, bytes);
        return;
    }
    EXPECT_EQ(application_->call("cuMemcpyHtoD_v2", cuda::CuAddress{address_ + offset}, from, bytes),
              cuda::code::success);
}

void TestMemory::read(std::size_t offset, void* to, std::size_t bytes) const {
    if (bytes == 0) {
        return;
    }
    if (!on_device(kind_)) {
        std::memcpy(to, address() + offset, bytes);
        return;
    }
    EXPECT_EQ(application_->call("cuMemcpyDtoH_v2", to, cuda::CuAddress{address_ + offset}, bytes),
              cuda::code::success);
}

}  // namespace peercoll::test
