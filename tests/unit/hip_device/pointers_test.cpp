// SPDX-License-Identifier: BSD-3-Clause
// What the backend says of each kind of memory, whether it is still there, and what it makes complete.
#include "plugin/device/hip/allocation_id.hpp"
#include "tests/unit/hip_device/application.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

namespace peercoll::test {
namespace {

class HipPointer : public OnHip {};
PEERCOLL_ON_EACH_RELEASE(HipPointer);

void expect_allocation(std::uint64_t address, std::uint64_t base, std::uint64_t bytes, std::uint32_t kinds) {
    const peercoll_pointer_info_t info = classified(address);
    EXPECT_EQ(info.kind, PEERCOLL_MEMORY_DEVICE);
    EXPECT_EQ(info.device, 0);
    EXPECT_NE(info.allocation_id, 0U);
    EXPECT_EQ(info.base, base);
    EXPECT_EQ(info.bytes, bytes);
    EXPECT_EQ(info.handle_kinds, kinds);
}

TEST_P(HipPointer, OfHostMemoryIsHostMemory) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        const std::vector<int> heap(10);
        const std::uint64_t memory = application.allocate(1000);
        for (const std::uint64_t address :
             {std::uint64_t{0}, std::uint64_t{1}, address_of(heap.data()), ~std::uint64_t{0}}) {
            const peercoll_pointer_info_t info = classified(address);
            EXPECT_EQ(info.kind, PEERCOLL_MEMORY_HOST) << address;
            EXPECT_EQ(info.device, -1);
            EXPECT_EQ(info.allocation_id, 0U);
            EXPECT_EQ(info.handle_kinds, 0U);
        }
        application.free(memory);
        EXPECT_EQ(classified(memory).kind, PEERCOLL_MEMORY_HOST) << "freed";
    });
}

TEST_P(HipPointer, OfDeviceMemorySaysWhereItsAllocationBegins) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        const std::uint64_t plain = application.allocate(100'000);
        for (int again = 0; again < 2; ++again)  // the second time from what is known
            for (const std::uint64_t offset : {0, 1, 99'999}) expect_allocation(plain + offset, plain, 100'000, by_ipc);
        application.free(plain);
    });
}

TEST_P(HipPointer, OfManagedAndPinnedMemorySaysThatProcessorsReachIt) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        const std::uint64_t managed = application.allocate_managed(8192);
        const peercoll_pointer_info_t info = classified(managed + 100);
        EXPECT_EQ(info.kind, PEERCOLL_MEMORY_MANAGED);
        EXPECT_EQ(info.base, managed);
        EXPECT_EQ(info.bytes, 8192U);
        EXPECT_EQ(info.handle_kinds, 0U);
        void* pinned = nullptr;
        ASSERT_EQ(hip_device().allocate_host(0, 4096, &pinned, nullptr), PEERCOLL_SUCCESS);
        const peercoll_pointer_info_t host = classified(address_of(pinned) + 9);
        EXPECT_EQ(host.kind, PEERCOLL_MEMORY_PINNED);
        EXPECT_EQ(host.device, -1);
        EXPECT_EQ(host.handle_kinds, 0U);
        hip_device().free_host(0, pinned);
        application.free(managed);
    });
}

TEST_P(HipPointer, IntoAPoolIsToldToBeUnshareableWhenItIsNamed) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        const std::uint64_t pooled = application.allocate_from_pool(4096);
        const peercoll_pointer_info_t info = classified(pooled + 5);
        EXPECT_EQ(info.kind, PEERCOLL_MEMORY_DEVICE);
        EXPECT_EQ(info.base, pooled);
        peercoll_memory_handle_t handle{};
        int fd = 0;
        peercoll_reason_t reason{};
        EXPECT_NE(hip_device().export_memory(&info, PEERCOLL_HANDLE_IPC, 0, &handle, &fd, &reason), PEERCOLL_SUCCESS);
        EXPECT_THAT(reason.text, testing::HasSubstr("expected memory of hipMalloc"));
        EXPECT_EQ(handle.kind, 0U);
        application.free(pooled);
    });
}

