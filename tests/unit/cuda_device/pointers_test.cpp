// SPDX-License-Identifier: BSD-3-Clause
// What the backend says of each kind of memory, whether it is still there, and what it makes complete.
#include "tests/unit/cuda_device/application.hpp"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace peercoll::test {
namespace {

constexpr std::uint32_t no_kind = 0;

void expect_allocation(std::uint64_t address, std::uint64_t base, std::uint64_t bytes, std::uint32_t kinds) {
    const peercoll_pointer_info_t info = classified(address);
    EXPECT_EQ(info.kind, PEERCOLL_MEMORY_DEVICE);
    EXPECT_EQ(info.device, 0);
    EXPECT_NE(info.allocation_id, 0U);
    EXPECT_EQ(info.base, base);
    EXPECT_EQ(info.bytes, bytes);
    EXPECT_EQ(info.handle_kinds, kinds);
}

TEST(CudaPointer, OfHostMemoryIsHostMemory) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        const std::vector<int> heap(10);
        const cuda::CuAddress memory = application.allocate(1000);
        for (const std::uint64_t address :
             {std::uint64_t{0}, std::uint64_t{1}, reinterpret_cast<std::uint64_t>(heap.data()), ~std::uint64_t{0}}) {
            const peercoll_pointer_info_t info = classified(address);
            EXPECT_EQ(info.kind, PEERCOLL_MEMORY_HOST) << address;
            EXPECT_EQ(info.device, -1);
            EXPECT_EQ(info.allocation_id, 0U);
            EXPECT_EQ(info.handle_kinds, no_kind);
        }
        application.free(memory);
        EXPECT_EQ(classified(memory).kind, PEERCOLL_MEMORY_HOST) << "freed";
    });
}

TEST(CudaPointer, NeedsNoCurrentContextToBeKnown) {
    on_machine({}, [](Application& application) {
        cuda::CuAddress memory = 0;
        {
            application.use(0);
            memory = application.allocate(5000);
            cuda::CuContext popped = nullptr;
            ASSERT_EQ(application.cu.context_pop(&popped), cuda::code::success);
            EXPECT_OPENS();
            expect_allocation(memory, memory, 5000, kind_bit(PEERCOLL_HANDLE_IPC));
            ASSERT_EQ(application.cu.context_get_current(&popped), cuda::code::success);
            EXPECT_EQ(popped, nullptr);
            ASSERT_EQ(application.cu.primary_context_retain(&popped, 0), cuda::code::success);
            ASSERT_EQ(application.cu.context_push(popped), cuda::code::success);
            ASSERT_EQ(application.cu.primary_context_release(0), cuda::code::success);
        }
        application.free(memory);
    });
}

TEST(CudaPointer, OfEachKindOfMemorySaysHowItCanBeShared) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        const cuda::CuAddress plain = application.allocate(100'000);
        for (int again = 0; again < 2; ++again)  // the second time from what is known
            for (const std::uint64_t offset : {0, 1, 99'999})
                expect_allocation(plain + offset, plain, 100'000, kind_bit(PEERCOLL_HANDLE_IPC));
        const cuda::CuAddress async = application.allocate_async(4096);
        expect_allocation(async + 5, async, 4096, no_kind);
        const cuda::CuAddress pooled = application.allocate_from(application.make_pool(1), 4096);
        expect_allocation(pooled + 5, pooled, 4096, kind_bit(PEERCOLL_HANDLE_POOL_FD));
        const cuda::CuAddress physical = application.map_physical(granule, 1);
        expect_allocation(physical + granule - 1, physical, granule, kind_bit(PEERCOLL_HANDLE_FD));
        const cuda::CuAddress unnamed = application.map_physical(granule, 0);
        expect_allocation(unnamed, unnamed, granule, no_kind);
    });
}

TEST(CudaPointer, IntoARangeOfSeveralPhysicalAllocationsNamesOnlyItsOwn) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        cuda::CuAddress range = 0;
        ASSERT_EQ(application.cu.address_reserve(&range, 2 * granule, 0, 0, 0), cuda::code::success);
        application.map_piece(range, granule, 1);
        application.map_piece(range + granule, granule, 1);
        const peercoll_pointer_info_t first = classified(range);
        const peercoll_pointer_info_t second = classified(range + granule);
        // Either each piece is an allocation of its own, or the whole range is one that cannot be named.
        EXPECT_TRUE(first.bytes == granule || first.handle_kinds == no_kind);
        EXPECT_TRUE(second.base == range + granule || second.handle_kinds == no_kind);
    });
}

