// SPDX-License-Identifier: BSD-3-Clause
// Virtual memory and pools, also those of other processes, by descriptors that travel over a socket.
#include "tests/simulated_devices/tests/on_node.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace peercoll::simulator::cuda {
namespace {

constexpr std::size_t MiB = 1U << 20;

CUmemAllocationProp on_device(int device, int handle_types) {
    CUmemAllocationProp properties = {};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = handle_types;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    return properties;
}

CUmemPoolProps pool_on_device(int device, int handle_types) {
    CUmemPoolProps properties = {};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.handleTypes = handle_types;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    return properties;
}

void let(CUdeviceptr address, std::size_t bytes, int device, int flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
    const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, device}, flags};
    EXPECT_EQ(cuMemSetAccess(address, bytes, &access, 1), CUDA_SUCCESS);
}

CUdeviceptr mapped(CUmemGenericAllocationHandle handle, std::size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemAddressReserve(&address, bytes, 0, 0, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemMap(address, bytes, 0, handle, 0), CUDA_SUCCESS);
    return address;
}

void unmapped(CUdeviceptr address, std::size_t bytes) {
    EXPECT_EQ(cuMemUnmap(address, bytes), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAddressFree(address, bytes), CUDA_SUCCESS);
}

// A pair of sockets, made before the ranks are forked.
class DescriptorPath {
public:
    DescriptorPath() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()), 0); }
    ~DescriptorPath() {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }
    DescriptorPath(const DescriptorPath&) = delete;
    DescriptorPath& operator=(const DescriptorPath&) = delete;

    // Sends and closes it.
    void send(int descriptor) const {
        Message message;
        message.header.msg_controllen = CMSG_SPACE(sizeof(int));
        cmsghdr* const part = CMSG_FIRSTHDR(&message.header);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(part), &descriptor, sizeof(int));
        EXPECT_EQ(::sendmsg(ends_[0], &message.header, 0), 1);
        ::close(descriptor);
    }
    int receive() const {
        Message message;
        EXPECT_EQ(::recvmsg(ends_[1], &message.header, MSG_CMSG_CLOEXEC), 1);
        int descriptor = -1;
        if (const cmsghdr* const part = CMSG_FIRSTHDR(&message.header)) {
            std::memcpy(&descriptor, CMSG_DATA(part), sizeof(int));
        }
        return descriptor;
    }

private:
    struct Message {
        char byte = 0;
        iovec text = {&byte, 1};
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
        msghdr header = {nullptr, 0, &text, 1, control.data(), control.size(), 0};
    };
    std::array<int, 2> ends_ = {-1, -1};
};

void* as_pointer(int descriptor) {
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
}

