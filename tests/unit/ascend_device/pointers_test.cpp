// SPDX-License-Identifier: BSD-3-Clause
// What a pointer is: as ACL says, as the user says where ACL cannot, and when memory may be given to others.
#include "plugin/device/ascend/pci_places.hpp"
#include "tests/unit/ascend_device/application.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace peercoll::test {
namespace {

class AscendPointer : public OnAscend {};
PEERCOLL_ON_EACH_LIBRARY(AscendPointer);

TEST_P(AscendPointer, OfTheHostIsHostMemory) {
    on_machine({.pointers = "device"}, [](Application& application) {
        EXPECT_OPENS();
        const int local = 0;
        EXPECT_EQ(classified(address_of(&local)).kind, PEERCOLL_MEMORY_HOST);
        EXPECT_EQ(classified(0).kind, PEERCOLL_MEMORY_HOST);
        void* pinned = nullptr;
        EXPECT_EQ(application.acl.host_allocate(&pinned, 4096), ascend::code::success);
        EXPECT_EQ(classified(address_of(pinned)).kind, is_old() ? PEERCOLL_MEMORY_HOST : PEERCOLL_MEMORY_PINNED);
        EXPECT_EQ(application.acl.host_free(pinned), ascend::code::success);
        void* ours = nullptr;
        EXPECT_EQ(ascend_device().allocate_host(0, 100, &ours, nullptr), PEERCOLL_SUCCESS);
        EXPECT_EQ(classified(address_of(ours) + 99).kind, PEERCOLL_MEMORY_PINNED);
        ascend_device().free_host(0, ours);
    });
}

TEST_P(AscendPointer, OfTheApplicationIsStagedBecauseNobodyIsToldWhenItIsFreed) {
    on_machine({.node = "devices 2\n"}, [](Application& application) {
        EXPECT_OPENS();
        application.use(1);
        const std::uint64_t memory = application.allocate(1000);
        const peercoll_pointer_info_t info = classified(memory + 500);
        if (is_old()) {
            EXPECT_EQ(info.kind, PEERCOLL_MEMORY_HOST) << "unless the user says otherwise";
        } else {
            EXPECT_EQ(info.kind, PEERCOLL_MEMORY_DEVICE);
            EXPECT_EQ(info.device, 1);
        }
        EXPECT_EQ(info.handle_kinds, 0U);
        EXPECT_EQ(info.allocation_id, 0U);
        application.free(memory);
    });
}

TEST_P(AscendPointer, ThatProcessorsCannotReadIsTheCurrentDevicesWhereTheUserSaysSo) {
    on_machine({.node = "devices 2\n", .pointers = "device"}, [](Application& application) {
        EXPECT_OPENS();
        application.use(1);
        const std::uint64_t memory = application.allocate(1000);
        EXPECT_EQ(classified(memory + 999).kind, PEERCOLL_MEMORY_DEVICE);
        EXPECT_EQ(classified(memory).device, 1);
        application.free(memory);
    });
}

TEST_P(AscendPointer, OfTheApplicationIsSharedWhereTheUserPromisesToKeepIt) {
    on_machine({.memory = "shared"}, [](Application& application) {
        if (is_old()) return;  // where an allocation begins is not known
        EXPECT_OPENS();
        const std::uint64_t memory = application.allocate(1000);
        const peercoll_pointer_info_t info = classified(memory + 500);
        EXPECT_EQ(info.base, memory);
        EXPECT_GE(info.bytes, 1000U);
        EXPECT_EQ(info.handle_kinds, by_ipc);
        EXPECT_NE(info.allocation_id, 0U);
        EXPECT_EQ(classified(memory).allocation_id, info.allocation_id);
        EXPECT_EQ(ascend_device().is_live(memory, info.allocation_id), 1);
        application.free(memory);
        EXPECT_EQ(ascend_device().is_live(memory, info.allocation_id), 0);
        const std::uint64_t again = application.allocate(5000);
        EXPECT_EQ(again, memory) << "the simulated runtime hands out the lowest address";
        EXPECT_NE(classified(again).allocation_id, info.allocation_id);
        application.free(again);
    });
}

TEST_P(AscendPointer, OfOursHasANumberThatIsNotUsedAgain) {
    on_machine({}, [](Application&) {
        EXPECT_OPENS();
        std::uint64_t first = 0;
        ASSERT_EQ(ascend_device().allocate(0, 1000, &first, nullptr), PEERCOLL_SUCCESS);
        const peercoll_pointer_info_t info = classified(first + 999);
        EXPECT_EQ(info.kind, PEERCOLL_MEMORY_DEVICE);
        EXPECT_EQ(info.base, first);
        EXPECT_EQ(info.bytes, 1000U);
        EXPECT_EQ(info.handle_kinds, is_old() ? 0U : by_ipc);
        EXPECT_EQ(ascend_device().is_live(first, info.allocation_id), 1);
        ascend_device().free_memory(0, first);
        EXPECT_EQ(ascend_device().is_live(first, info.allocation_id), 0);
        std::uint64_t second = 0;
        ASSERT_EQ(ascend_device().allocate(0, 1000, &second, nullptr), PEERCOLL_SUCCESS);
        EXPECT_EQ(second, first);
        EXPECT_NE(classified(second).allocation_id, info.allocation_id);
        ascend_device().free_memory(0, second);
        std::uint64_t none = 0;
        EXPECT_EQ(ascend_device().allocate(0, 0, &none, nullptr), PEERCOLL_ERR_INVALID_ARGUMENT);
    });
}

// Two devices of other makers, a die of ours that is not alone, and one that is.
TEST(AscendPciPlace, IsTakenFromSysfsOnlyIfThereIsNoDoubt) {
    char folder[] = "/tmp/peercoll_pci_XXXXXX";
    ASSERT_NE(::mkdtemp(folder), nullptr);
    const auto add = [&](const std::string& id, const std::string& vendor, const std::string& device) {
        std::filesystem::create_directory(std::filesystem::path(folder) / id);
        std::ofstream(std::filesystem::path(folder) / id / "vendor") << vendor << "\n";
        std::ofstream(std::filesystem::path(folder) / id / "device") << device << "\n";
    };
    EXPECT_EQ(ascend::sole_pci_id(folder), "");
    add("0000:01:00.0", "0x10de", "0xd802");
    add("0000:02:00.0", "0x19e5", "0x0222");
    EXPECT_EQ(ascend::sole_pci_id(folder), "") << "no Ascend device";
    add("0000:c1:00.0", "0x19e5", "0xd802");
    EXPECT_EQ(ascend::sole_pci_id(folder), "0000:c1:00.0");
    add("0000:c2:00.0", "0x19e5", "0xd802");
    EXPECT_EQ(ascend::sole_pci_id(folder), "") << "which of the two it is cannot be told";
    std::filesystem::remove_all(folder);
    EXPECT_EQ(ascend::sole_pci_id(folder), "");
}

}  // namespace
}  // namespace peercoll::test