TEST(CudaPointer, OfARangeWhoseEndsAreDifferentAllocationsHasNoHandle) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        static cuda::CuAddress range = 0;
        ASSERT_EQ(application.cu.address_reserve(&range, 2 * granule, 0, 0, 0), cuda::code::success);
        application.map_piece(range, granule, 1);
        application.map_piece(range + granule, granule, 1);
        // A driver that counts neighbours as one range.
        cuda::attachment()->driver.memory_get_address_range = [](cuda::CuAddress* base, std::size_t* bytes,
                                                                 cuda::CuAddress) {
            *base = range;
            *bytes = 2 * granule;
            return cuda::code::success + 0;
        };
        expect_allocation(range + 7, range, 2 * granule, no_kind);
        expect_allocation(range + granule + 7, range, 2 * granule, no_kind);
    });
}

TEST(CudaPointer, OfManagedAndPinnedMemorySaysThatProcessorsReachIt) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        const cuda::CuAddress managed = application.allocate_managed(8192);
        const peercoll_pointer_info_t info = classified(managed + 100);
        EXPECT_EQ(info.kind, PEERCOLL_MEMORY_MANAGED);
        EXPECT_EQ(info.base, managed);
        EXPECT_EQ(info.bytes, 8192U);
        EXPECT_EQ(info.handle_kinds, no_kind);
        void* pinned = nullptr;
        ASSERT_EQ(cuda_device().allocate_host(0, 4096, &pinned, nullptr), PEERCOLL_SUCCESS);
        const peercoll_pointer_info_t host = classified(reinterpret_cast<std::uint64_t>(pinned) + 9);
        EXPECT_EQ(host.kind, PEERCOLL_MEMORY_PINNED);
        EXPECT_EQ(host.device, -1);
        EXPECT_EQ(host.handle_kinds, no_kind);
        cuda_device().free_host(0, pinned);
        application.free(managed);
    });
}

TEST(CudaPointer, IsAskedForWithoutPoolsWhereTheDriverDoesNotKnowThem) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        cuda::attachment()->pointer_attributes -= 1;
        const cuda::CuAddress memory = application.allocate(1000);
        expect_allocation(memory, memory, 1000, kind_bit(PEERCOLL_HANDLE_IPC));
        application.free(memory);
    });
}

TEST(CudaAllocation, IsLiveUntilItIsFreedAlsoIfItsAddressIsUsedAgain) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        const cuda::CuAddress first = application.allocate(1000);
        const peercoll_pointer_info_t info = classified(first);
        EXPECT_EQ(cuda_device().is_live(info.base, info.allocation_id), 1);
        EXPECT_EQ(cuda_device().is_live(info.base, info.allocation_id + 1), 0);
        EXPECT_EQ(cuda_device().is_live(info.base, 0), 0);
        application.free(first);
        EXPECT_EQ(cuda_device().is_live(info.base, info.allocation_id), 0);
        const cuda::CuAddress second = application.allocate(3000);
        EXPECT_EQ(second, first) << "the case this test is for";
        EXPECT_EQ(cuda_device().is_live(info.base, info.allocation_id), 0);
        expect_allocation(second, second, 3000, kind_bit(PEERCOLL_HANDLE_IPC));
        application.free(second);
    });
}

