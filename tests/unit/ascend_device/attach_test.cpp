// SPDX-License-Identifier: BSD-3-Clause
// When the backend is on, what it says of its devices, and what it leaves of ACL as it was.
#include "tests/unit/ascend_device/application.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <thread>

namespace peercoll::test {
namespace {

using testing::HasSubstr;

class AscendDevice : public OnAscend {};
PEERCOLL_ON_EACH_LIBRARY(AscendDevice);

// "" if it opens.
std::string reason_to_be_off(peercoll_status_t expected = PEERCOLL_ERR_NOT_SUPPORTED) {
    peercoll_reason_t reason{};
    const peercoll_status_t status = ascend_device().open(&reason);
    if (status == PEERCOLL_SUCCESS) return {};
    EXPECT_EQ(status, expected);
    return reason.text;
}

peercoll_device_info_t info_of(int device) {
    peercoll_device_info_t info{};
    peercoll_reason_t reason{};
    EXPECT_EQ(ascend_device().device_info(device, &info, &reason), PEERCOLL_SUCCESS) << reason.text;
    return info;
}

TEST(AscendBackend, IsOffInAProcessThatHasNotLoadedAcl) {
    run_ranks(1, [](Rank&) {
        EXPECT_THAT(reason_to_be_off(), HasSubstr("loaded neither"));
        EXPECT_EQ(ascend_device().device_count(), 0);
        EXPECT_EQ(classified(0x1000).kind, PEERCOLL_MEMORY_HOST);
        ascend_device().close();
    });
}

TEST_P(AscendDevice, IsOffWithAReasonWithoutADeviceAndOnAStub) {
    on_machine({.variant = "no_device"},
               [](Application&) { EXPECT_THAT(reason_to_be_off(), HasSubstr("sees no Ascend device")); });
    on_machine({.variant = "stub"}, [](Application&) { EXPECT_THAT(reason_to_be_off(), HasSubstr("stub")); });
}

TEST_P(AscendDevice, NamesAWordOfTheEnvironmentThatIsNone) {
    on_machine({.pointers = "maybe"}, [](Application&) {
        EXPECT_THAT(reason_to_be_off(PEERCOLL_ERR_INVALID_ARGUMENT),
                    HasSubstr("PEERCOLL_ASCEND_POINTERS is \"maybe\": expected host or device"));
    });
}

TEST_P(AscendDevice, TellsItsDevices) {
    const Machine machine = {.node =
                                 "devices 2\nname all Ascend910B3\n"
                                 "uuid 1 00112233445566778899aabbccddeeff\npci 1 0000:ab:00.0\nmemory 1 1024\n"};
    on_machine(machine, [](Application&) {
        EXPECT_OPENS();
        ASSERT_EQ(ascend_device().device_count(), 2);
        const peercoll_device_info_t info = info_of(1);
        EXPECT_STREQ(info.name, "Ascend910B3");
        EXPECT_STREQ(info.architecture, "ascend910b3");
        EXPECT_EQ(info.active, 0U);
        EXPECT_EQ(info_of(0).active, 1U);
        if (is_old()) {
            EXPECT_EQ(info.import_kinds, 0U);
            EXPECT_THAT(ascend_device().version_text(), HasSubstr("PEERCOLL_ASCEND_POINTERS=device"));
            EXPECT_NE(std::string(reinterpret_cast<const char*>(info.uuid), 16),
                      std::string(reinterpret_cast<const char*>(info_of(0).uuid), 16));
        } else {
            for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(info.uuid[i], i * 0x11);
            EXPECT_STREQ(info.pci_id, "0000:ab:00.0");
            EXPECT_EQ(info.memory_bytes, std::uint64_t{1024} << 20);
            EXPECT_EQ(info.import_kinds, by_ipc);
            EXPECT_STREQ(ascend_device().version_text(), "Ascend ACL 1.17.0");
        }
    });
}

TEST_P(AscendDevice, IsTheSameForAProcessThatNumbersDevicesOtherwise) {
    const Machine all = {.node = "devices 2\nname all Ascend310P3\n"};
    Machine second = all;
    second.visible = "1";
    run_ranks(2, [&](Rank& rank) {
        const Application application(GetParam(), rank.rank() == 0 ? all : second);
        if (is_old() && rank.rank() == 1) {
            EXPECT_THAT(reason_to_be_off(), HasSubstr("ASCEND_RT_VISIBLE_DEVICES not to be set"));
        } else {
            EXPECT_OPENS();
        }
        struct Uuid {
            std::uint8_t bytes[16];
        } mine{};
        if (ascend_device().device_count() > 0)
            std::memcpy(mine.bytes, info_of(rank.rank() == 0 ? 1 : 0).uuid, sizeof mine.bytes);
        std::vector<Uuid> both(2);
        EXPECT_TRUE(rank.exchange(0).allgather(&mine, both.data(), sizeof mine));
        if (!is_old()) {
            EXPECT_EQ(std::memcmp(both[0].bytes, both[1].bytes, sizeof mine), 0) << "a 310P has no UUID of ACL's";
        }
        ascend_device().close();
    });
}

// The application's own aclInit() is the first, and its ACL outlives the backend.
TEST_P(AscendDevice, NeitherInitialisesBeforeTheApplicationNorFinalisesWhatItUses) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        std::uint64_t memory = 0;
        ASSERT_EQ(ascend_device().allocate(0, 100, &memory, nullptr), PEERCOLL_SUCCESS);
        ascend_device().free_memory(0, memory);
        ascend_device().close();
        EXPECT_EQ(application.current(), 0);
        const std::uint64_t mine = application.allocate(100);
        application.free(mine);
        if (!is_old()) {
            std::uint64_t left = 77;
            EXPECT_EQ(application.acl.finalize_reference(&left), ascend::code::success);
            EXPECT_EQ(left, 0U) << "ours was given back";
        }
    });
}

