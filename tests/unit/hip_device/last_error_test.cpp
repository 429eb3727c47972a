// SPDX-License-Identifier: BSD-3-Clause
// The error that HIP keeps for each thread: ours are taken, the application's stays.
#include "tests/unit/hip_device/application.hpp"

#include <array>

namespace peercoll::test {
namespace {

class LastError : public OnHip {};
PEERCOLL_ON_EACH_RELEASE(LastError);

// Calls of ours that HIP answers with an error (1 for memory it does not know before ROCm 6, 704, 705), and others.
void use_the_backend(Application& application) {
    const int here = 0;
    (void)classified(address_of(&here));
    EXPECT_EQ(hip_device().is_live(address_of(&here), 77), 0);
    EXPECT_EQ(hip_device().enable_peer(0, 1, nullptr), PEERCOLL_SUCCESS);
    EXPECT_EQ(hip_device().disable_peer(0, 1, nullptr), PEERCOLL_SUCCESS);
    EXPECT_EQ(hip_device().enable_peer(0, 7, nullptr), PEERCOLL_ERR_INVALID_ARGUMENT);
    const std::uint64_t memory = application.allocate(1000);
    EXPECT_EQ(classified(memory).base, memory);
    application.free(memory);
    std::uint64_t none = 0;
    EXPECT_NE(hip_device().allocate(0, std::size_t{1} << 60, &none, nullptr), PEERCOLL_SUCCESS);
    peercoll_stream_t stream = nullptr;
    EXPECT_EQ(hip_device().stream_create(0, &stream, nullptr), PEERCOLL_SUCCESS);
    EXPECT_EQ(hip_device().stream_query(stream, nullptr), PEERCOLL_SUCCESS);
    hip_device().stream_destroy(stream);
}

TEST_P(LastError, IsNoneAfterCallsOfOursThatHadOne) {
    on_machine({.node = "devices 2\n"}, [](Application& application) {
        ASSERT_EQ(application.hip.device_enable_peer(1, 0), hip::code::success);
        EXPECT_OPENS();
        EXPECT_EQ(application.hip.peek_at_last_error(), hip::code::success);
        use_the_backend(application);
        EXPECT_EQ(application.hip.peek_at_last_error(), hip::code::success);
        EXPECT_EQ(application.hip.get_last_error(), hip::code::success);
        ASSERT_EQ(application.hip.device_disable_peer(1), hip::code::success) << "still enabled";
    });
}

TEST_P(LastError, OfTheApplicationIsStillThereAfterEachOfOurCalls) {
    on_machine({.node = "devices 2\n"}, [](Application& application) {
        application.use(1);
        const auto fail = [&] { ASSERT_EQ(application.hip.set_device(99), hip::code::invalid_device); };
        const auto expect_kept = [&](const char* call) {
            EXPECT_EQ(application.hip.peek_at_last_error(), hip::code::invalid_device) << call;
            EXPECT_EQ(application.hip.get_last_error(), hip::code::invalid_device) << call;
            EXPECT_EQ(application.current(), 1);
        };
        fail();
        EXPECT_OPENS();
        expect_kept("open");
        const std::uint64_t memory = application.allocate(1000);
        const int here = 0;
        for (const std::uint64_t address : {memory, address_of(&here)}) {
            fail();
            (void)classified(address);
            expect_kept("classify");
        }
        fail();
        EXPECT_EQ(hip_device().enable_peer(1, 0, nullptr), PEERCOLL_SUCCESS);
        expect_kept("enable_peer");
        fail();
        std::uint64_t ours = 0;
        EXPECT_EQ(hip_device().allocate(0, 100, &ours, nullptr), PEERCOLL_SUCCESS);
        expect_kept("allocate");
        EXPECT_EQ(classified(ours).device, 0);
        fail();
        EXPECT_NE(hip_device().allocate(0, std::size_t{1} << 60, &ours, nullptr), PEERCOLL_SUCCESS);
        expect_kept("an allocation that fails");
        hip_device().close();
        EXPECT_OPENS();
        fail();
        hip_device().close();
        expect_kept("close");
        application.free(memory);
    });
}

}  // namespace
}  // namespace peercoll::test