// Releases without BUFFER_ID cannot tell an address that was freed and allocated anew.
TEST_P(HipPointer, WithoutANumberOfTheRuntimeIsStaged) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        hip::attachment()->hip.pointer_get_attribute = nullptr;
        const std::uint64_t memory = application.allocate(1000);
        const peercoll_pointer_info_t info = classified(memory + 3);
        EXPECT_EQ(info.kind, PEERCOLL_MEMORY_DEVICE);
        EXPECT_EQ(info.base, memory);
        EXPECT_EQ(info.bytes, 1000U);
        EXPECT_EQ(info.allocation_id, 0U);
        EXPECT_EQ(info.handle_kinds, 0U);
        EXPECT_EQ(hip_device().is_live(info.base, info.allocation_id), 0);
        application.free(memory);
    });
}

TEST_P(HipPointer, NumbersAreReadInTheWidthThatTheRuntimeWrites) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        const std::uint64_t memory = application.allocate(1000);
        static const auto ask = application.hip.pointer_get_attribute;
        hip::attachment()->hip.pointer_get_attribute = [](void* value, int attribute, void* address) {
            // A runtime that wrote more than 4 bytes would destroy what lies behind.
            std::uint8_t room[12];
            std::memset(room, 0xa5, sizeof room);
            const hip::HipError error = ask(room, attribute, address);
            for (std::size_t i = 4; i < sizeof room; ++i) EXPECT_EQ(room[i], 0xa5) << i;
            std::memcpy(value, room, sizeof(std::uint64_t));  // with garbage behind the number
            return error;
        };
        const peercoll_pointer_info_t info = classified(memory);
        std::uint32_t number = 0;
        EXPECT_EQ(ask(&number, hip::pointer_attribute::buffer_id, pointer(memory)), hip::code::success);
        EXPECT_EQ(info.allocation_id >> 32, number);
        EXPECT_EQ(hip_device().is_live(info.base, info.allocation_id), 1);
        application.free(memory);
    });
}

TEST(AllocationIds, DifferInTheRuntimesNumberOrInBaseOrSize) {
    const std::uint64_t id = hip::allocation_id(7, 0x7f0000000000, 4096);
    EXPECT_EQ(id >> 32, 7U);
    EXPECT_EQ(id, hip::allocation_id(7, 0x7f0000000000, 4096));
    EXPECT_NE(id, hip::allocation_id(8, 0x7f0000000000, 4096));
    EXPECT_NE(id, hip::allocation_id(7, 0x7f0000200000, 4096));
    EXPECT_NE(id, hip::allocation_id(7, 0x7f0000001000, 4096));
    EXPECT_NE(id, hip::allocation_id(7, 0x7f0000000000, 8192));
    EXPECT_EQ(hip::allocation_id(0, 0x7f0000000000, 4096), 0U);
}

class HipAllocation : public OnHip {};
PEERCOLL_ON_EACH_RELEASE(HipAllocation);

TEST_P(HipAllocation, IsLiveUntilItIsFreedAlsoIfItsAddressIsUsedAgain) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        const std::uint64_t first = application.allocate(1000);
        const peercoll_pointer_info_t info = classified(first);
        EXPECT_EQ(hip_device().is_live(info.base, info.allocation_id), 1);
        EXPECT_EQ(hip_device().is_live(info.base, info.allocation_id + 1), 0);
        EXPECT_EQ(hip_device().is_live(info.base + 1, info.allocation_id), 0);
        EXPECT_EQ(hip_device().is_live(info.base, 0), 0);
        application.free(first);
        EXPECT_EQ(hip_device().is_live(info.base, info.allocation_id), 0);
        for (const std::size_t bytes : {3000, 1000}) {
            const std::uint64_t again = application.allocate(bytes);
            EXPECT_EQ(again, first) << "the case this test is for";
            EXPECT_EQ(hip_device().is_live(info.base, info.allocation_id), 0);
            expect_allocation(again, again, bytes, by_ipc);
            EXPECT_NE(classified(again).allocation_id, info.allocation_id);
            application.free(again);
        }
    });
}