TEST(VirtualMemory, WithoutAccessNobodyTouchesIt) {
    on_node("@two_devices", 1, [](Rank&) {
        const CurrentContext context;
        CUmemGenericAllocationHandle handle = 0;
        const CUmemAllocationProp properties = on_device(0, 0);
        ASSERT_EQ(cuMemCreate(&handle, 2 * MiB, &properties, 0), CUDA_SUCCESS);
        const CUdeviceptr address = mapped(handle, 2 * MiB);
        EXPECT_EQ(cuMemsetD8Async(address, 1, 8, nullptr), CUDA_ERROR_INVALID_VALUE);
        let(address, 2 * MiB, 0, CU_MEM_ACCESS_FLAGS_PROT_READ);
        EXPECT_EQ(cuMemsetD8Async(address, 1, 8, nullptr), CUDA_ERROR_INVALID_VALUE);
        let(address, 2 * MiB, 0);
        write_bytes(address, 1, 2 * MiB);
        unmapped(address, 2 * MiB);
        EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
        EXPECT_EQ(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(bytes_in_use(), 0U);
    });
}

TEST(VirtualMemory, PeerAccessDoesNotCoverIt) {
    on_node("@two_devices", 1, [](Rank&) {
        const CurrentContext one(1);
        CUmemGenericAllocationHandle handle = 0;
        const CUmemAllocationProp properties = on_device(1, 0);
        ASSERT_EQ(cuMemCreate(&handle, 2 * MiB, &properties, 0), CUDA_SUCCESS);
        const CUdeviceptr address = mapped(handle, 2 * MiB);
        let(address, 2 * MiB, 1);
        const CurrentContext zero(0);
        ASSERT_EQ(cuCtxEnablePeerAccess(one.get(), 0), CUDA_SUCCESS);
        let(address, 2 * MiB, 0);
        EXPECT_EQ(launch_store(nullptr, address, 1, 64), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        let(address, 2 * MiB, 0, CU_MEM_ACCESS_FLAGS_PROT_NONE);
        EXPECT_EQ(launch_store(nullptr, address, 1, 64), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    });
}

TEST(VirtualMemory, ARangeOfTwoAllocationsIsOneForKernels) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        const CUmemAllocationProp properties = on_device(0, 0);
        CUdeviceptr address = 0;
        ASSERT_EQ(cuMemAddressReserve(&address, 4 * MiB, 0, 0, 0), CUDA_SUCCESS);
        for (std::size_t i = 0; i < 2; ++i) {
            CUmemGenericAllocationHandle handle = 0;
            ASSERT_EQ(cuMemCreate(&handle, 2 * MiB, &properties, 0), CUDA_SUCCESS);
            EXPECT_EQ(cuMemMap(address + i * 2 * MiB, 2 * MiB, 0, handle, 0), CUDA_SUCCESS);
            EXPECT_EQ(cuMemMap(address + i * 2 * MiB, 2 * MiB, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
            EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);  // the mapping holds it
        }
        let(address, 4 * MiB, 0);
        EXPECT_EQ(launch_store(nullptr, address + MiB, 3, 2 * MiB), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        EXPECT_EQ(read_bytes(address + MiB, 2 * MiB), std::vector<unsigned char>(2 * MiB, 3));
        CUdeviceptr base = 0;
        std::size_t bytes = 0;
        EXPECT_EQ(cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address + 3 * MiB), CUDA_SUCCESS);
        EXPECT_EQ(base, address) << "of the reservation";
        EXPECT_EQ(cuMemGetAddressRange_v2(&base, &bytes, address + 3 * MiB), CUDA_SUCCESS);
        EXPECT_EQ(base, address + 2 * MiB) << "of the mapping";
        CUmemGenericAllocationHandle retained = 0;
        EXPECT_EQ(cuMemRetainAllocationHandle(&retained, reinterpret_cast<void*>(address + 5)), CUDA_SUCCESS);
        int descriptor = -1;
        EXPECT_EQ(cuMemExportToShareableHandle(&descriptor, retained, 1, 0), CUDA_ERROR_INVALID_VALUE)
            << "it was not asked for";
        EXPECT_EQ(cuMemRelease(retained), CUDA_SUCCESS);
        EXPECT_EQ(cuMemAddressFree(address, 4 * MiB), CUDA_ERROR_INVALID_VALUE) << "it is mapped";
        unmapped(address, 4 * MiB);
        EXPECT_EQ(bytes_in_use(), 0U);
    });
}

TEST(VirtualMemory, WhatCannotBeMade) {
    on_node("@one_device", 1, [](Rank&) {
        CUmemGenericAllocationHandle handle = 0;
        CUmemAllocationProp properties = on_device(0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
        EXPECT_EQ(cuMemCreate(&handle, MiB, &properties, 0), CUDA_ERROR_INVALID_VALUE) << "not the granularity";
        properties.location.id = 3;
        EXPECT_EQ(cuMemCreate(&handle, 2 * MiB, &properties, 0), CUDA_ERROR_INVALID_DEVICE);
        properties = on_device(0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC);
        EXPECT_EQ(cuMemCreate(&handle, 2 * MiB, &properties, 0), CUDA_ERROR_NOT_PERMITTED);
        const CurrentContext context;
        const CUdeviceptr plain = allocate(64);
        EXPECT_EQ(cuMemRetainAllocationHandle(&handle, reinterpret_cast<void*>(plain)), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemImportFromShareableHandle(&handle, as_pointer(0), 1), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemFree_v2(plain), CUDA_SUCCESS);
    });
}

TEST(VirtualMemory, AnotherProcessImportsItByDescriptorAfterItsOwnerHasReleasedIt) {
    const DescriptorPath path;
    on_node("@one_device", 2, [&](Rank& rank) {
        const CurrentContext context;
        CUmemGenericAllocationHandle handle = 0;
        auto exchange = rank.exchange();
        if (rank.rank() == 0) {
            const CUmemAllocationProp properties = on_device(0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
            ASSERT_EQ(cuMemCreate(&handle, 2 * MiB, &properties, 0), CUDA_SUCCESS);
            const CUdeviceptr address = mapped(handle, 2 * MiB);
            let(address, 2 * MiB, 0);
            write_bytes(address, 4, 2 * MiB);
            int descriptor = -1;
            ASSERT_EQ(cuMemExportToShareableHandle(&descriptor, handle, 1, 0), CUDA_SUCCESS);
            unmapped(address, 2 * MiB);
            EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
            path.send(descriptor);
        } else {
            const int descriptor = path.receive();
            ASSERT_EQ(cuMemImportFromShareableHandle(&handle, as_pointer(descriptor), 1), CUDA_SUCCESS);
            ::close(descriptor);
            const CUdeviceptr address = mapped(handle, 2 * MiB);
            let(address, 2 * MiB, 0);
            EXPECT_EQ(read_bytes(address, 2 * MiB), std::vector<unsigned char>(2 * MiB, 4));
            EXPECT_EQ(bytes_in_use(), 2 * MiB);
            unmapped(address, 2 * MiB);
            EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
            EXPECT_EQ(bytes_in_use(), 0U);
        }
        ASSERT_TRUE(exchange.meet());
    });
}

TEST(Pools, TheDefaultOneCannotBeShared) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        CUmemoryPool pool = nullptr;
        CUdeviceptr address = 0;
        int descriptor = -1;
        CUmemPoolPtrExportData data = {};
        ASSERT_EQ(cuDeviceGetDefaultMemPool(&pool, 0), CUDA_SUCCESS);
        EXPECT_EQ(cuMemPoolExportToShareableHandle(&descriptor, pool, 1, 0), CUDA_ERROR_INVALID_VALUE);
        ASSERT_EQ(cuMemAllocAsync(&address, 64, nullptr), CUDA_SUCCESS);
        EXPECT_EQ(cuMemPoolExportPointer(&data, address), CUDA_ERROR_INVALID_VALUE);
        CUmemoryPool of_pointer = nullptr;
        EXPECT_EQ(cuPointerGetAttribute(&of_pointer, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address), CUDA_SUCCESS);
        EXPECT_EQ(of_pointer, pool);
        EXPECT_EQ(cuMemFreeAsync(address, nullptr), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        EXPECT_EQ(bytes_in_use(), 0U);
    });
}

TEST(Pools, AnotherProcessImportsThePoolOnceAndItsPointers) {
    const DescriptorPath path;
    on_node("@one_device", 2, [&](Rank& rank) {
        const CurrentContext context;
        auto exchange = rank.exchange();
        CUmemoryPool pool = nullptr;
        std::array<CUmemPoolPtrExportData, 2> mine = {};
        std::array<CUdeviceptr, 2> addresses = {};
        if (rank.rank() == 0) {
            const CUmemPoolProps properties = pool_on_device(0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
            ASSERT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
            for (std::size_t i = 0; i < 2; ++i) {
                ASSERT_EQ(cuMemAllocFromPoolAsync(&addresses[i], 5000, pool, nullptr), CUDA_SUCCESS);
                write_bytes(addresses[i], static_cast<unsigned char>(20 + i), 5000);
            }
            EXPECT_EQ(cuMemPoolExportPointer(&mine[0], addresses[0]), CUDA_ERROR_INVALID_VALUE) << "the pool first";
            int descriptor = -1;
            ASSERT_EQ(cuMemPoolExportToShareableHandle(&descriptor, pool, 1, 0), CUDA_SUCCESS);
            path.send(descriptor);
            for (std::size_t i = 0; i < 2; ++i) {
                ASSERT_EQ(cuMemPoolExportPointer(&mine[i], addresses[i]), CUDA_SUCCESS);
            }
        } else {
            const int descriptor = path.receive();
            ASSERT_EQ(cuMemPoolImportFromShareableHandle(&pool, as_pointer(descriptor), 1, 0), CUDA_SUCCESS);
            ::close(descriptor);
        }
        std::array<std::array<CUmemPoolPtrExportData, 2>, 2> all = {};
        ASSERT_TRUE(exchange.allgather(mine.data(), all.data(), sizeof(mine)));
        if (rank.rank() == 1) {
            CUdeviceptr none = 0;
            EXPECT_EQ(cuMemAllocFromPoolAsync(&none, 8, pool, nullptr), CUDA_ERROR_INVALID_VALUE);
            for (std::size_t i = 0; i < 2; ++i) {
                ASSERT_EQ(cuMemPoolImportPointer(&addresses[i], pool, &all[0][i]), CUDA_SUCCESS);
                EXPECT_EQ(read_bytes(addresses[i], 5000),
                          std::vector<unsigned char>(5000, static_cast<unsigned char>(20 + i)));
                EXPECT_EQ(cuMemFree_v2(addresses[i]), CUDA_SUCCESS);
            }
        }
        ASSERT_TRUE(exchange.meet());
        if (rank.rank() == 0) {
            for (const CUdeviceptr address : addresses) {
                EXPECT_EQ(cuMemFreeAsync(address, nullptr), CUDA_SUCCESS);
            }
            EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
            EXPECT_EQ(bytes_in_use(), 0U);
        }
        EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
    });
}

}  // namespace
}  // namespace peercoll::simulator::cuda
