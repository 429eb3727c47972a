// SPDX-License-Identifier: BSD-3-Clause
// Streams and events of our own, copies, flags, and host memory that devices reach.
#include "plugin/device/hip/streams.hpp"
#include "tests/unit/hip_device/application.hpp"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

namespace peercoll::test {
namespace {

using testing::HasSubstr;

struct OwnStream {
    explicit OwnStream(int device = 0) {
        peercoll_reason_t reason{};
        EXPECT_EQ(hip_device().stream_create(device, &stream, &reason), PEERCOLL_SUCCESS) << reason.text;
    }
    ~OwnStream() { hip_device().stream_destroy(stream); }
    OwnStream(const OwnStream&) = delete;
    OwnStream& operator=(const OwnStream&) = delete;
    void synchronize() const { EXPECT_EQ(hip_device().stream_synchronize(stream, nullptr), PEERCOLL_SUCCESS); }
    hip::HipStream handle() const { return hip::stream_of(stream).handle; }
    peercoll_stream_t stream = nullptr;
};

struct OwnEvent {
    explicit OwnEvent(int device = 0) {
        EXPECT_EQ(hip_device().event_create(device, &event, nullptr), PEERCOLL_SUCCESS);
    }
    ~OwnEvent() { hip_device().event_destroy(event); }
    OwnEvent(const OwnEvent&) = delete;
    OwnEvent& operator=(const OwnEvent&) = delete;
    peercoll_event_t event = nullptr;
};

// Work on a stream that ends when the test says so.
class HeldBack {
public:
    HeldBack(const Application& application, const OwnStream& stream) {
        go_.store(false);
        application.call_in(stream.handle(), [](hip::HipStream, hip::HipError, void*) {
            while (!go_.load()) std::this_thread::yield();
        });
    }
    ~HeldBack() { release(); }
    HeldBack(const HeldBack&) = delete;
    HeldBack& operator=(const HeldBack&) = delete;
    static void release() { go_.store(true); }

private:
    static inline std::atomic<bool> go_{false};
};

class HipStream : public OnHip {};
PEERCOLL_ON_EACH_RELEASE(HipStream);
class HipHostMemory : public OnHip {};
PEERCOLL_ON_EACH_RELEASE(HipHostMemory);
class HipMemory : public OnHip {};
PEERCOLL_ON_EACH_RELEASE(HipMemory);
class HipStreamCapture : public OnHip {};
PEERCOLL_ON_EACH_RELEASE(HipStreamCapture);

TEST_P(HipStream, IsBusyUntilItsWorkIsDone) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        const OwnStream stream;
        EXPECT_EQ(hip_device().stream_query(stream.stream, nullptr), PEERCOLL_SUCCESS);
        const HeldBack work(application, stream);
        EXPECT_EQ(hip_device().stream_query(stream.stream, nullptr), PEERCOLL_ERR_BUSY);
        HeldBack::release();
        stream.synchronize();
        EXPECT_EQ(hip_device().stream_query(stream.stream, nullptr), PEERCOLL_SUCCESS);
    });
}

TEST_P(HipStream, NeverWaitsForTheApplicationsOwn) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        const OwnStream stream;
        static std::atomic<bool> go{false};
        application.call_in(nullptr, [](hip::HipStream, hip::HipError, void*) {
            while (!go.load()) std::this_thread::yield();
        });
        const OwnEvent event;
        EXPECT_EQ(hip_device().event_record(event.event, stream.stream, nullptr), PEERCOLL_SUCCESS);
        stream.synchronize();
        go.store(true);
        application.synchronize();
    });
}

TEST_P(HipStream, CopiesBetweenAllMemories) {
    on_machine({.node = "devices 2\n"}, [](Application&) {
        EXPECT_OPENS();
        constexpr std::size_t bytes = 5001;
        std::uint64_t device0 = 0;
        std::uint64_t device1 = 0;
        void* host = nullptr;
        ASSERT_EQ(hip_device().allocate(0, bytes, &device0, nullptr), PEERCOLL_SUCCESS);
        ASSERT_EQ(hip_device().allocate(1, bytes, &device1, nullptr), PEERCOLL_SUCCESS);
        ASSERT_EQ(hip_device().allocate_host(0, 2 * bytes, &host, nullptr), PEERCOLL_SUCCESS);
        auto* const bytes_here = static_cast<std::uint8_t*>(host);
        const std::vector<std::uint8_t> expected = pattern(bytes, 9);
        std::copy(expected.begin(), expected.end(), bytes_here);
        const OwnStream stream;
        const auto copy = [&](std::uint64_t to, std::uint64_t from) {
            peercoll_reason_t reason{};
            EXPECT_EQ(hip_device().copy(stream.stream, to, from, bytes, &reason), PEERCOLL_SUCCESS) << reason.text;
        };
        copy(device0, address_of(host));
        copy(device1, device0);
        copy(address_of(bytes_here + bytes), device1);
        stream.synchronize();
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), bytes_here + bytes));
        EXPECT_EQ(hip_device().copy(stream.stream, 0, 0, 0, nullptr), PEERCOLL_SUCCESS) << "nothing to copy";
        peercoll_reason_t reason{};
        EXPECT_NE(hip_device().copy(stream.stream, device0 + bytes + (1U << 30), device0, 1, &reason),
                  PEERCOLL_SUCCESS);
        EXPECT_THAT(reason.text, HasSubstr("copying 1 bytes"));
        hip_device().free_host(0, host);
        hip_device().free_memory(1, device1);
        hip_device().free_memory(0, device0);
    });
}

