// SPDX-License-Identifier: BSD-3-Clause
// When the backend is on, and what it says of its devices.
#include "plugin/device/hip/devices.hpp"
#include "tests/unit/hip_device/application.hpp"

#include <gmock/gmock.h>

namespace peercoll::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class HipDevice : public OnHip {};
PEERCOLL_ON_EACH_RELEASE(HipDevice);

// "" if it opens.
std::string reason_to_be_off() {
    peercoll_reason_t reason{};
    const peercoll_status_t status = hip_device().open(&reason);
    if (status == PEERCOLL_SUCCESS) return {};
    EXPECT_EQ(status, PEERCOLL_ERR_NOT_SUPPORTED);
    return reason.text;
}

peercoll_device_info_t info_of(int device) {
    peercoll_device_info_t info{};
    peercoll_reason_t reason{};
    EXPECT_EQ(hip_device().device_info(device, &info, &reason), PEERCOLL_SUCCESS) << reason.text;
    return info;
}

TEST(HipBackend, IsWhatItsInterfaceSays) {
    EXPECT_EQ(hip_device().abi_version, PEERCOLL_DEVICE_ABI_VERSION);
    EXPECT_EQ(hip_device().struct_size, sizeof(peercoll_device_runtime_t));
    EXPECT_STREQ(hip_device().name, "hip");
    EXPECT_EQ(hip_device().share_allocate, nullptr) << "host memory is the host's";
    EXPECT_THAT(hip_device().libraries[0], StartsWith("libamdhip64.so"));
    EXPECT_EQ(hip_device().libraries[1], nullptr);
}

TEST(HipBackend, IsOffInAProcessThatHasNotLoadedHip) {
    run_ranks(1, [](Rank&) {
        EXPECT_THAT(reason_to_be_off(), HasSubstr("not loaded"));
        EXPECT_EQ(hip_device().device_count(), 0);
        EXPECT_EQ(classified(0x1000).kind, PEERCOLL_MEMORY_HOST);
        peercoll_stream_t stream = nullptr;
        EXPECT_EQ(hip_device().stream_create(0, &stream, nullptr), PEERCOLL_ERR_NOT_SUPPORTED);
        hip_device().close();
    });
}

TEST_P(HipDevice, IsOffWithAReasonWithoutADevice) {
    on_machine({.variant = "no_device"}, [](Application&) {
        EXPECT_THAT(reason_to_be_off(), HasSubstr("no HIP device"));
        EXPECT_EQ(hip_device().device_count(), 0);
    });
    on_machine({.visible = "-1"},
               [](Application&) { EXPECT_THAT(reason_to_be_off(), HasSubstr("HIP_VISIBLE_DEVICES")); });
}

TEST_P(HipDevice, IsOffAfterAForkOfAProcessThatUsedHip) {
    on_machine({}, [](Application& application) {
        application.use(0);
        run_ranks(1, [](Rank&) { EXPECT_THAT(reason_to_be_off(), HasSubstr("forked")); });
    });
}

TEST_P(HipDevice, KeepsItsFirstAnswerUntilItIsClosed) {
    run_ranks(1, [](Rank&) {
        EXPECT_THAT(reason_to_be_off(), HasSubstr("not loaded"));
        const Application application(GetParam(), {});
        EXPECT_THAT(reason_to_be_off(), HasSubstr("not loaded"));
        hip_device().close();
        EXPECT_EQ(reason_to_be_off(), "");
        EXPECT_EQ(reason_to_be_off(), "");
        EXPECT_EQ(hip_device().device_count(), 1);
        hip_device().close();
        hip_device().close();
        EXPECT_EQ(hip_device().device_count(), 0);
    });
}

