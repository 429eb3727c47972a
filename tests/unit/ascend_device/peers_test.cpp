// SPDX-License-Identifier: BSD-3-Clause
// Access between the devices of one process: both directions at once, counted, and dies of one package.
#include "tests/unit/ascend_device/application.hpp"

#include <gmock/gmock.h>

namespace peercoll::test {
namespace {

using testing::HasSubstr;

class AscendPeers : public OnAscend {};
PEERCOLL_ON_EACH_LIBRARY(AscendPeers);

// Whether a copy from device 0 to device 1 is taken now.
bool is_reached(const Application& application, std::uint64_t on_one, std::uint64_t on_zero) {
    return application.acl.memory_copy(pointer(on_one), 10, pointer(on_zero), 10,
                                       ascend::copy_kind::device_to_device) == ascend::code::success;
}

TEST_P(AscendPeers, AreEnabledInBothDirectionsAndDisabledAsOften) {
    on_machine({.node = "devices 2\n"}, [](Application& application) {
        EXPECT_OPENS();
        const std::uint64_t on_zero = application.allocate(10);
        application.write(on_zero, pattern(10, 1));
        application.use(1);
        const std::uint64_t on_one = application.allocate(10);
        application.use(0);
        EXPECT_EQ(ascend_device().can_access_peer(0, 1), 1);
        EXPECT_EQ(ascend_device().can_access_peer(0, 0), 1) << "which ACL calls an error";
        EXPECT_FALSE(is_reached(application, on_one, on_zero));
        peercoll_reason_t reason{};
        for (const auto& [device, peer] : {std::pair{0, 1}, std::pair{1, 0}})
            EXPECT_EQ(ascend_device().enable_peer(device, peer, &reason), PEERCOLL_SUCCESS) << reason.text;
        EXPECT_TRUE(is_reached(application, on_one, on_zero));
        EXPECT_EQ(ascend_device().disable_peer(0, 1, &reason), PEERCOLL_SUCCESS) << reason.text;
        EXPECT_TRUE(is_reached(application, on_one, on_zero)) << "enabled once more";
        EXPECT_EQ(ascend_device().disable_peer(0, 1, &reason), PEERCOLL_SUCCESS) << reason.text;
        EXPECT_FALSE(is_reached(application, on_one, on_zero));
        EXPECT_EQ(ascend_device().disable_peer(0, 1, &reason), PEERCOLL_ERR_INVALID_ARGUMENT);
        EXPECT_THAT(reason.text, HasSubstr("not enabled"));
        EXPECT_EQ(application.current(), 0);
        application.free(on_zero);
        application.free(on_one);
    });
}

TEST_P(AscendPeers, ThatTheApplicationEnabledStayEnabled) {
    on_machine({.node = "devices 2\n"}, [](Application& application) {
        EXPECT_EQ(application.acl.device_enable_peer(1, 0), ascend::code::success);
        EXPECT_OPENS();
        EXPECT_EQ(ascend_device().enable_peer(0, 1, nullptr), PEERCOLL_SUCCESS);
        ascend_device().close();
        EXPECT_EQ(application.acl.device_disable_peer(1), ascend::code::success) << "its own count is there";
        EXPECT_NE(application.acl.device_disable_peer(1), ascend::code::success) << "and ours is gone";
    });
}

TEST_P(AscendPeers, ThatOneDirectionLacksAreNone) {
    on_machine({.node = "devices 2\npath 1 0 no\n"}, [](Application&) {
        EXPECT_OPENS();
        EXPECT_EQ(ascend_device().can_access_peer(0, 1), 0);
        peercoll_reason_t reason{};
        EXPECT_EQ(ascend_device().enable_peer(0, 1, &reason), PEERCOLL_ERR_NOT_SUPPORTED);
        EXPECT_THAT(reason.text, HasSubstr("enabling access"));
    });
}

TEST_P(AscendPeers, ThatAreDiesOfOnePackageNeedNotBeEnabled) {
    on_machine({.node = "devices 2\npci 0 0000:c1:00.0\npci 1 0000:c1:00.1\n"}, [](Application&) {
        if (is_old()) return;  // cannot be asked
        EXPECT_OPENS();
        EXPECT_EQ(ascend_device().can_access_peer(0, 1), 1);
        peercoll_reason_t reason{};
        EXPECT_EQ(ascend_device().enable_peer(0, 1, &reason), PEERCOLL_SUCCESS) << reason.text;
        EXPECT_EQ(ascend_device().disable_peer(0, 1, &reason), PEERCOLL_SUCCESS) << reason.text;
    });
}

TEST_P(AscendPeers, AreNoneOnA310B) {
    on_machine({.node = "devices 2\nname all Ascend310B1\n"}, [](Application&) {
        EXPECT_OPENS();
        EXPECT_EQ(ascend_device().can_access_peer(0, 1), 0);
        peercoll_device_info_t info{};
        EXPECT_EQ(ascend_device().device_info(0, &info, nullptr), PEERCOLL_SUCCESS);
        EXPECT_EQ(info.import_kinds, 0U);
    });
}

TEST_P(AscendPeers, CopyThroughHostMemoryWhereTheyDoNotReachEachOther) {
    for (const char* node : {"devices 2\n", "devices 2\npath 1 0 no\n"})
        on_machine({.node = node}, [](Application& application) {
            EXPECT_OPENS();
            constexpr std::size_t bytes = 100'001;
            std::uint64_t from = 0;
            std::uint64_t to = 0;
            ASSERT_EQ(ascend_device().allocate(0, bytes, &from, nullptr), PEERCOLL_SUCCESS);
            ASSERT_EQ(ascend_device().allocate(1, bytes, &to, nullptr), PEERCOLL_SUCCESS);
            application.write(from, pattern(bytes, 4));
            copy_by_stream(0, to, from, bytes);
            EXPECT_EQ(read_by_stream(1, to, bytes), pattern(bytes, 4));
            ascend_device().free_memory(0, from);
            ascend_device().free_memory(1, to);
        });
}

}  // namespace
}  // namespace peercoll::test
