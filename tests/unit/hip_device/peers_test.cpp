// SPDX-License-Identifier: BSD-3-Clause
// Access between the devices of one process: counted, and what the application enabled is the application's.
#include "tests/unit/hip_device/application.hpp"

#include <gmock/gmock.h>

namespace peercoll::test {
namespace {

using testing::HasSubstr;

class HipPeerAccess : public OnHip {};
PEERCOLL_ON_EACH_RELEASE(HipPeerAccess);

// The runtime's own answer: whether `device` has access to `peer` enabled now. Leaves it as it was.
bool is_enabled(Application& application, int device, int peer) {
    const int before = application.current();
    application.use(device);
    const hip::HipError answer = application.hip.device_enable_peer(peer, 0);
    if (answer == hip::code::success) {
        EXPECT_EQ(application.hip.device_disable_peer(peer), hip::code::success);
    }
    application.use(before);
    (void)application.hip.get_last_error();
    return answer == hip::code::peer_access_already_enabled;
}

void enable(int device, int peer) {
    peercoll_reason_t reason{};
    EXPECT_EQ(hip_device().enable_peer(device, peer, &reason), PEERCOLL_SUCCESS) << reason.text;
}

void disable(int device, int peer) {
    peercoll_reason_t reason{};
    EXPECT_EQ(hip_device().disable_peer(device, peer, &reason), PEERCOLL_SUCCESS) << reason.text;
}

TEST_P(HipPeerAccess, IsTakenBackWhenItWasDisabledAsOftenAsEnabled) {
    on_machine({.node = "devices 2\n"}, [](Application& application) {
        EXPECT_OPENS();
        enable(0, 1);
        enable(0, 1);
        EXPECT_TRUE(is_enabled(application, 0, 1));
        EXPECT_FALSE(is_enabled(application, 1, 0)) << "one direction";
        disable(0, 1);
        EXPECT_TRUE(is_enabled(application, 0, 1));
        disable(0, 1);
        EXPECT_FALSE(is_enabled(application, 0, 1));
        peercoll_reason_t reason{};
        EXPECT_EQ(hip_device().disable_peer(0, 1, &reason), PEERCOLL_ERR_INVALID_ARGUMENT);
        EXPECT_THAT(reason.text, HasSubstr("not enabled"));
    });
}

TEST_P(HipPeerAccess, ThatTheApplicationEnabledIsNeverDisabled) {
    on_machine({.node = "devices 2\n"}, [](Application& application) {
        ASSERT_EQ(application.hip.device_enable_peer(1, 0), hip::code::success);
        EXPECT_OPENS();
        enable(0, 1);
        disable(0, 1);
        EXPECT_TRUE(is_enabled(application, 0, 1));
        enable(0, 1);
        hip_device().close();
        EXPECT_TRUE(is_enabled(application, 0, 1));
        EXPECT_EQ(application.hip.device_disable_peer(1), hip::code::success);
    });
}

TEST_P(HipPeerAccess, ThatTheApplicationDisabledMeanwhileIsNoError) {
    on_machine({.node = "devices 2\n"}, [](Application& application) {
        EXPECT_OPENS();
        enable(0, 1);
        ASSERT_EQ(application.hip.device_disable_peer(1), hip::code::success);
        disable(0, 1);
    });
}

TEST_P(HipPeerAccess, IsDisabledWhenTheBackendIsClosed) {
    on_machine({.node = "devices 2\n"}, [](Application& application) {
        EXPECT_OPENS();
        enable(1, 0);
        EXPECT_TRUE(is_enabled(application, 1, 0));
        hip_device().close();
        EXPECT_FALSE(is_enabled(application, 1, 0));
    });
}

TEST_P(HipPeerAccess, OfADeviceToItselfIsThereThoughHipDeniesIt) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        int can = -1;
        EXPECT_EQ(application.hip.device_can_access_peer(&can, 0, 0), hip::code::success);
        EXPECT_EQ(can, 0);
        EXPECT_EQ(hip_device().can_access_peer(0, 0), 1);
        enable(0, 0);
        disable(0, 0);
        EXPECT_EQ(application.hip.device_can_access_peer(&can, 5, 5), hip::code::success) << "no such device";
        EXPECT_EQ(hip_device().can_access_peer(5, 5), 0);
        EXPECT_EQ(hip_device().can_access_peer(0, 1), 0);
        EXPECT_EQ(hip_device().enable_peer(0, 1, nullptr), PEERCOLL_ERR_INVALID_ARGUMENT);
    });
}

TEST_P(HipPeerAccess, ThatTheRuntimeDeniesHasASentence) {
    on_machine({.node = "devices 2\npath 0 1 no\n"}, [](Application&) {
        EXPECT_OPENS();
        EXPECT_EQ(hip_device().can_access_peer(0, 1), 0);
        EXPECT_EQ(hip_device().can_access_peer(1, 0), 1);
        peercoll_reason_t reason{};
        EXPECT_EQ(hip_device().enable_peer(0, 1, &reason), PEERCOLL_ERR_NOT_SUPPORTED);
        EXPECT_THAT(reason.text, HasSubstr("(101)"));
        EXPECT_THAT(reason.text, HasSubstr("cannot reach each other"));
    });
}

}  // namespace
}  // namespace peercoll::test