// Copies "synchronously" from one memory of the device to another, and at once looks from a stream of the backend.
void expect_settled_copies(Application& application, cuda::CuAddress memory, int lasting_expected) {
    constexpr std::size_t bytes = 10'000;
    const cuda::CuAddress source = application.allocate(bytes);
    peercoll_stream_t stream = nullptr;
    ASSERT_EQ(cuda_device().stream_create(0, &stream, nullptr), PEERCOLL_SUCCESS);
    void* here = nullptr;
    ASSERT_EQ(cuda_device().allocate_host(0, bytes, &here, nullptr), PEERCOLL_SUCCESS);
    for (unsigned round = 0; round < 20; ++round) {
        const std::vector<std::uint8_t> expected = pattern(bytes, round);
        application.write(source, expected);
        ASSERT_EQ(application.call("cuMemcpyDtoD_v2", memory, source, bytes), cuda::code::success);
        const peercoll_pointer_info_t info = classified(memory);
        int lasting = -1;
        peercoll_reason_t reason{};
        ASSERT_EQ(cuda_device().settle(&info, &lasting, &reason), PEERCOLL_SUCCESS) << reason.text;
        EXPECT_EQ(lasting, lasting_expected);
        ASSERT_EQ(cuda_device().copy(stream, reinterpret_cast<std::uint64_t>(here), memory, bytes, nullptr),
                  PEERCOLL_SUCCESS);
        ASSERT_EQ(cuda_device().stream_synchronize(stream, nullptr), PEERCOLL_SUCCESS);
        const auto* const seen = static_cast<const std::uint8_t*>(here);
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), seen)) << "round " << round;
    }
    cuda_device().free_host(0, here);
    cuda_device().stream_destroy(stream);
    application.free(source);
}

TEST(SettledMemory, HoldsWhatSynchronousCallsHaveWritten) {
    on_machine({.node = "devices 1\ndelay 2000\n"}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        const cuda::CuAddress memory = application.allocate(10'000);
        expect_settled_copies(application, memory, 1);
        application.free(memory);
    });
}

TEST(SettledMemory, OfPhysicalAllocationsIsSettledOnlyForNow) {
    on_machine({.node = "devices 1\ndelay 2000\n"}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        expect_settled_copies(application, application.map_physical(granule, 1), 0);
    });
}

TEST(SettledMemory, OfPoolsIsSettledOnlyForNow) {
    on_machine({.node = "devices 1\ndelay 2000\n"}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        expect_settled_copies(application, application.allocate_async(10'000), 0);
        expect_settled_copies(application, application.allocate_from(application.make_pool(1, 0), 10'000), 0);
        expect_settled_copies(application, application.allocate_managed(10'000), 0);
    });
}

TEST(SettledMemory, OfTheHostIsSettledAnyway) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        const int here = 0;
        const peercoll_pointer_info_t info = classified(reinterpret_cast<std::uint64_t>(&here));
        int lasting = 0;
        EXPECT_EQ(cuda_device().settle(&info, &lasting, nullptr), PEERCOLL_SUCCESS);
        EXPECT_EQ(lasting, 1);
    });
}

// Our kernels may wait for other processes; settling must not wait for them.
TEST(SettledMemory, DoesNotWaitForStreamsThatNeverWaitForTheApplication) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        static std::atomic<bool> go{false};
        cuda::CuStream stream = nullptr;
        ASSERT_EQ(application.cu.stream_create(&stream, cuda::stream_non_blocking), cuda::code::success);
        void (*const wait)(void*) = [](void*) {
            while (!go.load()) std::this_thread::yield();
        };
        ASSERT_EQ(application.call("cuLaunchHostFunc", stream, wait, static_cast<void*>(nullptr)), cuda::code::success);
        const peercoll_pointer_info_t info = classified(application.map_physical(granule, 1));
        int lasting = 1;
        EXPECT_EQ(cuda_device().settle(&info, &lasting, nullptr), PEERCOLL_SUCCESS);
        EXPECT_EQ(lasting, 0);
        EXPECT_EQ(application.cu.stream_query(stream), cuda::code::not_ready);
        go.store(true);
        EXPECT_EQ(application.cu.stream_synchronize(stream), cuda::code::success);
        EXPECT_EQ(application.cu.stream_destroy(stream), cuda::code::success);
    });
}

}  // namespace
}  // namespace peercoll::test
