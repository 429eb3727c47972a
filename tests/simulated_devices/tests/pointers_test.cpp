// SPDX-License-Identifier: BSD-3-Clause
// What the driver says of pointers: as measured on a real one (facts in the comments of cuda/pointers.cpp).
#include "tests/simulated_devices/tests/on_node.hpp"

#include <array>

namespace peercoll::simulator::cuda {
namespace {

constexpr std::size_t MiB = 1U << 20;

struct Answers {
    unsigned type = 99;
    int device = 99;
    unsigned long long id = 99;
    std::uint64_t legacy = 0;
    CUresult result = CUDA_SUCCESS;
};

Answers ask_all(CUdeviceptr address) {
    Answers answers;
    std::array<int, 4> attributes = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                     CU_POINTER_ATTRIBUTE_BUFFER_ID, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE};
    std::array<void*, 4> data = {&answers.type, &answers.device, &answers.id, &answers.legacy};
    answers.result = cuPointerGetAttributes(attributes.size(), attributes.data(), data.data(), address);
    return answers;
}

unsigned long long buffer_id(CUdeviceptr address) {
    unsigned long long id = 0;
    EXPECT_EQ(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, address), CUDA_SUCCESS);
    return id;
}

TEST(Pointers, AnUnknownOneIsAnErrorForOneQuestionAndNothingForSeveral) {
    on_node("@one_device", 1, [](Rank&) {
        int on_stack = 0;
        for (const CUdeviceptr address : {CUdeviceptr{0}, CUdeviceptr{1}, reinterpret_cast<CUdeviceptr>(&on_stack)}) {
            unsigned type = 77;
            EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address),
                      CUDA_ERROR_INVALID_VALUE);
            EXPECT_EQ(type, 77U) << "the output is left alone";
            const Answers answers = ask_all(address);
            EXPECT_EQ(answers.result, CUDA_SUCCESS);
            EXPECT_EQ(answers.type, 0U);
            EXPECT_EQ(answers.device, -2);
            EXPECT_EQ(answers.id, 0U);
            EXPECT_EQ(cuMemGetAddressRange_v2(nullptr, nullptr, address), CUDA_ERROR_INVALID_CONTEXT);
            const CurrentContext context;
            EXPECT_EQ(cuMemGetAddressRange_v2(nullptr, nullptr, address), CUDA_ERROR_NOT_FOUND);
        }
    });
}

TEST(Pointers, KnownOnesUpToTheirLastByteAndWithoutAContext) {
    on_node("@two_devices", 1, [](Rank&) {
        CUdeviceptr address = 0;
        {
            const CurrentContext context(1);
            address = allocate(3000);
            CUcontext popped = nullptr;
            ASSERT_EQ(cuCtxPopCurrent_v2(&popped), CUDA_SUCCESS);
            const Answers answers = ask_all(address + 2999);
            EXPECT_EQ(answers.type, CU_MEMORYTYPE_DEVICE);
            EXPECT_EQ(answers.device, 1);
            EXPECT_EQ(answers.legacy, 1U);
            EXPECT_EQ(ask_all(address + 3000).type, 0U);
            CUdeviceptr device_pointer = 0;
            EXPECT_EQ(cuPointerGetAttribute(&device_pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address),
                      CUDA_ERROR_INVALID_CONTEXT);
            ASSERT_EQ(cuCtxPushCurrent_v2(popped), CUDA_SUCCESS);
            CUdeviceptr base = 0;
            std::size_t bytes = 0;
            EXPECT_EQ(cuMemGetAddressRange_v2(&base, &bytes, address + 1000), CUDA_SUCCESS);
            EXPECT_EQ(base, address);
            EXPECT_EQ(bytes, 3000U);
            EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
        }
        EXPECT_EQ(ask_all(address).type, 0U);
    });
}