TEST_P(HipDevice, TellsItsDevices) {
    const Machine machine = {.node =
                                 "devices 2\n"
                                 "uuid 1 00112233445566778899aabbccddeeff\n"
                                 "pci 1 0000:ab:00.0\n"
                                 "name 1 Second Device\n"
                                 "memory 1 1024\n"
                                 "capability 1 9 8\n"};
    on_machine(machine, [](Application& application) {
        EXPECT_OPENS();
        EXPECT_STREQ(hip_device().version_text(), application.major == 5   ? "HIP 5.2 runtime"
                                                  : application.major == 6 ? "HIP 6.4 runtime"
                                                                           : "HIP 7.1 runtime");
        ASSERT_EQ(hip_device().device_count(), 2);
        const peercoll_device_info_t info = info_of(1);
        for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(info.uuid[i], i * 0x11) << "HIP's own has 8 bytes, as text";
        EXPECT_STREQ(info.pci_id, "0000:ab:00.0");
        EXPECT_STREQ(info.name, "Second Device");
        EXPECT_STREQ(info.architecture, "gfx908");
        EXPECT_EQ(info.memory_bytes, std::uint64_t{1024} << 20);
        EXPECT_EQ(info.active, 0U);
        EXPECT_THAT(info.reductions, HasSubstr("not known before"));
        EXPECT_EQ(info.import_kinds, by_ipc);
        EXPECT_STREQ(info_of(0).architecture, "gfx90a");
    });
}

TEST_P(HipDevice, IsInUseOnceTheProcessChoseItOrHasMemoryOfIt) {
    on_machine({.node = "devices 3\n"}, [](Application& application) {
        EXPECT_OPENS();
        EXPECT_EQ(info_of(0).active, 0U) << "nobody has chosen it";
        application.use(1);
        EXPECT_EQ(info_of(1).active, 1U);
        EXPECT_EQ(info_of(2).active, 0U);
        application.use(0);
        EXPECT_EQ(info_of(1).active, 0U);
        const std::uint64_t memory = application.allocate(100);
        EXPECT_EQ(classified(memory).device, 0);
        EXPECT_EQ(info_of(0).active, 1U);
        application.free(memory);
    });
}

TEST_P(HipDevice, RefusesADeviceThatIsNotThere) {
    on_machine({}, [](Application&) {
        EXPECT_OPENS();
        for (const int device : {-1, 1, 1000}) {
            peercoll_device_info_t info{};
            peercoll_reason_t reason{};
            EXPECT_EQ(hip_device().device_info(device, &info, &reason), PEERCOLL_ERR_INVALID_ARGUMENT);
            EXPECT_THAT(reason.text, HasSubstr("expected 0 to 0"));
        }
    });
}

TEST_P(HipDevice, LeavesTheCurrentDeviceAsItWas) {
    on_machine({.node = "devices 2\n"}, [](Application& application) {
        application.use(1);
        EXPECT_OPENS();
        for (const int device : {0, 1}) {
            std::uint64_t address = 0;
            ASSERT_EQ(hip_device().allocate(device, 100, &address, nullptr), PEERCOLL_SUCCESS);
            EXPECT_EQ(classified(address).device, device);
            hip_device().free_memory(device, address);
            EXPECT_EQ(application.current(), 1);
        }
    });
}

TEST_P(HipDevice, OfTwoThatLookTheSameToAllProcessesIsNotUsed) {
    // Partitions of one device may have its UUID and its PCI place.
    on_machine({.node = "devices 2\nuuid all 00112233445566778899aabbccddeeff\npci all 0000:ab:00.0\n"},
               [](Application&) { EXPECT_THAT(reason_to_be_off(), HasSubstr("same UUID and PCI id")); });
}

TEST(UuidOfAHipDevice, HasTheRuntimesTextAndThePlace) {
    const auto both = hip::make_uuid("0123456789abcdef", "0000:1b:00.0");
    EXPECT_THAT(std::vector<int>(both.begin(), both.begin() + 8),
                ElementsAre(0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef));
    EXPECT_NE(both, hip::make_uuid("0123456789abcdef", "0000:1b:00.1")) << "partitions of one device";
    EXPECT_NE(both, hip::make_uuid("0123456789abcdee", "0000:1b:00.0"));
    EXPECT_EQ(both, hip::make_uuid("0123456789abcdef", "0000:1b:00.0"));
    const auto unknown = hip::make_uuid("XXXXXXXXXXXXXXXX", "0000:1b:00.0");
    EXPECT_EQ(unknown, hip::make_uuid("", "0000:1b:00.0"));
    EXPECT_NE(unknown, hip::make_uuid("", "0000:1c:00.0"));
    EXPECT_EQ(hip::make_uuid("XXXXXXXXXXXXXXXX", ""), (std::array<std::uint8_t, 16>{}));
    EXPECT_NE(hip::make_uuid("not a number.. :", ""), (std::array<std::uint8_t, 16>{}));
}

}  // namespace
}  // namespace peercoll::test
