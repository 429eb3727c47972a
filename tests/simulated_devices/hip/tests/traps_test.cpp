// SPDX-License-Identifier: BSD-3-Clause
// The simulated HIP is as unlike CUDA, and its releases as unlike each other, as the real ones are.
#include "tests/unit/gather.hpp"
#include "tests/unit/hip_device/application.hpp"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace peercoll::test {
namespace {

namespace code = hip::code;

class SimulatedHip : public OnHip {};
PEERCOLL_ON_EACH_RELEASE(SimulatedHip);

TEST_P(SimulatedHip, WithoutADeviceSaysSoInTwoWays) {
    on_machine({.variant = "no_device"}, [](Application& application) {
        int number = 7;
        EXPECT_EQ(application.hip.runtime_get_version(&number), code::success);
        EXPECT_EQ(number / 10'000'000, application.major);
        EXPECT_EQ(application.hip.get_device_count(&number), code::no_device);
        EXPECT_EQ(number, 0);
        EXPECT_EQ(application.hip.init(0), code::invalid_device);
        EXPECT_EQ(application.hip.set_device(0), code::invalid_device);
        EXPECT_EQ(application.hip.device_can_access_peer(&number, 0, 1), code::invalid_device);
    });
}

TEST_P(SimulatedHip, KnowsNoHostMemoryBeforeRocm6) {
    on_machine({}, [](Application& application) {
        hip::HipPointerAttributes attributes{};
        const int here = 0;
        const hip::HipError answer = application.hip.pointer_get_attributes(&attributes, &here);
        EXPECT_EQ(answer, application.major < 6 ? code::invalid_value : code::success);
        if (answer == code::success) {
            EXPECT_EQ(attributes.type, 0);
            EXPECT_EQ(attributes.device, -2);
        }
        EXPECT_EQ(application.hip.pointer_get_attributes(&attributes, nullptr),
                  application.major < 7 ? code::invalid_value : code::success);
        EXPECT_EQ(application.hip.memory_get_address_range(nullptr, nullptr, const_cast<int*>(&here)),
                  application.major < 6 ? code::invalid_device_pointer : code::not_found);
    });
}

TEST_P(SimulatedHip, NumbersKindsOfMemoryByItsRelease) {
    on_machine({}, [](Application& application) {
        const auto type_of = [&](std::uint64_t address) {
            hip::HipPointerAttributes attributes{};
            EXPECT_EQ(application.hip.pointer_get_attributes(&attributes, pointer(address)), code::success);
            return attributes.type;
        };
        const bool old = application.major < 6;
        const std::uint64_t memory = application.allocate(100);
        const std::uint64_t managed = application.allocate_managed(100);
        void* pinned = nullptr;
        ASSERT_EQ(application.hip.host_allocate(&pinned, 100, 0), code::success);
        EXPECT_EQ(type_of(memory), old ? 1 : 2);
        EXPECT_EQ(type_of(managed), old ? 0 : 3);
        EXPECT_EQ(type_of(address_of(pinned)), old ? 0 : 1);
        EXPECT_EQ(application.hip.host_free(pinned), code::success);
        application.free(managed);
        application.free(memory);
    });
}

TEST_P(SimulatedHip, WritesAttributesInFewerBytesThanCuda) {
    on_machine({}, [](Application& application) {
        const std::uint64_t memory = application.allocate(5'000);
        constexpr int range_size = 12;
        constexpr int is_managed = 8;
        const auto expect_width = [&](int attribute, std::size_t width) {
            std::array<std::uint8_t, 16> room{};
            room.fill(0xa5);
            ASSERT_EQ(application.hip.pointer_get_attribute(room.data(), attribute, pointer(memory)), code::success);
            for (std::size_t i = width; i < room.size(); ++i) EXPECT_EQ(room[i], 0xa5) << attribute << " at " << i;
        };
        expect_width(hip::pointer_attribute::buffer_id, 4);
        expect_width(range_size, 4);
        expect_width(is_managed, 1);
        expect_width(hip::pointer_attribute::sync_memops, 1);
        application.free(memory);
    });
}

TEST_P(SimulatedHip, KeepsTheLastErrorAsItsReleaseDoes) {
    on_machine({}, [](Application& application) {
        EXPECT_EQ(application.hip.set_device(9), code::invalid_device);
        EXPECT_EQ(application.hip.set_device(0), code::success);
        EXPECT_EQ(application.hip.peek_at_last_error(), application.major < 7 ? code::success : code::invalid_device);
        EXPECT_EQ(application.hip.set_device(9), code::invalid_device);
        EXPECT_EQ(application.hip.get_last_error(), code::invalid_device);
        EXPECT_EQ(application.hip.get_last_error(), code::success);
    });
}

TEST_P(SimulatedHip, AnswersAboutPeersInItsOwnCodes) {
    on_machine({.node = "devices 3\npath 0 2 no\n"}, [](Application& application) {
        int can = -1;
        EXPECT_EQ(application.hip.device_can_access_peer(&can, 7, 7), code::success) << "the same is looked at first";
        EXPECT_EQ(can, 0);
        EXPECT_EQ(application.hip.device_can_access_peer(&can, 0, 7), code::invalid_device);
        EXPECT_EQ(application.hip.device_can_access_peer(nullptr, 0, 1), code::invalid_value);
        EXPECT_EQ(application.hip.device_enable_peer(1, 1), code::invalid_value);
        for (const int denied : {0, 2, 7})
            EXPECT_EQ(application.hip.device_enable_peer(denied, 0), code::invalid_device) << denied;
        EXPECT_EQ(application.hip.device_disable_peer(1), code::peer_access_not_enabled);
        EXPECT_EQ(application.hip.device_enable_peer(1, 0), code::success);
        EXPECT_EQ(application.hip.device_enable_peer(1, 0), code::peer_access_already_enabled);
        EXPECT_EQ(application.hip.device_disable_peer(1), code::success);
        EXPECT_EQ(application.hip.device_disable_peer(2), code::invalid_device);
    });
}

TEST_P(SimulatedHip, CopiesBetweenDevicesThatAreNoPeers) {
    on_machine({.node = "devices 2\n"}, [](Application& application) {
        const std::uint64_t first = application.allocate(100);
        application.write(first, pattern(100, 3));
        application.use(1);
        const std::uint64_t second = application.allocate(100);
        EXPECT_EQ(application.call("hipMemcpyPeer", pointer(second), 1, static_cast<const void*>(pointer(first)), 0,
                                   std::size_t{100}),
                  code::success);
        EXPECT_EQ(application.call("hipMemcpyPeer", pointer(second), 5, static_cast<const void*>(pointer(first)), 0,
                                   std::size_t{100}),
                  code::invalid_device);
        EXPECT_EQ(application.read(second, 100), pattern(100, 3));
        application.free(second);
        application.free(first);
    });
}

// A kernel of device 1 that reads device 0's memory, and what its stream says.
hip::HipError read_by_kernel(std::uint64_t from, std::uint64_t to) {
    peercoll_stream_t stream = nullptr;
    EXPECT_EQ(hip_device().stream_create(1, &stream, nullptr), PEERCOLL_SUCCESS);
    const std::uint32_t end = 1;
    peercoll_fold_t fold{};
    fold.struct_size = sizeof fold;
    fold.datatype = PEERCOLL_BYTE;
    fold.op = PEERCOLL_NO_OP;
    fold.count = 100;
    fold.n_inputs = fold.n_outputs = fold.n_blocks = 1;
    fold.inputs = &from;
    fold.outputs = &to;
    fold.block_ends = &end;
    EXPECT_EQ(hip_device().fold(stream, &fold, nullptr), PEERCOLL_SUCCESS);
    peercoll_reason_t reason{};
    const peercoll_status_t status = hip_device().stream_synchronize(stream, &reason);
    hip_device().stream_destroy(stream);
    return status == PEERCOLL_SUCCESS                     ? code::success
           : std::strstr(reason.text, "(700)") != nullptr ? code::illegal_address
                                                          : code::invalid_value;
}

TEST_P(SimulatedHip, LetsKernelsReachPeersOnlyOnceTheyAreEnabled) {
    for (const bool enabled : {false, true})
        on_machine({.node = "devices 2\n"}, [&](Application& application) {
            const std::uint64_t theirs = application.allocate(100);
            application.write(theirs, pattern(100, 4));
            application.use(1);
            const std::uint64_t mine = application.allocate(100);
            if (enabled) {
                ASSERT_EQ(application.hip.device_enable_peer(0, 0), code::success);
            }
            EXPECT_OPENS();
            EXPECT_EQ(read_by_kernel(theirs, mine), enabled ? code::success : code::illegal_address);
        });
}

TEST_P(SimulatedHip, NamesTheAddressAndNotTheAllocation) {
    run_ranks(2, [&](Rank& rank) {
        Application application(GetParam(), {});
        static_assert(sizeof(hip::HipIpcHandle) == 64);
        const std::uint64_t memory = rank.rank() == 0 ? application.allocate(5000) : 0;
        hip::HipIpcHandle handle{};
        if (rank.rank() == 0) {
            application.write(memory, pattern(5000, 6));
            ASSERT_EQ(application.hip.ipc_get_handle(&handle, pointer(memory + 1000)), code::success);
        }
        handle = gather(rank.exchange(0), handle)[0];
        if (rank.rank() == 1) {
            void* opened = nullptr;
            const unsigned wrong = application.major < 6 ? 1 : 0;
            EXPECT_EQ(application.hip.ipc_open_handle(&opened, handle, wrong), code::invalid_value);
            ASSERT_EQ(application.hip.ipc_open_handle(&opened, handle, 1 - wrong), code::success);
            const std::vector<std::uint8_t> all = pattern(5000, 6);
            EXPECT_EQ(application.read(address_of(opened), 4000), std::vector(all.begin() + 1000, all.end()));
            EXPECT_EQ(application.hip.ipc_close_handle(static_cast<std::byte*>(opened) + 1), code::invalid_value);
            EXPECT_EQ(application.hip.ipc_close_handle(opened), code::success);
            EXPECT_EQ(application.hip.ipc_close_handle(opened), code::invalid_value);
        }
        EXPECT_TRUE(rank.exchange(1).meet());
        if (rank.rank() == 0) application.free(memory);
    });
}

TEST_P(SimulatedHip, HasTheSymbolsOfItsRelease) {
    on_machine({}, [](Application& application) {
        EXPECT_NE(application.hip.get_old_properties, nullptr) << "still there, with the old struct";
        EXPECT_EQ(application.hip.get_new_properties != nullptr, application.major >= 6);
        EXPECT_EQ(application.hip.pointer_set_attribute != nullptr, application.major >= 6);
        const auto has = [&](const char* name) { return hip::HipLibrary::find_loaded()->symbol(name) != nullptr; };
        EXPECT_EQ(has("hipLaunchHostFunc"), application.major >= 6);
        EXPECT_EQ(has("hiprtcCompileProgram"), application.major < 7);
        std::array<char, 4096> properties{};
        ASSERT_EQ(application.hip.get_old_properties(properties.data(), 0), code::success);
        EXPECT_STREQ(properties.data() + 396, "gfx90a:sramecc+:xnack-");
        if (application.major >= 6) {
            ASSERT_EQ(application.hip.get_new_properties(properties.data(), 0), code::success);
            EXPECT_STREQ(properties.data() + 1160, "gfx90a:sramecc+:xnack-");
        }
    });
}

TEST_P(SimulatedHip, TellsAtTheEndWhatWasLeft) {
    const std::string path = "/proc/self/fd/" + std::to_string(::memfd_create("leaks", 0));
    std::fflush(nullptr);  // or the child writes it, too
    const pid_t child = ::fork();
    if (child == 0) {
        ::setenv("PEERCOLL_SIMULATOR_LEAKS", path.c_str(), 1);
        const Application application(GetParam(), {.node = "devices 2\n"});
        (void)application.allocate(100);
        (void)application.hip.device_enable_peer(1, 0);
        hip::HipStream stream = nullptr;
        (void)application.hip.stream_create(&stream, 0);
        std::exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const char* words : {"1 device allocation", "1 stream", "1 peer left enabled"})
        EXPECT_THAT(text, testing::HasSubstr(words));
}

}  // namespace
}  // namespace peercoll::test