TEST_P(HipStream, WaitsForEventsOfOthers) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        const OwnStream first;
        const OwnStream second;
        const OwnEvent middle;
        const OwnEvent end;
        const HeldBack work(application, first);
        ASSERT_EQ(hip_device().event_record(middle.event, first.stream, nullptr), PEERCOLL_SUCCESS);
        ASSERT_EQ(hip_device().stream_wait(second.stream, middle.event, nullptr), PEERCOLL_SUCCESS);
        ASSERT_EQ(hip_device().event_record(end.event, second.stream, nullptr), PEERCOLL_SUCCESS);
        EXPECT_EQ(hip_device().event_query(middle.event, nullptr), PEERCOLL_ERR_BUSY);
        EXPECT_EQ(hip_device().event_query(end.event, nullptr), PEERCOLL_ERR_BUSY);
        EXPECT_EQ(hip_device().stream_query(second.stream, nullptr), PEERCOLL_ERR_BUSY);
        HeldBack::release();
        second.synchronize();
        EXPECT_EQ(hip_device().event_query(middle.event, nullptr), PEERCOLL_SUCCESS);
        EXPECT_EQ(hip_device().event_query(end.event, nullptr), PEERCOLL_SUCCESS);
    });
}

TEST_P(HipStream, TakesNoEventOfAnotherDevice) {
    on_machine({.node = "devices 2\n"}, [](Application&) {
        EXPECT_OPENS();
        const OwnStream stream(0);
        const OwnEvent event(1);
        peercoll_reason_t reason{};
        EXPECT_EQ(hip_device().event_record(event.event, stream.stream, &reason), PEERCOLL_ERR_INVALID_ARGUMENT);
        EXPECT_THAT(reason.text, HasSubstr("expected the same device"));
    });
}

TEST_P(HipStream, ThatOutlivesTheBackendIsRefusedAndCanBeDestroyed) {
    on_machine({}, [](Application&) {
        EXPECT_OPENS();
        const OwnStream stream;
        const OwnEvent event;
        hip_device().close();
        EXPECT_EQ(hip_device().stream_query(stream.stream, nullptr), PEERCOLL_ERR_NOT_SUPPORTED) << "nothing is open";
        EXPECT_OPENS();
        peercoll_reason_t reason{};
        EXPECT_EQ(hip_device().stream_query(stream.stream, &reason), PEERCOLL_ERR_INVALID_ARGUMENT);
        EXPECT_THAT(reason.text, HasSubstr("before the runtime was closed"));
    });
}

TEST_P(HipStream, WritesAFlagBehindItsWorkIntoDeviceAndHostMemory) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        constexpr std::size_t page = 4096;
        void* const shared = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(shared, MAP_FAILED);
        std::uint64_t flag = 0;
        peercoll_reason_t reason{};
        ASSERT_EQ(hip_device().register_host(0, shared, page, &flag, &reason), PEERCOLL_SUCCESS) << reason.text;
        const OwnStream stream;
        auto& word = *static_cast<std::atomic<std::uint64_t>*>(shared);
        {
            const HeldBack work(application, stream);
            ASSERT_EQ(hip_device().write_flag(stream.stream, flag, 0x1234567890abcdef, &reason), PEERCOLL_SUCCESS)
                << reason.text;
            EXPECT_EQ(word.load(), 0U);
        }
        stream.synchronize();
        EXPECT_EQ(word.load(), 0x1234567890abcdefU);
        const std::uint64_t memory = application.allocate(8);
        ASSERT_EQ(hip_device().write_flag(stream.stream, memory, 77, nullptr), PEERCOLL_SUCCESS);
        stream.synchronize();
        EXPECT_EQ(application.read(memory, 1)[0], 77);
        application.free(memory);
        hip_device().unregister_host(0, shared);
        ::munmap(shared, page);
    });
}

TEST_P(HipStream, WritesNoFlagWhereTheDeviceCannot) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        hip::attachment()->devices[0]->writes_flags = false;
        const OwnStream stream;
        const std::uint64_t memory = application.allocate(8);
        peercoll_reason_t reason{};
        EXPECT_EQ(hip_device().write_flag(stream.stream, memory, 77, &reason), PEERCOLL_ERR_NOT_SUPPORTED);
        EXPECT_THAT(reason.text, HasSubstr("cannot write a flag"));
        application.free(memory);
    });
}

