// SPDX-License-Identifier: BSD-3-Clause
// The simulated ACL itself: the traps that the backend must not step into are there.
#include "tests/unit/ascend_device/application.hpp"

namespace peercoll::test {
namespace {

using namespace ascend;  // NOLINT(google-build-using-namespace): codes and kinds

class SimulatedAcl : public OnAscend {};
PEERCOLL_ON_EACH_LIBRARY(SimulatedAcl);

TEST_P(SimulatedAcl, CountsInitialisationsAndFinalisesWhateverTheCount) {
    on_machine({}, [](Application& application) {
        EXPECT_EQ(application.acl.init(nullptr), code::repeat_initialize);
        EXPECT_EQ(application.call("aclFinalize"), code::success);
        std::uint32_t count = 0;
        EXPECT_EQ(application.acl.get_device_count(&count), code::uninitialized);
        EXPECT_EQ(application.call("aclFinalize"), code::repeat_finalize);
    });
}

TEST_P(SimulatedAcl, RefusesWhatHasNoContextOrAnothersStream) {
    on_machine({.node = "devices 2\n", .initialises = false}, [](Application& application) {
        void* memory = nullptr;
        EXPECT_EQ(application.acl.memory_allocate(&memory, 10, 0), code::uninitialized);
        EXPECT_EQ(application.acl.init(nullptr), code::success);
        EXPECT_EQ(application.acl.memory_allocate(&memory, 10, 0), code::rt_context_null);
        application.use(0);
        AclStream stream = nullptr;
        EXPECT_EQ(application.acl.stream_create(&stream), code::success);
        application.use(1);
        EXPECT_EQ(application.acl.stream_synchronize(stream), code::rt_stream_context);
        application.use(0);
        EXPECT_EQ(application.acl.stream_destroy(stream), code::success);
    });
}

TEST_P(SimulatedAcl, CallsItsOwnDeviceAndFlagsErrorsOfPeers) {
    on_machine({.node = "devices 2\n"}, [](Application& application) {
        std::int32_t can = 0;
        EXPECT_EQ(application.acl.device_can_access_peer(&can, 0, 0), code::invalid_param);
        EXPECT_EQ(application.acl.device_enable_peer(1, 1), code::feature_unsupported);
        EXPECT_EQ(application.acl.device_enable_peer(1, 0), code::success);
        EXPECT_EQ(application.acl.device_enable_peer(1, 0), code::success) << "counted, and no error";
        for (int i = 0; i < 2; ++i) EXPECT_EQ(application.acl.device_disable_peer(1), code::success);
        EXPECT_NE(application.acl.device_disable_peer(1), code::success);
    });
}

TEST_P(SimulatedAcl, TakesCopiesOfTheirTrueKindOnly) {
    on_machine({}, [](Application& application) {
        const std::uint64_t memory = application.allocate(64);
        std::uint8_t here[64] = {};
        const auto copy = [&](std::size_t room, int kind) {
            return application.acl.memory_copy(pointer(memory), room, here, sizeof here, kind);
        };
        EXPECT_EQ(copy(64, copy_kind::host_to_device), code::success);
        EXPECT_EQ(copy(63, copy_kind::host_to_device), code::rt_param_invalid);
        EXPECT_EQ(copy(64, copy_kind::device_to_host), code::rt_param_invalid);
        EXPECT_EQ(copy(64, copy_kind::device_to_device), code::rt_param_invalid);
        EXPECT_EQ(copy(64, 6), code::invalid_param);
        EXPECT_EQ(copy(64, 7), code::invalid_param);
        EXPECT_EQ(copy(64, 4), is_old() ? code::rt_param_invalid : code::success);
        application.free(memory);
        EXPECT_NE(application.acl.memory_free(nullptr), code::success);
    });
}

TEST_P(SimulatedAcl, NamesWholeAllocationsToOtherProcessesOnly) {
    on_machine({}, [](Application& application) {
        if (is_old()) {
            EXPECT_EQ(application.acl.ipc_get_key, nullptr);
            EXPECT_EQ(application.acl.pointer_get_attributes, nullptr);
            return;
        }
        const std::uint64_t memory = application.allocate(64);
        char key[key_bytes] = "";
        EXPECT_EQ(application.acl.ipc_get_key(pointer(memory), 64, key, sizeof key - 1, 1), code::rt_param_invalid);
        EXPECT_NE(application.acl.ipc_get_key(pointer(memory + 32), 32, key, sizeof key, 1), code::success);
        EXPECT_EQ(application.acl.ipc_get_key(pointer(memory), 64, key, sizeof key, 0), code::success);
        void* there = nullptr;
        EXPECT_EQ(application.acl.ipc_import(&there, key, 0), code::rt_no_permission) << "nobody is on its list";
        EXPECT_EQ(application.acl.ipc_close(key), code::success);
        application.free(memory);
    });
}

}  // namespace
}  // namespace peercoll::test
