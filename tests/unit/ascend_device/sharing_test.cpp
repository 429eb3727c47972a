// SPDX-License-Identifier: BSD-3-Clause
// Memory of one process, named to another and mapped there, and every way it can go wrong.
#include "tests/unit/ascend_device/application.hpp"
#include "tests/unit/gather.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>

namespace peercoll::test {
namespace {

using testing::HasSubstr;

constexpr std::size_t bytes = (std::size_t{9} << 20) + 5;  // more than a stream's scratch memory

struct Import {
    peercoll_mapping_t mapping{};
    peercoll_reason_t reason{};
    peercoll_status_t status;

    explicit Import(const peercoll_memory_handle_t& handle, int device = 0)
        : status(ascend_device().import_memory(device, &handle, -1, &mapping, &reason)) {}
    Import(const Import&) = delete;
    Import& operator=(const Import&) = delete;
    ~Import() { release(); }
    void release() { ascend_device().release_mapping(&mapping); }
};

// Releases before CANN 8.3 share no memory.
class SharedAscendMemory : public testing::TestWithParam<Face> {
protected:
    using Look = std::function<void(Application&, const peercoll_memory_handle_t&)>;
    // What rank 1, on `device`, does with memory that rank 0 has on device 0. `reader`: the pid that it is exported to,
    // made of the importer's.
    static void between_processes(const Machine& machine, const Look& look, int device = 0,
                                  const std::function<std::int32_t(pid_t)>& reader = {},
                                  const std::function<void(std::uint64_t)>& afterwards = {}) {
        run_ranks(2, [&](Rank& rank) {
            const bool owns = rank.rank() == 0;
            Application application(GetParam(), machine);
            application.use(owns ? 0 : device);
            EXPECT_OPENS();
            const std::vector<pid_t> pids = gather(rank.exchange(3), ::getpid());
            std::uint64_t memory = 0;
            peercoll_memory_handle_t handle{};
            if (owns) {
                ASSERT_EQ(ascend_device().allocate(0, bytes, &memory, nullptr), PEERCOLL_SUCCESS);
                application.write(memory, pattern(bytes, 1));
                const peercoll_pointer_info_t info = classified(memory + 1);
                int fd = 0;
                peercoll_reason_t reason{};
                ASSERT_EQ(ascend_device().export_memory(&info, PEERCOLL_HANDLE_IPC, reader ? reader(pids[1]) : 0,
                                                        &handle, &fd, &reason),
                          PEERCOLL_SUCCESS)
                    << reason.text;
                EXPECT_EQ(fd, -1);
            }
            const auto handles = gather(rank.exchange(0), handle);
            if (!owns) look(application, handles[0]);
            EXPECT_TRUE(rank.exchange(1).meet());
            if (owns) {
                if (afterwards) afterwards(memory);
                ascend_device().free_memory(0, memory);
            }
            EXPECT_TRUE(rank.exchange(2).meet());
            ascend_device().close();
        });
    }
    static void expect_refused(const Machine& machine, const std::function<void(peercoll_memory_handle_t&)>& change,
                               peercoll_status_t status, const char* words,
                               const std::function<std::int32_t(pid_t)>& reader = {}, int device = 0) {
        between_processes(
            machine,
            [&](Application&, const peercoll_memory_handle_t& handle) {
                peercoll_memory_handle_t changed = handle;
                change(changed);
                const Import imported(changed, device);
                EXPECT_EQ(imported.status, status);
                EXPECT_THAT(imported.reason.text, HasSubstr(words));
                EXPECT_EQ(imported.mapping.address, 0U);
            },
            device, reader);
    }
};
INSTANTIATE_TEST_SUITE_P(Acl, SharedAscendMemory, testing::Values(Face::Cann9, Face::AclRt),
                         [](auto& info) { return name_of(info.param); });

void nothing(peercoll_memory_handle_t&) {}

// From and to host memory a copy goes by way of memory of our own, in pieces.
TEST_P(SharedAscendMemory, IsReadAndWrittenFromTheSameDeviceAndFromAnother) {
    for (const int device : {0, 1})
        between_processes(
            {.node = "devices 2\n"},
            [&](Application&, const peercoll_memory_handle_t& handle) {
                Import imported(handle, device);
                ASSERT_EQ(imported.status, PEERCOLL_SUCCESS) << imported.reason.text;
                EXPECT_EQ(imported.mapping.device, device);
                EXPECT_EQ(imported.mapping.bytes, handle.bytes);
                EXPECT_EQ(read_by_stream(device, imported.mapping.address, bytes), pattern(bytes, 1));
                const std::vector<std::uint8_t> mine = pattern(bytes, 2);
                copy_by_stream(device, imported.mapping.address, address_of(mine.data()), bytes);
                const peercoll_pointer_info_t info = classified(imported.mapping.address + 7);
                EXPECT_EQ(info.kind, PEERCOLL_MEMORY_DEVICE);
                EXPECT_EQ(info.handle_kinds, 0U) << "what was imported is not passed on";
                const std::uint64_t address = imported.mapping.address;
                imported.release();
                EXPECT_EQ(classified(address).kind, PEERCOLL_MEMORY_HOST) << "unmapped";
                imported.release();  // nothing is left to do
            },
            device, {}, [](std::uint64_t memory) { EXPECT_EQ(read_by_stream(0, memory, bytes), pattern(bytes, 2)); });
}

TEST_P(SharedAscendMemory, ThatIsExportedToOneProcessIsOpenedByThatOneOnly) {
    between_processes(
        {},
        [](Application&, const peercoll_memory_handle_t& handle) {
            const Import imported(handle);
            EXPECT_EQ(imported.status, PEERCOLL_SUCCESS) << imported.reason.text;
        },
        0, [](pid_t importer) { return importer; });
    expect_refused({}, nothing, PEERCOLL_ERR_NOT_SUPPORTED, "not permitted",
                   [](pid_t importer) { return importer + 100'000; });
}

TEST_P(SharedAscendMemory, IsOpenedOnceForEachDeviceAndClosedWithItsLastImport) {
    between_processes({.node = "devices 2\n"}, [](Application&, const peercoll_memory_handle_t& handle) {
        Import first(handle, 0);
        Import second(handle, 1);
        ASSERT_EQ(first.status, PEERCOLL_SUCCESS) << first.reason.text;
        ASSERT_EQ(second.status, PEERCOLL_SUCCESS) << second.reason.text;
        {
            const Import third(handle, 0);
            EXPECT_EQ(third.mapping.address, first.mapping.address);
        }
        first.release();
        EXPECT_EQ(read_by_stream(1, second.mapping.address, bytes), pattern(bytes, 1)) << "still open";
        const std::uint64_t address = second.mapping.address;
        second.release();
        EXPECT_EQ(classified(address).kind, PEERCOLL_MEMORY_HOST);
    });
}

TEST_P(SharedAscendMemory, OfAnotherKindOrSizeOrWithoutAKeyIsRefused) {
    expect_refused(
        {}, [](peercoll_memory_handle_t& handle) { handle.kind = PEERCOLL_HANDLE_FD; }, PEERCOLL_ERR_INVALID_ARGUMENT,
        "expected kind 1");
    expect_refused(
        {}, [](peercoll_memory_handle_t& handle) { handle.bytes += 1 << 20; }, PEERCOLL_ERR_INVALID_ARGUMENT,
        "but it has");
    expect_refused(
        {}, [](peercoll_memory_handle_t& handle) { handle.data[0] = 0; }, PEERCOLL_ERR_INVALID_ARGUMENT,
        "without a key");
    expect_refused(
        {}, [](peercoll_memory_handle_t& handle) { std::memset(handle.data, 'x', sizeof handle.data); },
        PEERCOLL_ERR_INVALID_ARGUMENT, "without a key");
    expect_refused(
        {}, [](peercoll_memory_handle_t& handle) { handle.data[1] ^= 1; }, PEERCOLL_ERR_SYSTEM, "has freed it");
}

TEST_P(SharedAscendMemory, OfADeviceThatIsNotSeenOrNotReachedIsRefused) {
    expect_refused(
        {}, [](peercoll_memory_handle_t& handle) { handle.device_uuid[3] ^= 1; }, PEERCOLL_ERR_NOT_SUPPORTED,
        "ASCEND_RT_VISIBLE_DEVICES");
    expect_refused({.node = "devices 2\npath 1 0 no\n"}, nothing, PEERCOLL_ERR_SYSTEM, "cannot reach each other", {},
                   1);
    expect_refused({.node = "devices 1\nipc refused\n"}, nothing, PEERCOLL_ERR_SYSTEM, "has freed it");
}

TEST_P(SharedAscendMemory, IsExportedOnlyByAKindThatItHas) {
    run_ranks(1, [](Rank&) {
        const Application application(GetParam(), {});
        application.use(0);
        EXPECT_OPENS();
        const std::uint64_t staged = application.allocate(100);
        std::uint64_t ours = 0;
        ASSERT_EQ(ascend_device().allocate(0, 100, &ours, nullptr), PEERCOLL_SUCCESS);
        const auto export_as = [](std::uint64_t memory, peercoll_handle_kind_t kind) {
            const peercoll_pointer_info_t info = classified(memory);
            peercoll_memory_handle_t handle{};
            int fd = 0;
            return ascend_device().export_memory(&info, kind, 0, &handle, &fd, nullptr);
        };
        for (const peercoll_handle_kind_t kind : {0U, 2U, 3U, 4U, 31U, 32U, 77U})
            EXPECT_EQ(export_as(ours, kind), PEERCOLL_ERR_INVALID_ARGUMENT) << kind;
        EXPECT_EQ(export_as(staged, PEERCOLL_HANDLE_IPC), PEERCOLL_ERR_INVALID_ARGUMENT);
        EXPECT_EQ(export_as(ours, PEERCOLL_HANDLE_IPC), PEERCOLL_SUCCESS);
        ascend_device().free_memory(0, ours);
        application.free(staged);
        ascend_device().close();
    });
}

}  // namespace
}  // namespace peercoll::test