TEST_P(HipHostMemory, IsRegisteredOnceForAllDevicesAndUntilTheLastHasLetGo) {
    on_machine({.node = "devices 2\n"}, [](Application&) {
        EXPECT_OPENS();
        constexpr std::size_t page = 4096;
        void* const memory = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(memory, MAP_FAILED);
        std::uint64_t reached = 0;
        for (const int device : {0, 1}) {
            peercoll_reason_t reason{};
            ASSERT_EQ(hip_device().register_host(device, memory, page, &reached, &reason), PEERCOLL_SUCCESS)
                << reason.text;
            EXPECT_NE(reached, 0U);
        }
        EXPECT_EQ(classified(address_of(memory)).kind, PEERCOLL_MEMORY_PINNED);
        hip_device().unregister_host(0, memory);
        EXPECT_EQ(classified(address_of(memory)).kind, PEERCOLL_MEMORY_PINNED);
        hip_device().unregister_host(1, memory);
        EXPECT_EQ(classified(address_of(memory)).kind, PEERCOLL_MEMORY_HOST);
        hip_device().unregister_host(1, memory);  // nothing is left to do
        ::munmap(memory, page);
    });
}

TEST_P(HipHostMemory, ThatTheApplicationRegisteredIsTheApplications) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        constexpr std::size_t page = 4096;
        void* const memory = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(memory, MAP_FAILED);
        ASSERT_EQ(application.hip.host_register(memory, page, hip::host_portable | hip::host_mapped),
                  hip::code::success);
        std::uint64_t reached = 0;
        EXPECT_EQ(hip_device().register_host(0, memory, page, &reached, nullptr), PEERCOLL_SUCCESS);
        hip_device().unregister_host(0, memory);
        EXPECT_EQ(application.hip.host_unregister(memory), hip::code::success) << "still registered";
        ::munmap(memory, page);
    });
}

TEST_P(HipHostMemory, ThatIsNoneIsRefused) {
    on_machine({}, [](Application&) {
        EXPECT_OPENS();
        std::uint64_t reached = 0;
        peercoll_reason_t reason{};
        EXPECT_NE(hip_device().register_host(0, nullptr, 4096, &reached, &reason), PEERCOLL_SUCCESS);
        EXPECT_THAT(reason.text, HasSubstr("registering 4096 bytes"));
        EXPECT_EQ(reached, 0U);
    });
}

TEST_P(HipMemory, ThatIsNotThereHasASentence) {
    on_machine({.node = "devices 1\nmemory 0 64\n"}, [](Application&) {
        EXPECT_OPENS();
        std::uint64_t address = 1;
        peercoll_reason_t reason{};
        EXPECT_EQ(hip_device().allocate(0, std::size_t{1} << 40, &address, &reason), PEERCOLL_ERR_OUT_OF_MEMORY);
        EXPECT_THAT(reason.text, HasSubstr("on HIP device 0"));
        EXPECT_EQ(address, 0U);
        EXPECT_EQ(hip_device().allocate(0, 0, &address, &reason), PEERCOLL_ERR_INVALID_ARGUMENT);
        EXPECT_EQ(hip_device().allocate(3, 10, &address, &reason), PEERCOLL_ERR_INVALID_ARGUMENT);
        EXPECT_THAT(reason.text, HasSubstr("no HIP device 3"));
        hip_device().free_memory(0, 0);
        hip_device().free_host(0, nullptr);
    });
}

TEST_P(HipStreamCapture, OfTheApplicationIsNotSpoiledByOurCalls) {
    on_machine({}, [](Application&) {
        EXPECT_OPENS();
        static int exchanges = 0;
        static int mode_now = 0;  // global, as a thread begins
        hip::attachment()->hip.exchange_capture_mode = [](int* mode) {
            ++exchanges;
            std::swap(mode_now, *mode);
            return hip::code::success + 0;
        };
        static int mode_in_call = -1;
        static const auto allocate = hip::attachment()->hip.memory_allocate;
        hip::attachment()->hip.memory_allocate = [](void** address, std::size_t bytes) {
            mode_in_call = mode_now;
            return allocate(address, bytes);
        };
        std::uint64_t address = 0;
        ASSERT_EQ(hip_device().allocate(0, 100, &address, nullptr), PEERCOLL_SUCCESS);
        EXPECT_EQ(mode_in_call, hip::capture_mode_relaxed);
        EXPECT_EQ(mode_now, 0) << "as it was";
        EXPECT_EQ(exchanges, 2);
        hip_device().free_memory(0, address);
        EXPECT_EQ(mode_now, 0);
    });
}

}  // namespace
}  // namespace peercoll::test