TEST_P(AscendDevice, ToleratesAnApplicationThatFinalisedFirst) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        std::uint64_t memory = 0;
        ASSERT_EQ(ascend_device().allocate(0, 100, &memory, nullptr), PEERCOLL_SUCCESS);
        ascend_device().free_memory(0, memory);
        EXPECT_EQ(application.call("aclFinalize"), ascend::code::success);
        peercoll_reason_t reason{};
        EXPECT_NE(ascend_device().allocate(0, 100, &memory, &reason), PEERCOLL_SUCCESS);
        ascend_device().close();
    });
}

TEST_P(AscendDevice, InitialisesWhereNobodyHas) {
    on_machine({.initialises = false}, [](Application&) {
        EXPECT_OPENS();
        EXPECT_EQ(ascend_device().device_count(), 1);
        EXPECT_EQ(info_of(0).active, 0U) << "and makes no context";
    });
}

TEST_P(AscendDevice, LeavesTheCurrentContextAsItWas) {
    on_machine({.node = "devices 2\n"}, [](Application& application) {
        EXPECT_OPENS();
        ascend::AclContext own = nullptr;
        ASSERT_EQ(application.call("aclrtCreateContext", &own, std::int32_t{1}), ascend::code::success);
        for (const int device : {0, 1}) {
            std::uint64_t memory = 0;
            ASSERT_EQ(ascend_device().allocate(device, 100, &memory, nullptr), PEERCOLL_SUCCESS);
            EXPECT_EQ(classified(memory).device, device);
            ascend::AclContext now = nullptr;
            EXPECT_EQ(application.acl.get_current_context(&now), ascend::code::success);
            EXPECT_EQ(now, own);
            ascend_device().free_memory(device, memory);
        }
        EXPECT_EQ(application.call("aclrtDestroyContext", own), ascend::code::success);
    });
}

TEST_P(AscendDevice, LeavesAThreadWithoutADeviceWithoutOne) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        std::thread([&] {
            ASSERT_EQ(application.current(), -1);
            std::uint64_t memory = 0;
            ASSERT_EQ(ascend_device().allocate(0, 100, &memory, nullptr), PEERCOLL_SUCCESS);
            const std::vector<std::uint8_t> bytes = pattern(100, 3);
            copy_by_stream(0, memory, address_of(bytes.data()), 100);
            EXPECT_EQ(read_by_stream(0, memory, 100), bytes);
            EXPECT_EQ(classified(memory + 99).kind, PEERCOLL_MEMORY_DEVICE);
            ascend_device().free_memory(0, memory);
            EXPECT_EQ(application.current(), -1);
        }).join();
    });
}

TEST_P(AscendDevice, LeavesTheThreadsLastErrorAsItWas) {
    on_machine({}, [](Application& application) {
        if (is_old()) return;  // keeps none
        EXPECT_OPENS();
        std::uint64_t none = 0;
        EXPECT_EQ(ascend_device().allocate(0, std::size_t{1} << 60, &none, nullptr), PEERCOLL_ERR_OUT_OF_MEMORY);
        EXPECT_EQ(application.acl.peek_at_last_error(0), ascend::code::success);
        EXPECT_EQ(application.acl.memory_free(nullptr), ascend::code::invalid_param);
        EXPECT_EQ(ascend_device().allocate(0, std::size_t{1} << 60, &none, nullptr), PEERCOLL_ERR_OUT_OF_MEMORY);
        EXPECT_EQ(application.acl.get_last_error(0), ascend::code::invalid_param);
    });
}

TEST_P(AscendDevice, RefusesADeviceThatIsNotThere) {
    on_machine({}, [](Application&) {
        EXPECT_OPENS();
        for (const int device : {-1, 1, 1000}) {
            peercoll_device_info_t info{};
            peercoll_reason_t reason{};
            EXPECT_EQ(ascend_device().device_info(device, &info, &reason), PEERCOLL_ERR_INVALID_ARGUMENT);
            EXPECT_THAT(reason.text, HasSubstr("expected 0 to 0"));
        }
    });
}

}  // namespace
}  // namespace peercoll::test
