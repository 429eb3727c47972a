// SPDX-License-Identifier: BSD-3-Clause
// Access between the devices of one process: counted, and what the application enabled is the application's.
#include "tests/unit/cuda_device/application.hpp"

#include <gmock/gmock.h>

namespace peercoll::test {
namespace {

using testing::HasSubstr;

// The driver's own answer: whether the context of `device` has access to `peer` enabled now. Leaves it as it was.
bool is_enabled(Application& application, int device, int peer) {
    cuda::CuContext from = nullptr;
    cuda::CuContext to = nullptr;
    EXPECT_EQ(application.cu.primary_context_retain(&from, device), cuda::code::success);
    EXPECT_EQ(application.cu.primary_context_retain(&to, peer), cuda::code::success);
    EXPECT_EQ(application.cu.context_push(from), cuda::code::success);
    const cuda::CuResult answer = application.cu.context_enable_peer(to, 0);
    if (answer == cuda::code::success) {
        EXPECT_EQ(application.cu.context_disable_peer(to), cuda::code::success);
    }
    EXPECT_EQ(application.cu.context_pop(&from), cuda::code::success);
    EXPECT_EQ(application.cu.primary_context_release(device), cuda::code::success);
    EXPECT_EQ(application.cu.primary_context_release(peer), cuda::code::success);
    return answer == cuda::code::peer_access_already_enabled;
}

void enable(int device, int peer) {
    peercoll_reason_t reason{};
    EXPECT_EQ(cuda_device().enable_peer(device, peer, &reason), PEERCOLL_SUCCESS) << reason.text;
}

void disable(int device, int peer) {
    peercoll_reason_t reason{};
    EXPECT_EQ(cuda_device().disable_peer(device, peer, &reason), PEERCOLL_SUCCESS) << reason.text;
}

TEST(PeerAccess, IsTakenBackWhenItWasDisabledAsOftenAsEnabled) {
    on_machine({.node = "devices 2\n"}, [](Application& application) {
        application.use(1);
        application.use(0);
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
        EXPECT_EQ(cuda_device().disable_peer(0, 1, &reason), PEERCOLL_ERR_INVALID_ARGUMENT);
        EXPECT_THAT(reason.text, HasSubstr("not enabled"));
    });
}

TEST(PeerAccess, ThatTheApplicationEnabledIsNeverDisabled) {
    on_machine({.node = "devices 2\n"}, [](Application& application) {
        application.use(1);
        cuda::CuContext peer = nullptr;
        ASSERT_EQ(application.cu.context_get_current(&peer), cuda::code::success);
        application.use(0);
        ASSERT_EQ(application.cu.context_enable_peer(peer, 0), cuda::code::success);
        EXPECT_OPENS();
        enable(0, 1);
        disable(0, 1);
        EXPECT_TRUE(is_enabled(application, 0, 1));
        enable(0, 1);
        cuda_device().close();
        EXPECT_TRUE(is_enabled(application, 0, 1));
    });
}

TEST(PeerAccess, ThatTheApplicationDisabledMeanwhileIsNoError) {
    on_machine({.node = "devices 2\n"}, [](Application& application) {
        application.use(1);
        cuda::CuContext peer = nullptr;
        ASSERT_EQ(application.cu.context_get_current(&peer), cuda::code::success);
        application.use(0);
        EXPECT_OPENS();
        enable(0, 1);
        ASSERT_EQ(application.cu.context_disable_peer(peer), cuda::code::success);
        disable(0, 1);
    });
}

TEST(PeerAccess, IsDisabledWhenTheBackendIsClosed) {
    on_machine({.node = "devices 2\n"}, [](Application& application) {
        application.use(1);
        application.use(0);
        EXPECT_OPENS();
        enable(1, 0);
        EXPECT_TRUE(is_enabled(application, 1, 0));
        cuda_device().close();
        EXPECT_FALSE(is_enabled(application, 1, 0));
    });
}

TEST(PeerAccess, OfADeviceToItselfIsThere) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        EXPECT_EQ(cuda_device().can_access_peer(0, 0), 1);
        enable(0, 0);
        disable(0, 0);
        EXPECT_EQ(cuda_device().can_access_peer(0, 1), 0) << "no such device";
        EXPECT_EQ(cuda_device().enable_peer(0, 1, nullptr), PEERCOLL_ERR_INVALID_ARGUMENT);
    });
}

TEST(PeerAccess, ThatTheDriverDeniesHasASentence) {
    on_machine({.node = "devices 2\npath 0 1 no\n"}, [](Application& application) {
        application.use(1);
        application.use(0);
        EXPECT_OPENS();
        EXPECT_EQ(cuda_device().can_access_peer(0, 1), 0);
        EXPECT_EQ(cuda_device().can_access_peer(1, 0), 1);
        peercoll_reason_t reason{};
        EXPECT_EQ(cuda_device().enable_peer(0, 1, &reason), PEERCOLL_ERR_NOT_SUPPORTED);
        EXPECT_THAT(reason.text, HasSubstr("(217)"));
        EXPECT_THAT(reason.text, HasSubstr("cannot reach each other"));
    });
}

TEST(PeerAccess, BeyondWhatTheHardwareCanHasASentence) {
    on_machine({.node = "devices 3\npeers 1\n"}, [](Application& application) {
        application.use(2);
        application.use(1);
        application.use(0);
        EXPECT_OPENS();
        enable(0, 1);
        peercoll_reason_t reason{};
        EXPECT_EQ(cuda_device().enable_peer(0, 2, &reason), PEERCOLL_ERR_NOT_SUPPORTED);
        EXPECT_THAT(reason.text, HasSubstr("(711)"));
        EXPECT_THAT(reason.text, HasSubstr("as many peers"));
        disable(0, 1);
        enable(0, 2);
    });
}

}  // namespace
}  // namespace peercoll::test