class SettledHipMemory : public OnHip {};
PEERCOLL_ON_EACH_RELEASE(SettledHipMemory);

// Copies "synchronously" from one memory of the device to another, and at once looks from a stream of the backend.
TEST_P(SettledHipMemory, HoldsWhatSynchronousCallsHaveWritten) {
    on_machine({.node = "devices 1\ndelay 2000\n"}, [](Application& application) {
        EXPECT_OPENS();
        constexpr std::size_t bytes = 10'000;
        const std::uint64_t memory = application.allocate(bytes);
        const std::uint64_t source = application.allocate(bytes);
        peercoll_stream_t stream = nullptr;
        ASSERT_EQ(hip_device().stream_create(0, &stream, nullptr), PEERCOLL_SUCCESS);
        void* here = nullptr;
        ASSERT_EQ(hip_device().allocate_host(0, bytes, &here, nullptr), PEERCOLL_SUCCESS);
        for (unsigned round = 0; round < 20; ++round) {
            const std::vector<std::uint8_t> expected = pattern(bytes, round);
            application.write(source, expected);
            constexpr int device_to_device = 3;
            ASSERT_EQ(application.call("hipMemcpy", pointer(memory), static_cast<const void*>(pointer(source)), bytes,
                                       device_to_device),
                      hip::code::success);
            const peercoll_pointer_info_t info = classified(memory);
            int lasting = -1;
            peercoll_reason_t reason{};
            ASSERT_EQ(hip_device().settle(&info, &lasting, &reason), PEERCOLL_SUCCESS) << reason.text;
            EXPECT_EQ(lasting, application.major >= 6 ? 1 : 0) << "SYNC_MEMOPS can be set since 5.5";
            ASSERT_EQ(hip_device().copy(stream, address_of(here), memory, bytes, nullptr), PEERCOLL_SUCCESS);
            ASSERT_EQ(hip_device().stream_synchronize(stream, nullptr), PEERCOLL_SUCCESS);
            ASSERT_TRUE(std::equal(expected.begin(), expected.end(), static_cast<const std::uint8_t*>(here)))
                << "round " << round;
        }
        hip_device().free_host(0, here);
        hip_device().stream_destroy(stream);
        application.free(source);
        application.free(memory);
    });
}

TEST_P(SettledHipMemory, OfTheHostIsSettledAnyway) {
    on_machine({}, [](Application&) {
        EXPECT_OPENS();
        const int here = 0;
        const peercoll_pointer_info_t info = classified(address_of(&here));
        int lasting = 0;
        EXPECT_EQ(hip_device().settle(&info, &lasting, nullptr), PEERCOLL_SUCCESS);
        EXPECT_EQ(lasting, 1);
    });
}

// Our kernels may wait for other processes; settling must not wait for them.
TEST_P(SettledHipMemory, DoesNotWaitForStreamsThatNeverWaitForTheApplication) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        static std::atomic<bool> go{false};
        hip::HipStream stream = nullptr;
        ASSERT_EQ(application.hip.stream_create(&stream, hip::stream_non_blocking), hip::code::success);
        application.call_in(stream, [](hip::HipStream, hip::HipError, void*) {
            while (!go.load()) std::this_thread::yield();
        });
        const std::uint64_t memory = application.allocate(100);
        const peercoll_pointer_info_t info = classified(memory);
        int lasting = 1;
        EXPECT_EQ(hip_device().settle(&info, &lasting, nullptr), PEERCOLL_SUCCESS);
        EXPECT_EQ(application.hip.stream_query(stream), hip::code::not_ready);
        go.store(true);
        EXPECT_EQ(application.hip.stream_synchronize(stream), hip::code::success);
        EXPECT_EQ(application.hip.stream_destroy(stream), hip::code::success);
        application.free(memory);
    });
}

}  // namespace
}  // namespace peercoll::test