TEST(Pointers, AReusedAddressHasAnotherBufferId) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        const CUdeviceptr first = allocate(MiB);
        const unsigned long long first_id = buffer_id(first);
        EXPECT_EQ(buffer_id(first + 5), first_id);
        EXPECT_EQ(cuMemFree_v2(first), CUDA_SUCCESS);
        unsigned long long id = 0;
        EXPECT_EQ(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, first), CUDA_ERROR_INVALID_VALUE);
        const CUdeviceptr second = allocate(MiB);
        EXPECT_EQ(second, first);
        EXPECT_NE(buffer_id(second), first_id);
        EXPECT_EQ(cuMemFree_v2(second), CUDA_SUCCESS);
    });
}

TEST(Pointers, BooleanAnswersAreOneByteWide) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        const CUdeviceptr address = allocate(MiB);
        for (const int attribute : {CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, CU_POINTER_ATTRIBUTE_MAPPED}) {
            std::uint64_t word = ~std::uint64_t{0};
            EXPECT_EQ(cuPointerGetAttribute(&word, attribute, address), CUDA_SUCCESS);
            EXPECT_EQ(word, ~std::uint64_t{0xff} | 1);
        }
        EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
    });
}

TEST(Pointers, HostMemoryOfTheDriverIsKnownAndIsWhereItIs) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        void* pinned = nullptr;
        ASSERT_EQ(cuMemHostAlloc(&pinned, 4096, 0), CUDA_SUCCESS);
        EXPECT_EQ(ask_all(reinterpret_cast<CUdeviceptr>(pinned)).type, CU_MEMORYTYPE_HOST);
        EXPECT_EQ(ask_all(reinterpret_cast<CUdeviceptr>(pinned)).legacy, 0U);
        EXPECT_EQ(cuMemHostRegister_v2(pinned, 4096, 0), CUDA_ERROR_INVALID_VALUE);
        std::vector<char> own(10000);
        EXPECT_EQ(cuMemHostRegister_v2(own.data(), own.size(), 0), CUDA_SUCCESS);
        EXPECT_EQ(cuMemHostRegister_v2(own.data() + 100, 8, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
        CUdeviceptr device_pointer = 0;
        EXPECT_EQ(cuMemHostGetDevicePointer_v2(&device_pointer, own.data(), 0), CUDA_SUCCESS);
        EXPECT_EQ(launch_store(nullptr, device_pointer, 3, own.size()), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        EXPECT_EQ(own, std::vector<char>(own.size(), 3));
        EXPECT_EQ(cuMemHostUnregister(own.data()), CUDA_SUCCESS);
        EXPECT_EQ(cuMemHostUnregister(own.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
        EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
    });
}

TEST(Pointers, SyncMemopsCannotBeSetForVirtualMemory) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        const unsigned on = 1;
        const CUdeviceptr plain = allocate(MiB);
        EXPECT_EQ(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, plain), CUDA_SUCCESS);
        EXPECT_EQ(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 1), CUDA_ERROR_INVALID_VALUE);
        CUmemAllocationProp properties = {};
        properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        CUmemGenericAllocationHandle handle = 0;
        CUdeviceptr address = 0;
        ASSERT_EQ(cuMemCreate(&handle, 2 * MiB, &properties, 0), CUDA_SUCCESS);
        ASSERT_EQ(cuMemAddressReserve(&address, 2 * MiB, 0, 0, 0), CUDA_SUCCESS);
        ASSERT_EQ(cuMemMap(address, 2 * MiB, 0, handle, 0), CUDA_SUCCESS);
        EXPECT_EQ(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address), CUDA_ERROR_NOT_SUPPORTED);
        EXPECT_EQ(cuMemUnmap(address, 2 * MiB), CUDA_SUCCESS);
        EXPECT_EQ(cuMemAddressFree(address, 2 * MiB), CUDA_SUCCESS);
        EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
        EXPECT_EQ(cuMemFree_v2(plain), CUDA_SUCCESS);
        EXPECT_EQ(bytes_in_use(), 0U);
    });
}

}  // namespace
}  // namespace peercoll::simulator::cuda
